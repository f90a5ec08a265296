import { sql } from "kysely";
import { beforeAll, beforeEach, expect, test } from "vitest";
import type { Reach } from "../../../domain/access/reach.ts";
import { listAtoms } from "../../../memory/store/lists/atom-list.ts";
import { listRevisions } from "../../../memory/store/lists/atom-revisions.ts";
import { countAtoms } from "../../../memory/store/lists/library-summary.ts";
import type { AtomFields } from "../../../memory/store/rows/atom.ts";
import { findAtoms } from "../../../memory/store/rows/atoms.ts";
import { expiredDeletion } from "../../../memory/store/rows/expired-atoms.ts";
import { recallAtoms } from "../../../memory/store/search/atom-recall.ts";
import { searchAtoms } from "../../../memory/store/search/atom-search.ts";
import { correctAtom, deleteAtom, insertAtom } from "../../../memory/store/writes/atom-writes.ts";
import { InvalidAtomError } from "../../../store/database/errors.ts";
import { describeNightlyOnEachEngine } from "../../env/database/engines.ts";
import { rowsRead } from "../../env/database/rows-read.ts";
import { addTeamsWithLibraries } from "../libraries.ts";
import { PLAIN } from "./plain-atom.ts";

const TEAM_A: Reach = { teamId: "team-a", libraryIds: null };
const DIARY_ONLY: Reach = { teamId: "team-a", libraryIds: ["lib-diary"] };
const NOW = Date.UTC(2026, 10, 20);

