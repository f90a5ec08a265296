import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { change } from "../../../../store/database/change.ts";
import { takeOverKey } from "../../../../store/keys/lifecycle/take-over.ts";
import { findKey } from "../../../../store/keys/rows/find-key.ts";
import { makeTeam, unique } from "../../../store/fixtures.ts";
import { type Pages, startPages } from "../pages.ts";

let pages: Pages;
let team: Awaited<ReturnType<typeof makeTeam>>;

beforeAll(async () => {
  pages = await startPages();
  team = await makeTeam(pages.store);
});
afterAll(() => pages.close());

/** As the controller takes it over that reads the exported manifest. */
async function takeOver(id: string): Promise<void> {
  const { spec } = (await pages.send("GET", `/keys/${id}/manifest`)).body;
  const { cluster, namespace, teamId } = team;
  const owner = { cluster, namespace, name: unique("agent"), ownerUid: unique("uid") };
  await change(pages.store, null, (tx) =>
    takeOverKey(tx, {
      request: { keyId: id, hash: spec.source.hash, teamId },
      owner: { ...owner, source: "ImportHash", generation: 1, rotationTrigger: null },
    }),
  );
}

describe("A form of a key that a declaration takes over before it is sent", () => {
  test("changes nothing: what it said is no longer what would happen", async () => {
    const spec = { preset: "MCPReadOnly" };
    const { id, secret } = (await pages.send("POST", "/keys", { name: unique("key"), team: team.teamId, spec })).body;
    const { text } = await pages.get(`/keys/${id}/rotate`);
    const once = /name="once" value="([^"]+)"/.exec(text)?.[1] ?? expect.fail("it is a form");
    const { etag } = Object.fromEntries((await pages.send("GET", `/keys/${id}`)).headers);
    await takeOver(id);
    for (const [path, form] of [
      ["rotate", { once, overlap: "1h" }],
      ["edit", { preset: "MCPReadWrite", etag: etag ?? "" }],
      ["state", { state: "Suspended" }],
    ] as const) {
      expect([path, (await pages.post(`/keys/${id}/${path}`, form)).status]).toEqual([path, 409]);
    }
    expect(await findKey(pages.store.db, id)).toMatchObject({ rotationRequest: null, state: "active", lastNumber: 1 });
    expect(await pages.tryKey(secret)).toBe(200);
  });

  test("is another one then: its key's controller is asked for a version", async () => {
    const spec = { preset: "MCPReadOnly" };
    const { id } = (await pages.send("POST", "/keys", { name: unique("key"), team: team.teamId, spec })).body;
    await takeOver(id);
    expect((await pages.post(`/keys/${id}/rotate`, { once: "a".repeat(24) })).status).toBe(303);
    expect((await findKey(pages.store.db, id))?.rotationRequest).not.toBeNull();
  });
});
