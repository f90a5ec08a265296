import { sql } from "kysely";
import { expect, it } from "vitest";
import { until } from "../env/until.ts";
import { dropPartsIndex } from "../memory/store/filled-library.ts";
import { withCalls } from "./fixtures/cluster-calls.ts";
import type { WorldTests } from "./fixtures/setup.ts";
import { library, type Manifest, NAMESPACE, startWorld, team, type World } from "./fixtures/world.ts";

/** More than a round of the controller deletes, twice, by slices as small as PGlite's. */
const ATOMS = 9_000;

/** What a statement may take, on a busy machine too. */
const ATOMS_PER_STATEMENT = 3_000;

async function fill({ store }: World, libraryId: string, atoms: number): Promise<void> {
  await dropPartsIndex(store.db);
  for (let at = 0; at < atoms; at += ATOMS_PER_STATEMENT) {
    await sql`insert into atoms (library_id, team_id, content, tags, importance, created_at, updated_at)
      select id, team_id, 'atom ' || n, '{}', 5, now(), now()
      from libraries, generate_series(${at + 1}::integer, ${at + ATOMS_PER_STATEMENT}::integer) n
      where id = ${libraryId}`.execute(store.db);
  }
}

async function left({ store }: World, id: string): Promise<{ atoms: number; libraries: number }> {
  const { rows } = await sql<{ atoms: number; libraries: number }>`
    select (select count(*)::integer from atoms where library_id = ${id}) as atoms,
      (select count(*)::integer from libraries where id = ${id}) as libraries`.execute(store.db);
  return rows[0] ?? { atoms: Number.NaN, libraries: Number.NaN };
}

/** The deletion of a large library. */
export const largeLibrary: WorldTests = (setup) => {
  it("c52: that is deleted with its atoms reports how far that is, goes on after a restart, and is gone when they are", async (context) => {
    const big = library("big", { deletionPolicy: "Delete" });
    const { store, ...rest } = setup();
    const world = await startWorld(context, { ...rest, store: { ...store, engine: "pglite" } }, big);
    const id = String(world.get("MemoryLibrary", "big")?.status?.libraryID);
    await fill(world, id, ATOMS);
    await world.undeclare(big);
    const message = () =>
      world.get("MemoryLibrary", "big")?.status?.conditions?.find(({ type }) => type === "Ready")?.message ?? "";
    await until("it reports how far it is", () =>
      /more than [\d,]+ are gone, (more than )?[\d,]+ are left/.test(message()),
    );
    expect(world.condition("Ready", "big", "MemoryLibrary")).toBe("False/Deleting");
    const some = await left(world, id);
    expect(some.libraries).toBe(1);
    expect(some.atoms).toBeGreaterThan(0);
    await world.stop();
    await world.start();
    await until("the declaration is gone", () => world.get("MemoryLibrary", "big") === undefined);
    expect(await left(world, id)).toEqual({ atoms: 0, libraries: 0 });
  });

  it("c52: whose atoms are retained goes at once, and they stay", async (context) => {
    const kept = library("kept", { deletionPolicy: "Retain" });
    const world = await startWorld(context, setup(), kept);
    const id = String(world.get("MemoryLibrary", "kept")?.status?.libraryID);
    await fill(world, id, ATOMS_PER_STATEMENT);
    await world.remove(kept);
    expect(await left(world, id)).toEqual({ atoms: ATOMS_PER_STATEMENT, libraries: 1 });
  });

  it.for<[next: string, declared: Manifest[], isStored: boolean]>([
    ["has been stored", [team("team-b", [NAMESPACE])], true],
    ["could not be stored yet", [team("team-b", [NAMESPACE])], false],
    ["is not declared yet", [], false],
  ])(
    "b448: that an editor deletes while no controller runs, in a namespace that its team has given up, keeps its atoms for that team, where the next team %s",
    async ([, declared, isStored], context) => {
      const ours = library("ours", { deletionPolicy: "Delete" });
      const world = await startWorld(context, setup(), ours);
      const id = String(world.get("MemoryLibrary", "ours")?.status?.libraryID);
      await fill(world, id, ATOMS_PER_STATEMENT);
      await world.stop();
      await world.write(team("team-a", ["other"]), ...declared);
      const { promise: ended, resolve: end } = Promise.withResolvers<void>();
      world.wrapWith(
        withCalls((cluster) => ({
          get(kind, namespace, name) {
            const object = cluster.get(kind, namespace, name);
            return kind === "MemoryLibrary" && object ? { ...object, deleting: true } : object;
          },
          async addFinalizer(object) {
            if (!isStored) throw new Error("the API server is not there");
            await cluster.addFinalizer(object);
          },
          removeFinalizer: async () => end(),
        })),
      );
      await world.start();
      await ended;
      expect(await left(world, id)).toEqual({ atoms: ATOMS_PER_STATEMENT, libraries: 1 });
    },
  );

  it("c52: that is deleted together with its team is gone with its atoms", async (context) => {
    const ours = library("ours", { deletionPolicy: "Delete" });
    const world = await startWorld(context, setup(), ours, team("team-b", []));
    const id = String(world.get("MemoryLibrary", "ours")?.status?.libraryID);
    await fill(world, id, ATOMS_PER_STATEMENT);
    await world.remove(ours, team("team-a", []));
    await until("it is gone", async () => (await left(world, id)).libraries === 0);
    expect(await left(world, id)).toEqual({ atoms: 0, libraries: 0 });
  });
};
