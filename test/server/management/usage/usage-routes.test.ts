import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { TOKEN_FIGURES, type TokenFigures } from "../../../../domain/usage/token-count.ts";
import type { Store } from "../../../../store/database/store.ts";
import { addRequestCounts } from "../../../../store/keys/uses/request-counts.ts";
import { addTokenCounts } from "../../../../store/keys/uses/token-counts.ts";
import { rollUp } from "../../../../store/usage/roll-up.ts";
import { openMigrated } from "../../../env/database/engines.ts";
import { HOUR } from "../../../store/fixtures.ts";
import { ownPage } from "../../auth/session/sign-in.ts";
import { type Pages, startPages } from "../../console/pages.ts";
import type { Api } from "../api.ts";

const DAY = 24 * HOUR;
const ignore = () => {};
const today = Math.floor(Date.now() / DAY) * DAY;
const iso = (ms: number) => new Date(ms).toISOString();

let store: Store;
let api: Api;
let pages: Pages;
const keys: Record<string, string> = {};
let gateway: { id: string; publicID: string };

const figures = (given: Partial<TokenFigures>): TokenFigures => ({
  ...(Object.fromEntries(TOKEN_FIGURES.map((name) => [name, 0])) as TokenFigures),
  ...given,
});

beforeAll(async () => {
  store = await openMigrated();
  pages = await startPages(store);
  api = pages;
  for (const name of ["research", "payments"]) {
    const spec = { members: [{ role: "viewer", subject: `${name}-viewer` }] };
    const team = (await api.send("POST", "/teams", { name, spec })).body;
    const key = (await api.send("POST", "/keys", { name: "agent", team: name, spec: { preset: "MCPReadOnly" } })).body;
    keys[name] = key.id;
    const upstreams = [{ name: "openai", dialect: "openai", baseURL: "https://api.openai.com", credential: "x" }];
    if (name === "research") {
      gateway = (await api.send("POST", "/gateways", { name: "main", team: name, spec: { upstreams } })).body;
    }
    const count = (at: number, model: string, routeId = "") => ({
      ...{ keyId: key.id, slot: at, gatewayId: gateway.id, routeId, model, teamId: team.id },
      figures: figures({ calls: 2, cut: 1, input: 10, cached: 3, cache_write_5m: 1, cache_write_1h: 4, output: 5 }),
    });
    for (const at of [today - 3 * DAY, today - 3 * DAY + HOUR, today - DAY]) {
      await addTokenCounts(store, [count(at, "gpt"), count(at, `of-${name}`, "rt-fast")], ignore);
      await addRequestCounts(store, [{ keyId: key.id, slot: at, scope: "gateway:invoke", count: 7 }], ignore);
    }
  }
  await rollUp(store);
});
afterAll(async () => {
  await pages.close();
  await store.close();
});

async function list(search: string) {
  const { status, body } = await api.send("GET", `/usage${search}`);
  expect(status, JSON.stringify(body)).toBe(200);
  return body.items;
}

