import { afterAll, beforeAll, expect, test } from "vitest";
import type { Store } from "../../../store/database/store.ts";
import { openMigrated } from "../../env/database/engines.ts";
import { type Api, startApi } from "./api.ts";

let store: Store;
let api: Api;

beforeAll(async () => {
  store = await openMigrated();
  api = await startApi(store);
});
afterAll(async () => {
  await api.close();
  await store.close();
});

const readFeed = (team: string, after: string) =>
  api.send("GET", `/audit-events?team=${team}&after=${after}&limit=200`);

test("b432: a collector of a team's events, by its name or id, gets the last ones before it was deleted", async () => {
  const { id: teamId } = (await api.send("POST", "/teams", { name: "research", spec: {} })).body;
  for (const named of ["research", teamId]) {
    const { nextCursor: before } = (await readFeed(named, "0")).body;
    const key = { name: `last-of-${named.length}`, team: teamId, spec: { preset: "MCPReadOnly" } };
    const { id } = (await api.send("POST", "/keys", key)).body;
    await api.send("POST", `/keys/${id}/revoke`, { reason: "as it leaves" });
    await api.send("DELETE", `/teams/${teamId}`);
    const { items } = (await readFeed(named, before)).body;
    expect(items.map(({ action }: { action: string }) => action)).toEqual(
      expect.arrayContaining(["key.revoked", "team.deleted"]),
    );
    expect((await api.send("POST", "/teams", { name: "research", spec: {} })).body.id).toBe(teamId);
  }
});

test("b432: a collector that mistypes a team's name is refused, and passes no event", async () => {
  expect(await readFeed("reserach", "0")).toMatchObject({
    status: 400,
    body: { detail: expect.stringContaining("no such team") },
  });
});
