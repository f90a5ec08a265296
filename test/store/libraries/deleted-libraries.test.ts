import { sql } from "kysely";
import { beforeAll, expect, test } from "vitest";
import type { Reach } from "../../../domain/access/reach.ts";
import { listAtoms } from "../../../memory/store/lists/atom-list.ts";
import { insertAtom } from "../../../memory/store/writes/atom-writes.ts";
import type { Store } from "../../../store/database/store.ts";
import { deletionProgress, libraryDeletion } from "../../../store/libraries/deleted-libraries.ts";
import { removeLibrary, saveLibrary } from "../../../store/libraries/libraries.ts";
import { findActiveObject } from "../../../store/objects/objects.ts";
import { describeNightlyOnEachEngine } from "../../env/database/engines.ts";
import { addTeamsWithLibraries } from "../../memory/libraries.ts";
import { dropPartsIndex } from "../../memory/store/filled-library.ts";
import { PLAIN } from "../../memory/store/plain-atom.ts";
import { run } from "../fixtures.ts";

const REACH: Reach = { teamId: "team-a", libraryIds: null };
const DIARY = { cluster: "c", namespace: "a-dev", name: "diary", ownerUid: "uid-1" };

describeNightlyOnEachEngine("a library that was deleted with its atoms", (opened) => {
  beforeAll(async () => {
    await addTeamsWithLibraries(opened());
    await sql`insert into atoms (library_id, team_id, content, tags, importance, created_at, updated_at)
      select library, 'team-a', 'atom ' || n, '{}', 5, now(), now()
      from generate_series(1, 50) n, unnest(array['lib-diary', 'lib-ops']) library`.execute(opened().db);
    await sql`update atoms set revision = 2 where library_id = 'lib-diary'`.execute(opened().db);
  });

  const count = async (of: string): Promise<number> => {
    const { rows } = await sql<{ n: number }>`select count(*)::integer as n from ${sql.table(of)}`.execute(opened().db);
    return rows[0]?.n ?? Number.NaN;
  };

  test("b87, c52: is out of reach and its name free at once, and its atoms go in bounded bits that go on where they ended", async () => {
    const next = () => libraryDeletion(opened(), { slice: 20 }).next();
    expect(await next()).toBe(false);
    await run(opened(), (tx) => removeLibrary(tx, { ...DIARY, policy: "Delete" }));
    expect(await count("atoms"), "none of them within the removal").toBe(100);
    const page = { libraryId: "lib-diary", after: null, limit: 10 };
    expect((await listAtoms(opened().db, REACH, page)).items).toEqual([]);
    expect(await findActiveObject(opened().db, "library", { ...DIARY, teamId: "team-a" })).toBeUndefined();

    const again = { ...DIARY, teamId: "team-a", displayName: "", description: "", deletionPolicy: "Delete" } as const;
    const { libraryId } = await run(opened(), (tx) => saveLibrary(tx, { ...again, ownerUid: "uid-2" }));
    expect(libraryId).not.toBe("lib-diary");
    const fields = { ...PLAIN, content: "new" };
    await insertAtom(opened().db, REACH, { ...fields, libraryId, at: Date.now() });

    // Each by another process, as after a restart.
    const progress = () => deletionProgress(opened().db, "c", "uid-1");
    for (const left of [80, 60, 50]) {
      expect(await next()).toBe(true);
      expect(await count("atoms")).toBe(left + 1);
      expect(await progress()).toMatchObject({ deleted: 100 - left, left: left - 50, isMore: false });
    }
    expect(await count("atom_revisions")).toBe(0);
    expect(await next(), "the library's own row").toBe(true);
    expect(await next()).toBe(false);
    expect(await progress()).toBeUndefined();
    expect(await opened().db.selectFrom("libraries").select("id").where("state", "=", "deleted").execute()).toEqual([]);
    expect((await listAtoms(opened().db, REACH, { ...page, libraryId })).items).toHaveLength(1);
  });

  test("c52: no slice reads what other libraries hold, nor again what is deleted, also while a backup runs", async () => {
    const { db } = opened();
    await dropPartsIndex(db);
    await sql`insert into atoms (library_id, team_id, content, tags, importance, created_at, updated_at)
      select library, 'team-a', 'atom ' || n, '{}', 5, now(), now()
      from unnest(array['lib-ops', 'lib-handbook']) library, generate_series(1, 3000) n`.execute(db);
    await sql`update libraries set state = 'deleted' where id = 'lib-handbook'`.execute(db);
    await sql`analyze atoms`.execute(db);
    const endBackup = opened().engine === "postgres" ? await beginBackup(opened()) : async () => {};
    await db.connection().execute(async (connection) => {
      const deletion = libraryDeletion({ db: connection, engine: opened().engine }, { slice: 100 });
      const before = await reads(connection);
      for (let slices = 1; slices <= 20; slices++) expect(await deletion.next()).toBe(true);
      const after = await reads(connection);
      expect(after.scans - before.scans).toBe(0);
      // Each atom once, and at the end of a slice the next one's first.
      expect(after.entries - before.entries).toBeLessThanOrEqual(20 * 102);
    });
    await endBackup();
  });

  test("b282: beside a large one of another team, a small one is gone within a few turns", async () => {
    const { db } = opened();
    const [large, small] = ["lib-b-notes", "lib-ops"];
    const rest = libraryDeletion(opened());
    while (await rest.next());
    await sql`delete from atoms where library_id = ${small}`.execute(db);
    await sql`insert into atoms (library_id, team_id, content, tags, importance, created_at, updated_at)
      select l.id, l.team_id, 'atom ' || n, '{}', 5, now(), now() from libraries l, generate_series(1, 100) n
      where l.id = ${large} or l.id = ${small} and n <= 3`.execute(db);
    await sql`update libraries set state = 'deleted' where id in (${large}, ${small})`.execute(db);
    const left = async () => {
      const { rows } = await sql<{ id: string }>`select id from libraries where state = 'deleted' order by id`.execute(
        db,
      );
      return rows.map(({ id }) => id);
    };
    expect(await left()).toEqual([large, small]);
    const deletion = libraryDeletion(opened(), { slice: 1 });
    // Its three atoms, a look for more, and its own row.
    for (let slices = 0; slices < 2 * 5; slices++) expect(await deletion.next()).toBe(true);
    expect(await left()).toEqual([large]);
    while (await deletion.next());
    expect(await left()).toEqual([]);
  });
});

/** A transaction that sees the state of before for as long as it is open, as a backup does. */
async function beginBackup(store: Store): Promise<() => Promise<void>> {
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  const through = store.withConnection((connection) =>
    connection
      .transaction()
      .setIsolationLevel("repeatable read")
      .execute(async (tx) => {
        await sql`select count(*) from libraries`.execute(tx);
        begin();
        await ended;
      }),
  );
  await Promise.race([begun, through]);
  return async () => {
    end();
    await through;
  };
}

/** How often the atoms were read whole, and how many entries of the index of their libraries were. */
async function reads(connection: Store["db"]): Promise<{ scans: number; entries: number }> {
  await sql`select pg_stat_force_next_flush()`.execute(connection);
  const { rows } = await sql<{ scans: number; entries: number }>`
    select seq_scan::integer as scans, (select idx_tup_read::integer from pg_stat_user_indexes
      where indexrelname = 'atoms_of_library') as entries
    from pg_stat_user_tables where relname = 'atoms'`.execute(connection);
  return rows[0] ?? { scans: Number.NaN, entries: Number.NaN };
}
