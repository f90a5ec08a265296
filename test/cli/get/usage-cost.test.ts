import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { NO_FIGURES, type TokenFigures } from "../../../domain/usage/token-count.ts";
import type { Store } from "../../../store/database/store.ts";
import { addTokenCounts } from "../../../store/keys/uses/token-counts.ts";
import { read } from "../../architecture/sources.ts";
import { blocksIn } from "../../env/blocks.ts";
import { openMigrated } from "../../env/database/engines.ts";
import { until } from "../../env/until.ts";
import { type Api, startApi, TOKEN } from "../../server/management/api.ts";
import { keyplane } from "../up.ts";

const DAY = 24 * 3_600_000;
const today = Math.floor(Date.now() / DAY) * DAY;
const day = (ms: number) => new Date(ms).toISOString().slice(0, 10);
const page = read("docs/operations/costs.md");
const blockOf = (language: string) => blocksIn(page).find((block) => block.language === language)?.text ?? "";

/** A whole month, as a bill is of: the one before the last. */
const monthAgo = (months: number) => {
  const first = new Date(new Date(today).setUTCDate(1));
  return first.setUTCMonth(first.getUTCMonth() - months);
};
const [from, to] = [monthAgo(2), monthAgo(1)];

let folder: string;
let store: Store;
let api: Api;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "keyplane-chargeback-"));
  await writePrices("2.50");
  store = await openMigrated();
  api = await startApi(store, { KEYPLANE_PRICES: join(folder, "prices.yaml") });
  for (const name of ["payments", "research"]) {
    const { id: teamId } = (await api.send("POST", "/teams", { name, spec: {} })).body;
    const spec = { preset: "MCPReadOnly" };
    const { id: keyId } = (await api.send("POST", "/keys", { name: `${name}-agent`, team: name, spec })).body;
    const count = async (slot: number, model: string, figures: Partial<TokenFigures>) => {
      const of = { keyId, slot, gatewayId: "gw", routeId: "", teamId, model };
      await addTokenCounts(store, [{ ...of, figures: { ...NO_FIGURES, calls: 1, ...figures } }], () => {});
    };
    await count(today - DAY, "gpt-5", { input: 1_000_000, output: 100_000 });
    if (name === "research") await count(today - DAY, "new-model", { input: 7 });
  }
});
afterAll(async () => {
  await api.close();
  await store.close();
  await rm(folder, { recursive: true });
});

/** The page's list, with another price of input. */
const writePrices = (input: string) =>
  writeFile(
    join(folder, "prices.yaml"),
    blockOf("yaml")
      .replace("input: 1.25", `input: ${input}`)
      .replaceAll(/from: .*/g, "from: 2020-01-01"),
  );
const get = (...args: string[]) =>
  keyplane(["get", "usage", ...args], { KEYPLANE_SERVER: api.url, KEYPLANE_TOKEN: TOKEN });

describe("What teams used costs", () => {
  test("in a table what is known of it, and a cost is exact only where nothing is unpriced", async () => {
    const { out } = await get("--by", "team");
    expect(out.split("\n")[0]).toMatch(/DOUBTFUL +COST \(USD\) +UNPRICED$/);
    expect(out).toMatch(/^payments .* 3\.500000 +0$/m);
    expect(out).toMatch(/^research .* >=3\.500000 +7$/m);
    expect((await get("--by", "model")).out).toMatch(/^new-model .* - +7$/m);
  });

  test("in CSV a row for each team and the month that was asked for, with its currency and price list", async () => {
    const { items } = (await api.send("GET", "/teams")).body;
    const figures = Object.entries({ ...NO_FIGURES, calls: 1, input: 3 });
    // Of a key that is gone: what it used stays its team's.
    await sql`insert into key_token_days (key_id, slot, gateway_id, route_id, model, team_id,
        ${sql.join(figures.map(([name]) => sql.ref(name)))})
      values ('key_gone', ${new Date(from + 12 * DAY)}, 'gw', '', 'gpt-5', ${items[0].id},
        ${sql.join(figures.map(([, value]) => value))})`.execute(store.db);
    const args = blockOf("sh").replace("2026-10-01", day(from)).replace("2026-11-01", day(to)).trim().split(" ");
    // The server and its token are in the environment here.
    const { code, out } = await get(...args.slice(3, args.indexOf("--server")));
    const [heading = "", ...rows] = out
      .trimEnd()
      .split("\n")
      .map((line) => line.split(","));
    const cell = (name: string) => rows.map((row) => row[heading.indexOf(name)]);
    expect([code, rows.length]).toEqual([0, 1]);
    expect([cell("from"), cell("to")]).toEqual([[`${day(from)}T00:00:00.000Z`], [`${day(to)}T00:00:00.000Z`]]);
    expect([cell("team"), cell("currency"), cell("cost")]).toEqual([[items[0].name], ["USD"], ["0.000008"]]);
    expect(cell("price_list")).toEqual([expect.stringMatching(/^[0-9a-f]{12}$/)]);
  });

  test("another amount, of the past too, once the price list is corrected", async () => {
    await writePrices("5");
    await until("the corrected list is used", async () => (await get("--by", "team")).out.includes(" 6.000000 "));
    const { body } = await api.send("GET", "/usage?by=team&team=payments");
    expect(body.items).toMatchObject([{ currency: "USD", cost: "6.000000", knownCost: "6.000000", unpricedTokens: 0 }]);
  });
});
