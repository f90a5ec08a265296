import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { TOKEN_FIGURES, type TokenFigures } from "../../../domain/usage/token-count.ts";
import type { Store } from "../../../store/database/store.ts";
import { addRequestCounts } from "../../../store/keys/uses/request-counts.ts";
import { addTokenCounts } from "../../../store/keys/uses/token-counts.ts";
import { openMigrated } from "../../env/database/engines.ts";
import { type Api, startApi, TOKEN } from "../../server/management/api.ts";
import { keyplane } from "../up.ts";

const DAY = 24 * 3_600_000;
const yesterday = (Math.floor(Date.now() / DAY) - 1) * DAY;
const ignore = () => {};
const nameOf = (i: number) => `agent-${String(i).padStart(3, "0")}`;
let store: Store;
let api: Api;

beforeAll(async () => {
  store = await openMigrated();
  api = await startApi(store);
  const { id: teamId } = (await api.send("POST", "/teams", { name: "research", spec: {} })).body;
  const zero = Object.fromEntries(TOKEN_FIGURES.map((name) => [name, 0])) as TokenFigures;
  const figures = {
    ...zero,
    calls: 3,
    unread: 1,
    input: 1_000,
    cached: 20,
    cache_write_5m: 3,
    cache_write_1h: 4,
    output: 5,
  };
  const keyIds = Array.from({ length: 220 }, (_, i) => `key_${nameOf(i)}`);
  for (const i of [0, 1]) {
    const made = { name: nameOf(i), team: "research", spec: { preset: "MCPReadOnly" } };
    keyIds[i] = (await api.send("POST", "/keys", made)).body.id;
  }
  const tokens = keyIds.map((keyId, i) => {
    const of = { keyId, slot: yesterday + i * 60_000, gatewayId: "gw_a", routeId: "", teamId };
    return { ...of, model: i === 0 ? "=cmd()" : "gpt", figures };
  });
  await addTokenCounts(store, tokens, ignore);
  const requests = keyIds.map((keyId) => ({ keyId, slot: yesterday, scope: "memory:read", count: 7 }) as const);
  await addRequestCounts(store, requests, ignore);
});
afterAll(async () => {
  await api.close();
  await store.close();
});

const get = (...args: string[]) =>
  keyplane(["get", "usage", ...args], { KEYPLANE_SERVER: api.url, KEYPLANE_TOKEN: TOKEN });

describe("keyplane get usage", () => {
  test("is a table by key, all pages of it, in the order of the names", async () => {
    const { code, out } = await get();
    const lines = out.trimEnd().split("\n");
    expect([code, lines.length]).toEqual([0, 221]);
    expect(lines[0]?.split(/ {3,}/)).toEqual([
      ...["KEY", "TEAM", "REQUESTS", "ANSWERS", "INPUT", "CACHED", "CACHE WRITES", "OUTPUT", "REASONING", "TOOL CALLS"],
      ...["CUT", "UNREPORTED", "DOUBTFUL"],
    ]);
    expect(out).toMatch(/^agent-001 +research +7 +3 +1000 +20 +7 +5 +0 +0 +0 +1 +0$/m);
    expect((await get("agent-001", "--no-headers")).out).toMatch(/^agent-001 .*\n$/);
  });

  test("is added up by what is asked for, over the time that is asked for", async () => {
    expect((await get("--by", "team")).out).toMatch(/^research +14 +660 +220000 /m);
    expect((await get("--by", "model", "--step", "day", "--since", "3d")).out).toMatch(
      new RegExp(`^${new Date(yesterday).toISOString().slice(0, 10)}T00:00Z +gpt +- +657 `, "m"),
    );
    expect((await get("--until", "2d")).out).toBe("nothing was counted\n");
    expect(await get("--model", "gtp")).toMatchObject({
      code: 1,
      err: expect.stringContaining('model "gtp" is counted'),
    });
  });

  test("is added up by the values of a label, which is named", async () => {
    expect((await get("--label", "cost-center")).out).toMatch(/^LABEL .*\n- +\d+ /);
    expect((await get("--by", "label", "--label", "cost-center", "-o", "csv")).out).toMatch(
      /,price_list,label,images,seconds,characters,unpriced_units\n/,
    );
    for (const wrong of [
      ["--by", "label"],
      ["--by", "team", "--label", "cost-center"],
    ]) {
      expect(await get(...wrong)).toMatchObject({ code: 2, err: expect.stringContaining("--label NAME") });
    }
    expect(await get("--label", "no label")).toMatchObject({ code: 1, err: expect.stringContaining("no label") });
  });

  test("-o json and yaml print what the API answers", async () => {
    const { out } = await get("agent-000", "-o", "json");
    expect(JSON.parse(out).items).toMatchObject([{ name: "agent-000", requests: 7, cacheWrites1h: 4, unread: 1 }]);
    expect(parse((await get("agent-000", "-o", "yaml", "--since", "2d")).out).items).toHaveLength(1);
  });

  test("-o csv prints a table for spreadsheets, in which no model's name is a formula", async () => {
    const lines = (await get("--by", "model", "-o", "csv")).out.trimEnd().split("\n");
    expect(lines[0]).toBe(
      "from,to,team,namespace,name,id,route,model,requests,answers,input,cached,cache_writes_5m,cache_writes_1h,output,reasoning,tool_calls,cut,unreported,unread,doubtful,currency,cost,known_cost,unpriced_tokens,unpriced_tool_calls,price_list,label,images,seconds,characters,unpriced_units",
    );
    expect(lines[1]).toMatch(/Z,,,,,,'=cmd\(\),,3,1000,20,3,4,5,0,0,0,0,1,0,,,,,,,,0,0,0,$/);
    expect(lines).toHaveLength(3);
    expect((await get("--by", "model", "-o", "csv", "--no-headers")).out.split("\n")).toHaveLength(3);
  });
});
