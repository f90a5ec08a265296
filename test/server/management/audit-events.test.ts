import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Store } from "../../../store/database/store.ts";
import { openMigrated } from "../../env/database/engines.ts";
import { fillWithAudit } from "../../store/filled-audit.ts";
import { type Api, startApi } from "./api.ts";

let store: Store;
let api: Api;
let key: { id: string; prefix: string; secret: string };

beforeAll(async () => {
  store = await openMigrated();
  api = await startApi(store);
  await api.send("POST", "/teams", { name: "research", spec: {} });
  key = (await api.send("POST", "/keys", { name: "reader", team: "research", spec: { preset: "MCPReadOnly" } })).body;
  await api.send("POST", "/libraries", { name: "handbook", team: "research", spec: {} });
  await api.send("POST", `/keys/${key.id}/revoke`, { reason: "ticket 12" });
});
afterAll(async () => {
  await api.close();
  await store.close();
});

type Event = { id: number; at: string; action: string; name: string | null };

async function list(search: string): Promise<Event[]> {
  const { status, body } = await api.send("GET", `/audit-events${search}`);
  expect(status).toBe(200);
  return body.items;
}

describe("the audit log by the API", () => {
  test("has the latest first, with who did what to what, and never a secret", async () => {
    const { body, text } = await api.send("GET", "/audit-events?team=research");
    expect(body.items.slice(0, 2)).toMatchObject([
      { action: "key.revoked", keyId: key.id, namespace: "", name: "reader", team: "research" },
      { action: "library.created", keyId: null, name: "handbook", team: "research" },
    ]);
    expect(body.items[0]).toMatchObject({ actor: expect.any(String), detail: { reason: "ByHand", why: "ticket 12" } });
    expect(text).not.toContain(key.secret.slice(12));
  });

  test("is searched by action, actor, team, time, and what it is about: an id, a name or a prefix", async () => {
    const [revoked] = await list("?action=key.revoked");
    for (const about of [key.id, key.prefix, "reader", key.secret]) {
      expect((await list(`?about=${about}`))[0], about).toEqual(revoked);
    }
    expect(await list("?actor=unknown")).toEqual([]);
    const at = encodeURIComponent(revoked?.at ?? "");
    expect((await list(`?from=${at}`)).map(({ id }) => id)).toContain(revoked?.id);
    expect((await list(`?to=${at}`)).map(({ id }) => id)).not.toContain(revoked?.id);
  });

  test("refuses a mistyped action or team, which would find nothing", async () => {
    for (const [search, detail] of [
      ["?action=key.revoke", "There is no such action: did you mean key.revoked?"],
      ["?team=reserch", "There is no such team, or you have no role in it."],
    ]) {
      expect((await api.send("GET", `/audit-events${search}`)).body).toMatchObject({ status: 400, detail });
    }
  });

  test("refuses an invalid time, a cursor of another list, and an unknown filter", async () => {
    for (const search of [
      "?from=yesterday",
      "?to=2026-13-45T00:00:00Z",
      "?to=2026-11-31T00:00:00Z",
      "?cursor=x",
      "?kind=key.revoked",
    ]) {
      expect((await api.send("GET", `/audit-events${search}`)).status, search).toBe(400);
    }
  });

  test("is read on from the oldest event, without an end, by the mark of the page before", async () => {
    const read = async (after: string) => (await api.send("GET", `/audit-events?after=${after}&limit=2`)).body;
    const seen: Event[] = [];
    let [at, next] = ["", "0"];
    for (; at !== next; ) {
      at = next;
      const { items, nextCursor } = await read(at);
      seen.push(...items);
      next = nextCursor;
    }
    expect(seen.map(({ id }) => id)).toEqual((await list("?limit=200")).map(({ id }) => id).toReversed());
    await api.send("POST", "/libraries", { name: "later", team: "research", spec: {} });
    expect((await read(at)).items).toMatchObject([{ action: "library.created", name: "later" }]);
    for (const search of [`?after=${at}&action=key.revoked`, `?after=${at}&from=2026-01-01T00:00:00Z`, "?after=x"]) {
      expect((await api.send("GET", `/audit-events${search}`)).status, search).toBe(400);
    }
    const { status, body } = await api.send("GET", `/audit-events?after=${Number(at.split("-")[0]) + 9}-1`);
    expect([status, body.detail]).toEqual([400, expect.stringContaining("put back in time")]);
  });

  test("is given page by page, each event once", async () => {
    await fillWithAudit(store, 450);
    const seen: number[] = [];
    for (let cursor = ""; ; ) {
      const { body } = await api.send("GET", `/audit-events?limit=100${cursor}`);
      seen.push(...body.items.map(({ id }: Event) => id));
      if (body.nextCursor === null) break;
      cursor = `&cursor=${body.nextCursor}`;
    }
    expect(seen.length).toBeGreaterThan(450);
    expect(new Set(seen).size).toBe(seen.length);
  });
});
