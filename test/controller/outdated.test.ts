import { sql } from "kysely";
import { expect, it } from "vitest";
import type { Kind } from "../../domain/kinds/kinds.ts";
import { describeWorlds } from "./fixtures/setup.ts";
import { key, startWorld, team, type World } from "./fixtures/world.ts";

/** Has the store know a generation of an object that its cluster has lost. */
async function applyLater(world: World, table: "keys" | "teams", kind: Kind, name: string): Promise<void> {
  const uid = world.get(kind, name)?.uid ?? expect.fail(`no ${name}`);
  await sql`update ${sql.table(table)} set generation = generation + 3 where owner_uid = ${uid}`.execute(
    world.store.db,
  );
}

function said(world: World, kind: Kind, name: string): string | undefined {
  const ready = world.get(kind, name)?.status?.conditions?.find(({ type }) => type === "Ready");
  return ready?.reason === "Outdated" ? ready.message : ready?.reason;
}

describeWorlds("c108: a declaration that is older than what was applied of it", (setup) => {
  it("names both generations and counts again after as many changes, of a key", async (context) => {
    const world = await startWorld(context, setup(), key("agent"));
    await applyLater(world, "keys", "PlatformKey", "agent");
    const left: (string | undefined)[] = [];
    for (const displayName of ["one", "two", "three"]) {
      await world.declare(key("agent", { displayName }));
      left.push(said(world, "PlatformKey", "agent"));
    }
    expect(left).toEqual([
      expect.stringMatching(/Generation 4 .* generation 2: it counts again after 2 changes of its spec/),
      expect.stringMatching(/Generation 4 .* generation 3: it counts again after 1 change of its spec/),
      "Ready",
    ]);
    expect((await world.stored("agent")).policy.displayName).toBe("three");
  });

  it("names both generations and counts again after as many changes, of a team", async (context) => {
    const world = await startWorld(context, setup());
    await applyLater(world, "teams", "PlatformTeam", "team-a");
    const left: (string | undefined)[] = [];
    for (const displayName of ["one", "two", "three"]) {
      await world.declare(team("team-a", ["dev"], { displayName }));
      left.push(said(world, "PlatformTeam", "team-a"));
    }
    expect(left).toEqual([expect.stringContaining("2 changes"), expect.stringContaining("1 change of"), "Ready"]);
  });
});
