import { expect, it } from "vitest";
import { readConditions, recordKeyConditions } from "../../store/objects/object-conditions.ts";
import { listObjects, type ObjectKind } from "../../store/objects/objects.ts";
import { describeWorlds } from "./fixtures/setup.ts";
import { key, library, startWorld, team, type World } from "./fixtures/world.ts";

/** As `Type=Status/Reason`. */
async function recorded({ store }: World, kind: ObjectKind | "key", id: string): Promise<string[]> {
  const found = (await readConditions(store.db, kind, [id])).get(id) ?? [];
  return found.map(({ type, status, reason }) => `${type}=${status}/${reason}`);
}

async function idOf({ store }: World, kind: ObjectKind, name: string): Promise<string> {
  const [found] = await listObjects(store.db, kind, { name, limit: 1 });
  return found?.id ?? "";
}

describeWorlds("the recorded conditions", (setup) => {
  it("of a team, a library and a key are those of their statuses, and follow them", async (context) => {
    const world = await startWorld(context, setup(), team("team-b", ["other"]), library("notes"), key("agent"));
    const [teamId, libraryId] = [await idOf(world, "team", "team-b"), await idOf(world, "library", "notes")];
    const { id: keyId } = await world.stored("agent");
    expect(await recorded(world, "team", teamId)).toContain("Ready=True/Ready");
    expect(await recorded(world, "library", libraryId)).toContain("Accepted=True/Accepted");
    expect(await recorded(world, "key", keyId)).toContain("Ready=True/Ready");

    await world.declare(team("team-b", ["other", "dev"]));
    await world.declare(key("agent", { state: "Suspended" }));
    expect(await recorded(world, "team", teamId)).toContain("Ready=False/NamespaceTaken");
    expect(await recorded(world, "key", keyId)).toContain("Ready=True/Suspended");
    expect((await readConditions(world.store.db, "team", [teamId])).get(teamId)?.[0]).toEqual({
      ...{ type: "Ready", status: "False", reason: "NamespaceTaken" },
      message: expect.stringContaining("dev is held by PlatformTeam team-a."),
      lastTransitionTime: expect.any(String),
    });
  });

  it("b362: of a key are those of now, whatever the database had, and none once its declaration is gone", async (context) => {
    const kept = key("kept", { deletionPolicy: "Retain" });
    const world = await startWorld(context, setup(), key("agent"), kept);
    const ids = [(await world.stored("agent")).id, (await world.stored("kept")).id] as const;
    // As a database that was restored has it.
    const before = { type: "Ready", status: "False", reason: "SecretConflict", message: "It was so once." } as const;
    await recordKeyConditions(world.store.db, ids[0], [{ ...before, lastTransitionTime: "2026-01-01T00:00:00Z" }]);
    await world.restart();
    for (const id of ids) expect(await recorded(world, "key", id)).toContain("Ready=True/Ready");
    await world.remove(key("agent"), kept);
    expect(await readConditions(world.store.db, "key", ids)).toEqual(new Map());
  });
});