describeNightlyOnEachEngine("what atoms are besides a statement", (opened) => {
  beforeAll(() => addTeamsWithLibraries(opened()));
  beforeEach(() => sql`delete from atoms`.execute(opened().db));

  async function save(libraryId: string, fields: Partial<AtomFields> = {}, reach = TEAM_A) {
    const atom = await insertAtom(opened().db, reach, { ...PLAIN, ...fields, libraryId, at: NOW });
    if (atom === undefined) throw new Error(`no atom was stored in ${libraryId}`);
    return atom;
  }
  const expire = (id: string) =>
    sql`update atoms set expires_at = now() - interval '1 second' where id = ${id}::uuid`.execute(opened().db);
  const linksOf = async (id: string, reach = TEAM_A) => (await findAtoms(opened().db, reach, [id]))[0]?.links;

  test("metadata, links and expiry are kept in the revision that a correction leaves", async () => {
    const other = await save("lib-diary");
    const links = [{ rel: "explains", id: other.id }];
    const { id } = await save("lib-diary", { metadata: { lines: 12 }, links, expiresAt: Date.UTC(2999, 0) });
    const change = { metadata: {}, links: [], expiresAt: null, expected: 1, at: NOW };
    expect(await correctAtom(opened().db, TEAM_A, id, change)).toMatchObject({
      ...{ kind: "corrected", atom: { metadata: {}, links: [], expiresAt: null, revision: 2 } },
    });
    expect((await listRevisions(opened().db, TEAM_A, id, { before: null, limit: 5 }))?.items).toMatchObject([
      { revision: 2, metadata: {}, links: [], expiresAt: null },
      { revision: 1, metadata: { lines: 12 }, links, expiresAt: Date.UTC(2999, 0) },
    ]);
  });

  test("b58: a link leads to what its writer may reach, and is shown to those who may reach it", async () => {
    const hidden = await save("lib-handbook");
    const theirs = await save("lib-b-notes", {}, { teamId: "team-b", libraryIds: null });
    const near = await save("lib-diary");
    for (const id of [hidden.id, theirs.id, "00000000-0000-7000-8000-000000000000", "x"]) {
      const links = [
        { rel: "r", id: near.id },
        { rel: "r", id },
      ];
      const fault = new InvalidAtomError(
        '"links.1.id" names no atom that this key may reach: look its id up, or leave the link out.',
      );
      await expect(save("lib-diary", { links }, DIARY_ONLY)).rejects.toEqual(fault);
      const correcting = correctAtom(opened().db, DIARY_ONLY, near.id, { links, expected: null, at: NOW });
      await expect(correcting).rejects.toEqual(fault);
    }
    const links = [hidden, near].map(({ id }) => ({ rel: "r", id }));
    const { id } = await save("lib-diary", { links });
    expect(await linksOf(id)).toEqual(links);
    expect(await linksOf(id, DIARY_ONLY)).toEqual([{ rel: "r", id: near.id }]);
  });

  test("a link to an atom that was deleted or has expired is gone with it", async () => {
    const [deleted, expired, kept] = [await save("lib-diary"), await save("lib-diary"), await save("lib-diary")];
    const links = [deleted, expired, kept].map(({ id }) => ({ rel: "r", id }));
    const { id } = await save("lib-diary", { links });
    await deleteAtom(opened().db, TEAM_A, deleted.id, null);
    await expire(expired.id);
    expect(await linksOf(id)).toEqual([{ rel: "r", id: kept.id }]);
    expect((await listRevisions(opened().db, TEAM_A, id, { before: null, limit: 1 }))?.items).toMatchObject([
      { links: [{ rel: "r", id: kept.id }] },
    ]);
  });

  test("an expired atom is not found, listed, counted, corrected or deleted by any caller from that moment on", async () => {
    const { db } = opened();
    const fields = { content: "The kettle is on.", tags: ["t"] };
    const { id } = await save("lib-diary", { ...fields, expiresAt: Date.UTC(2999, 0) });
    const search = { query: "kettle", libraryId: null, tags: [], limit: 5 };
    const page = { libraryId: "lib-diary", after: null, limit: 5 };
    const questions: Record<string, () => Promise<readonly unknown[]>> = {
      find: () => findAtoms(db, TEAM_A, [id]),
      list: async () => (await listAtoms(db, TEAM_A, page)).items,
      tag: async () => (await listAtoms(db, TEAM_A, { ...page, tags: ["t"] })).items,
      walk: async () => (await listAtoms(db, TEAM_A, { ...page, tags: ["t"] }, { indexed: 0, walked: 10 })).items,
      search: async () => (await searchAtoms(db, TEAM_A, search)).items,
      recall: async () => (await recallAtoms(db, TEAM_A, search)).atoms,
      important: async () => (await listAtoms(db, TEAM_A, { ...page, sort: "importance" })).items,
    };
    for (const [name, ask] of Object.entries(questions)) expect(await ask(), name).toHaveLength(1);
    await expire(id);
    for (const [name, ask] of Object.entries(questions)) expect(await ask(), name).toEqual([]);
    expect(await countAtoms(db, TEAM_A, "lib-diary")).toEqual({ atoms: 0, isMore: false });
    expect(await listRevisions(db, TEAM_A, id, { before: null, limit: 5 })).toBeUndefined();
    expect(await correctAtom(db, TEAM_A, id, { content: "x", expected: null, at: NOW })).toEqual({ kind: "absent" });
    expect(await deleteAtom(db, TEAM_A, id, null)).toEqual({ kind: "absent" });
  });

  test("b87: links are looked up by their ids, however many atoms there are", async () => {
    const { db } = opened();
    const other = await save("lib-diary");
    const { id } = await save("lib-diary", { links: [{ rel: "r", id: other.id }] });
    await correctAtom(db, TEAM_A, id, { content: "x", expected: null, at: NOW });
    await sql`insert into atoms (library_id, team_id, content, tags, importance, created_at, updated_at)
      select 'lib-diary', 'team-a', 'atom ' || n, '{}', 5, to_timestamp(n), to_timestamp(n)
      from generate_series(1, 3000) n`.execute(db);
    const page = { libraryId: "lib-diary", after: null, limit: 2 };
    const questions: Record<string, (own: typeof db) => Promise<unknown>> = {
      find: (own) => findAtoms(own, TEAM_A, [id]),
      list: (own) => listAtoms(own, TEAM_A, page),
      revisions: (own) => listRevisions(own, TEAM_A, id, { before: null, limit: 5 }),
    };
    for (const statistics of [false, true]) {
      if (statistics) await sql`analyze atoms`.execute(db);
      for (const [name, question] of Object.entries(questions)) {
        const { scans, rows } = await rowsRead(db, ["atoms"], question);
        expect({ statistics, name, scans, isFew: rows < 20 }).toEqual({ statistics, name, scans: 0, isFew: true });
      }
    }
  });

  test("what was imported with a time to come is recalled as what is new", async () => {
    const draft = { ...PLAIN, content: "The kettle is on.", libraryId: "lib-diary", at: Date.UTC(2999, 0) };
    const atom = await insertAtom(opened().db, TEAM_A, draft);
    const search = { query: "kettle", libraryId: null, limit: 5 };
    expect((await recallAtoms(opened().db, TEAM_A, search)).atoms).toEqual([atom]);
  });

  test("b87: expired atoms do not fill a page, and are deleted in bounded slices with their revisions", async () => {
    const { db } = opened();
    await sql`insert into atoms (library_id, team_id, content, tags, importance, created_at, updated_at, expires_at)
      select 'lib-diary', 'team-a', 'kettle ' || n, '{t}', 5, now(), now(),
        case when n > 5 then now() - n * interval '1 second' end
      from generate_series(1, 50) n`.execute(db);
    await sql`update atoms set revision = 2 where library_id = 'lib-diary'`.execute(db);
    const page = { libraryId: "lib-diary", after: null, limit: 5 };
    expect((await listAtoms(db, TEAM_A, page)).items).toHaveLength(5);
    expect((await listAtoms(db, TEAM_A, { ...page, tags: ["t"] })).items).toHaveLength(5);
    const search = { query: "kettle", libraryId: null, tags: [], limit: 5 };
    expect((await searchAtoms(db, TEAM_A, search)).items).toHaveLength(5);
    const count = async (table: string) =>
      (await sql<{ n: number }>`select count(*)::integer as n from ${sql.table(table)}`.execute(db)).rows[0]?.n;
    const deletion = expiredDeletion(opened(), 20);
    const left: (number | undefined)[] = [];
    while (await deletion.next()) left.push(await count("atoms"));
    expect(left).toEqual([30, 10, 5]);
    expect(await count("atom_revisions")).toBe(5);
  });
});
