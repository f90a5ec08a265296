import { sql } from "kysely";
import { beforeAll, expect, test } from "vitest";
import { insertAtom, listAtoms, type Reach } from "../../../store/atoms.ts";
import { findLibrary, removeLibrary, saveLibrary } from "../../../store/libraries.ts";
import { deleteSomeAtoms } from "../../../store/memory/deleted-libraries.ts";
import { describeOnEachEngine } from "../../env/engines.ts";
import { addTeamsWithLibraries } from "../../server/memory/libraries.ts";
import { run } from "../fixtures.ts";

const REACH: Reach = { teamId: "team-a", libraryIds: null };
const DIARY = { cluster: "c", namespace: "a-dev", name: "diary", ownerUid: "uid-1" };

describeOnEachEngine("a library that was deleted with its atoms", (opened) => {
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

  test("b87: is out of reach and its name free at once, and its atoms go in bounded bits that go on where they ended", async () => {
    expect(await deleteSomeAtoms(opened().db, 20)).toBe(false);
    await run(opened(), (tx) => removeLibrary(tx, { ...DIARY, policy: "Delete" }));
    expect(await count("atoms"), "none of them within the removal").toBe(100);
    const page = { libraryId: "lib-diary", tag: null, after: null, limit: 10 };
    expect(await listAtoms(opened().db, REACH, page)).toEqual([]);
    expect(await findLibrary(opened().db, "c", "a-dev", "diary", "team-a")).toBeUndefined();

    const next = { ...DIARY, teamId: "team-a", displayName: "", description: "", deletionPolicy: "Delete" } as const;
    const { libraryId } = await run(opened(), (tx) => saveLibrary(tx, { ...next, ownerUid: "uid-2" }));
    expect(libraryId).not.toBe("lib-diary");
    const fields = { content: "new", tags: [], source: null, importance: 5 };
    await insertAtom(opened().db, REACH, libraryId, fields, Date.now());

    for (const left of [81, 61, 51]) {
      expect(await deleteSomeAtoms(opened().db, 20)).toBe(true);
      expect(await count("atoms")).toBe(left);
    }
    expect(await count("atom_revisions")).toBe(0);
    expect(await deleteSomeAtoms(opened().db, 20), "the library's own row").toBe(true);
    expect(await deleteSomeAtoms(opened().db, 20)).toBe(false);
    expect(await opened().db.selectFrom("libraries").select("id").where("state", "=", "deleted").execute()).toEqual([]);
    expect(await listAtoms(opened().db, REACH, { ...page, libraryId })).toHaveLength(1);
  });
});