describe("usage by the API", () => {
  test("is by key what each used in the last 30 days, under its names and its team", async () => {
    const items = await list("");
    const research = items.find(({ id }: { id: string }) => id === keys.research);
    expect(items).toHaveLength(2);
    expect(research).toMatchObject({
      ...{ name: "agent", namespace: "", team: "research", model: null, route: null },
      ...{ requests: 21, answers: 12, cut: 6, input: 60, cached: 18, cacheWrites5m: 6, cacheWrites1h: 24, output: 30 },
      ...{ reasoning: 0, toolCalls: 0, unreported: 0, unread: 0, doubtful: 0 },
    });
    expect(Date.parse(research.to) - Date.parse(research.from)).toBeGreaterThanOrEqual(30 * DAY);
  });

  test("is by team, gateway, route and model; requests are not counted by the latter three", async () => {
    expect(await list("?by=team&team=payments")).toMatchObject([{ team: "payments", name: "payments", requests: 21 }]);
    expect(await list("?by=gateway")).toMatchObject([{ id: gateway.id, name: "main", requests: null, answers: 24 }]);
    expect(await list("?by=route&team=research")).toMatchObject([
      { id: gateway.id, route: null, answers: 6 },
      { id: gateway.id, route: "rt-fast", answers: 6 },
    ]);
    expect(
      (await list("?by=model")).map(({ model, answers }: { model: string; answers: number }) => [model, answers]),
    ).toEqual([
      ["gpt", 12],
      ["of-payments", 6],
      ["of-research", 6],
    ]);
    expect(await list(`?model=gpt&about=${keys.payments}`)).toMatchObject([
      { id: keys.payments, requests: null, answers: 6 },
    ]);
    expect(await list(`?gateway=${gateway.publicID}&about=agent&by=team`)).toHaveLength(2);
  });

  test("is by the values of a label, the key's own or else its team's, as they are now, and nothing is lost", async () => {
    const labelled = (keyId: string, labels: object) =>
      sql`insert into key_declarations (key_id, owner_uid, generation, labels)
        values (${keyId}, 'uid', 1, ${JSON.stringify(labels)}) on conflict (key_id) do update set labels = excluded.labels`.execute(
        store.db,
      );
    const ofTeam = (name: string, labels: object) =>
      sql`update teams set labels = ${JSON.stringify(labels)} where name = ${name}`.execute(store.db);
    const by = async () =>
      (await list("?by=label&label=example.com/unit")).map((row: { label: string | null } & TokenFigures) => [
        row.label,
        ...Object.entries(row).flatMap(([name, figure]) => (/^(requests|answers|id)$/.test(name) ? [figure] : [])),
      ]);
    expect(await by()).toEqual([[null, null, 42, 24]]);
    await ofTeam("research", { "example.com/unit": "labs" });
    expect(await by()).toEqual([
      [null, null, 21, 12],
      ["labs", null, 21, 12],
    ]);
    await labelled(keys.research ?? "", { "example.com/unit": "sales", other: "x" });
    await labelled(keys.payments ?? "", { "example.com/unit": "sales" });
    expect(await by()).toEqual([["sales", null, 42, 24]]);
    expect(await list("?by=label&label=example.com/unit&team=research&step=day")).toMatchObject([
      { label: "sales", requests: 14 },
      { label: "sales", requests: 7 },
    ]);
    expect((await api.send("GET", "/usage?by=label&label=example.com/unit&limit=1")).body.nextCursor).toBeNull();
    await labelled(keys.research ?? "", {});
    await labelled(keys.payments ?? "", {});
    await ofTeam("research", {});
    const refused = ["?by=label", "?label=unit", "?by=team&label=unit", "?by=label&label=-%20-"].map(async (search) => {
      const { status, body } = await api.send("GET", `/usage${search}`);
      return [status, body.code];
    });
    expect(await Promise.all(refused)).toEqual(Array.from({ length: 4 }, () => [400, "invalid_request"]));
  });

  test("is by day and by hour, in UTC, between two times", async () => {
    const days = await list(`?step=day&team=research&since=${iso(today - 3 * DAY)}&until=${iso(today)}`);
    expect(
      days.map(({ from, to, requests }: { from: string; to: string; requests: number }) => [from, to, requests]),
    ).toEqual([
      [iso(today - 3 * DAY), iso(today - 2 * DAY), 14],
      [iso(today - DAY), iso(today), 7],
    ]);
    const hours = await list(`?step=hour&team=research&since=${iso(today - 3 * DAY)}&until=${iso(today - 2 * DAY)}`);
    expect(hours.map(({ from }: { from: string }) => from)).toEqual([
      iso(today - 3 * DAY),
      iso(today - 3 * DAY + HOUR),
    ]);
    expect(await list(`?team=research&since=${iso(today - 2 * DAY)}`)).toMatchObject([{ requests: 7 }]);
  });

  test("is given page by page, each row once", async () => {
    const seen: string[] = [];
    for (let cursor = ""; ; ) {
      const { body } = await api.send("GET", `/usage?by=model&step=day&limit=1${cursor}`);
      seen.push(...body.items.map(({ from, model }: { from: string; model: string }) => `${from} ${model}`));
      if (body.nextCursor === null) break;
      cursor = `&cursor=${body.nextCursor}`;
    }
    expect(seen).toHaveLength(6);
    expect(new Set(seen).size).toBe(6);
  });

  test("says what to do about a name that there is not, a time that cannot be, and a cursor of another list", async () => {
    const refusals = [
      ["?team=none", 404, "There is no team"],
      ["?about=none", 404, "GET /api/v1/keys lists"],
      ["?gateway=none", 404, "GET /api/v1/gateways lists"],
      ["?model=gtp", 404, "by=model lists"],
      ["?since=yesterday", 400, "since"],
      // Date takes it for the second day of March.
      ["?since=2026-02-30T00:00:00Z", 400, "no time of the calendar"],
      [`?since=${iso(Date.now() + DAY)}`, 400, "since is the earlier one"],
      [`?step=hour&since=${iso(Date.now() - 50 * DAY)}`, 400, "step=day"],
      ["?cursor=x", 400, "cursor"],
      ["?by=label:app", 400, "by"],
    ] as const;
    for (const [search, status, said] of refusals) {
      const answer = await api.send("GET", `/usage${search}`);
      expect([search, answer.status]).toEqual([search, status]);
      expect(answer.text).toContain(said);
    }
    expect(await list(`?model=gpt&until=${iso(today - 10 * DAY)}`), "a model that was not used then").toEqual([]);
  });

  test("b466: says that it begins with the first day that is kept, and is refused where none is", async () => {
    const total = (search: string) => api.send("GET", `/usage?by=team&${search}`);
    const { body } = await total(`since=${iso(today - 420 * DAY)}`);
    expect(today - Date.parse(body.items[0].from)).toBeOneOf([399 * DAY, 398 * DAY]);
    const { status, text } = await total(`since=${iso(today - 420 * DAY)}&until=${iso(today - 401 * DAY)}`);
    expect([status, text]).toEqual([400, expect.stringMatching(/Days before \d{4}-\d\d-\d\d are no longer kept/)]);
  });

  test("b66: is shown to a team's members of that team alone, whatever they name", async () => {
    const viewer = await pages.as("research-viewer");
    const ask = async (search: string) => {
      const answer = await fetch(`${api.url}/api/v1/usage${search}`, { headers: ownPage(api, viewer.browser) });
      return { status: answer.status, body: JSON.parse(await answer.text()) };
    };
    const { body } = await ask("?by=key");
    expect(body.items.map(({ id }: { id: string }) => id)).toEqual([keys.research]);
    expect((await ask("?by=model")).body.items.map(({ model }: { model: string }) => model)).toEqual([
      "gpt",
      "of-research",
    ]);
    for (const search of ["?team=payments", `?about=${keys.payments}`, "?model=of-payments"]) {
      expect((await ask(search)).status, search).toBe(404);
    }
  });
});
