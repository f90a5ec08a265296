import { sql } from "kysely";
import { beforeAll, beforeEach, expect, test } from "vitest";
import type { Reach } from "../../../../domain/access/reach.ts";
import { listAtoms } from "../../../../memory/store/lists/atom-list.ts";
import { listRevisions } from "../../../../memory/store/lists/atom-revisions.ts";
import { countAtoms } from "../../../../memory/store/lists/library-summary.ts";
import type { AtomFields } from "../../../../memory/store/rows/atom.ts";
import { findAtoms } from "../../../../memory/store/rows/atoms.ts";
import { expiredDeletion } from "../../../../memory/store/rows/expired-atoms.ts";
import { recallAtoms } from "../../../../memory/store/search/atom-recall.ts";
import { searchAtoms } from "../../../../memory/store/search/atom-search.ts";
import { correctAtom, deleteAtom, insertAtom } from "../../../../memory/store/writes/atom-writes.ts";
import { forgetAtom, restoreAtom } from "../../../../memory/store/writes/forgotten-atoms.ts";
import { findNearDuplicates } from "../../../../memory/store/writes/near-duplicates.ts";
import { InvalidAtomError } from "../../../../store/database/errors.ts";
import { libraryDeletion } from "../../../../store/libraries/deleted-libraries.ts";
import { removeLibrary } from "../../../../store/libraries/libraries.ts";
import { describeNightlyOnEachEngine, describeOnPostgres } from "../../../env/database/engines.ts";
import { until } from "../../../env/until.ts";
import { run } from "../../../store/fixtures.ts";
import { addTeamsWithLibraries } from "../../libraries.ts";
import { PLAIN } from "../plain-atom.ts";

const TEAM_A: Reach = { teamId: "team-a", libraryIds: null };
const NOW = Date.UTC(2026, 10, 20);
const KETTLE = "The kettle is on.";

describeNightlyOnEachEngine("an atom that was forgotten", (opened) => {
  beforeAll(() => addTeamsWithLibraries(opened()));
  beforeEach(async () => {
    await sql`delete from atoms`.execute(opened().db);
    await sql`delete from forgotten_atoms`.execute(opened().db);
  });

  async function save(fields: Partial<AtomFields> = {}, libraryId = "lib-diary") {
    const draft = { ...PLAIN, content: KETTLE, ...fields, libraryId, at: NOW };
    const atom = await insertAtom(opened().db, TEAM_A, draft);
    if (atom === undefined) throw new Error(`no atom was stored in ${libraryId}`);
    return atom;
  }
  const forget = (id: string) => forgetAtom(opened().db, TEAM_A, id, null);
  const restore = (id: string, reach = TEAM_A) => restoreAtom(opened().db, reach, id);
  const revisionsOf = async (id: string) =>
    (await listRevisions(opened().db, TEAM_A, id, { before: null, limit: 10 }))?.items;
  const count = async (table: string) =>
    (await sql<{ n: number }>`select count(*)::integer as n from ${sql.table(table)}`.execute(opened().db)).rows[0]?.n;

  test("is to every caller as if it were deleted, and comes back as it was", async () => {
    const { db } = opened();
    const other = await save({ content: "The tea is in the pot." });
    const links = [{ rel: "explains", id: other.id }];
    const fields = { tags: ["t"], source: "a file", importance: 8, metadata: { n: 1 }, links };
    const { id } = await save({ ...fields, expiresAt: Date.UTC(2999, 0) });
    await correctAtom(db, TEAM_A, id, { tags: ["t", "u"], expected: 1, at: NOW + 1_000 });
    await correctAtom(db, TEAM_A, other.id, { links: [{ rel: "explained by", id }], expected: 1, at: NOW });
    const [atom] = await findAtoms(db, TEAM_A, [id]);
    const revisions = await revisionsOf(id);
    expect(revisions).toHaveLength(2);
    const search = { query: "kettle", libraryId: null, tags: [], limit: 5 };
    const page = { libraryId: "lib-diary", tags: ["t"], after: null, limit: 5 };
    const questions: Record<string, () => Promise<readonly unknown[]>> = {
      find: () => findAtoms(db, TEAM_A, [id]),
      list: async () => (await listAtoms(db, TEAM_A, page)).items,
      search: async () => (await searchAtoms(db, TEAM_A, search)).items,
      recall: async () => (await recallAtoms(db, TEAM_A, search)).atoms,
      duplicates: () => findNearDuplicates(db, TEAM_A, "lib-diary", KETTLE),
      links: async () => (await findAtoms(db, TEAM_A, [other.id]))[0]?.links ?? [],
      revisions: async () => (await revisionsOf(id))?.slice(1) ?? [],
    };
    for (const [name, ask] of Object.entries(questions)) expect(await ask(), name).toHaveLength(1);

    expect(await forget(id)).toMatchObject({ kind: "forgotten", libraryId: "lib-diary" });
    for (const [name, ask] of Object.entries(questions)) expect(await ask(), name).toEqual([]);
    expect(await countAtoms(db, TEAM_A, "lib-diary")).toEqual({ atoms: 1, isMore: false });
    expect(await revisionsOf(id)).toBeUndefined();
    expect(await correctAtom(db, TEAM_A, id, { content: "x", expected: null, at: NOW })).toEqual({ kind: "absent" });
    expect(await forget(id)).toEqual({ kind: "absent" });
    await expect(save({ links: [{ rel: "r", id }] })).rejects.toBeInstanceOf(InvalidAtomError);

    expect(await restore(id)).toEqual(atom);
    for (const [name, ask] of Object.entries(questions)) expect(await ask(), name).toHaveLength(1);
    expect(await revisionsOf(id)).toEqual(revisions);
    expect(await restore(id), "what is there stays").toEqual(atom);
    expect(await count("forgotten_atoms")).toBe(0);
  });

  test("is kept for 30 days, and no longer than it would have lasted", async () => {
    const { rows } = await sql<{ ms: number }>`select extract(epoch from now())::float8 * 1000 as ms`.execute(
      opened().db,
    );
    const now = rows[0]?.ms ?? 0;
    const lasting = await forget((await save()).id);
    const days = (lasting.kind === "forgotten" ? lasting.keptUntil - now : 0) / 86_400_000;
    expect(days).toBeGreaterThanOrEqual(30);
    expect(days).toBeLessThan(30.1);
    const expiresAt = Math.round(now) + 86_400_000;
    expect(await forget((await save({ expiresAt })).id)).toMatchObject({ keptUntil: expiresAt });
  });

  test("b58: is restored and deleted by a caller who reaches its library alone, and by none once it is not kept any more", async () => {
    const { id } = await save();
    await forget(id);
    for (const reach of [
      { teamId: "team-b", libraryIds: null },
      { teamId: "team-a", libraryIds: ["lib-handbook"] },
    ]) {
      expect(await restore(id, reach)).toBeUndefined();
      expect(await deleteAtom(opened().db, reach, id, null)).toEqual({ kind: "absent" });
    }
    await sql`update forgotten_atoms set kept_until = now() - interval '1 second' where id = ${id}::uuid`.execute(
      opened().db,
    );
    expect(await restore(id)).toBeUndefined();
    expect(await restore("00000000-0000-7000-8000-000000000000")).toBeUndefined();
    expect(await restore("x")).toBeUndefined();
  });

  test("is not forgotten at another revision than its caller has seen", async () => {
    const { id } = await save();
    expect(await forgetAtom(opened().db, TEAM_A, id, 2)).toEqual({ kind: "conflict", revision: 1 });
    expect(await forgetAtom(opened().db, TEAM_A, id, 1)).toMatchObject({ kind: "forgotten" });
  });

  test("is deleted for ever with its revisions, at once or when its time is over", async () => {
    const { db } = opened();
    const ids: string[] = [];
    for (let n = 0; n < 5; n++) {
      const { id } = await save();
      await correctAtom(db, TEAM_A, id, { content: "x", expected: null, at: NOW });
      await forget(id);
      ids.push(id);
    }
    expect(await count("atom_revisions")).toBe(5);
    expect(await deleteAtom(db, TEAM_A, ids[0] ?? "", null)).toEqual({ kind: "deleted", libraryId: "lib-diary" });
    expect(await deleteAtom(db, TEAM_A, ids[0] ?? "", null)).toEqual({ kind: "absent" });
    expect(await count("atom_revisions")).toBe(4);
    await sql`update forgotten_atoms set kept_until = now() - interval '1 second' where id <> ${ids[1]}::uuid`.execute(
      db,
    );
    const deletion = expiredDeletion(opened(), 2);
    const left: (number | undefined)[] = [];
    while (await deletion.next()) left.push(await count("forgotten_atoms"));
    expect(left).toEqual([2, 1]);
    expect(await count("atom_revisions")).toBe(1);
  });

  test("b87: goes before its time where its library forgets more than are kept, and the library of no other does", async () => {
    const other = await save({}, "lib-handbook");
    await forget(other.id);
    const ids: string[] = [];
    for (let n = 0; n < 5; n++) {
      const { id } = await save();
      await forgetAtom(opened().db, TEAM_A, id, null, 3);
      ids.push(id);
    }
    const restored = await Promise.all([...ids, other.id].map((id) => restore(id)));
    expect(restored.map((atom) => atom !== undefined)).toEqual([false, false, true, true, true, true]);
  });

  test("waits for no embedding, and is embedded anew once it is restored", async () => {
    const { db } = opened();
    await sql`insert into library_embeddings (library_id, gateway_id, model, key_id)
      values ('lib-handbook', 'a gateway', 'small', 'a key')`.execute(db);
    const { id } = await save({}, "lib-handbook");
    await correctAtom(db, TEAM_A, id, { content: "x", expected: null, at: NOW });
    const waiting = async () =>
      (await sql`select atom_id::text, revision from embedding_queue where library_id = 'lib-handbook'`.execute(db))
        .rows;
    expect(await waiting()).toEqual([{ atom_id: id, revision: 2 }]);
    await forget(id);
    expect(await waiting()).toEqual([]);
    await restore(id);
    expect(await waiting()).toEqual([{ atom_id: id, revision: 2 }]);
    await sql`delete from library_embeddings`.execute(db);
  });

  test("c52: goes with its library, in bounded bits", async () => {
    const ids: string[] = [];
    for (let n = 0; n < 5; n++) {
      const { id } = await save();
      await correctAtom(opened().db, TEAM_A, id, { content: "x", expected: null, at: NOW });
      await forget(id);
      ids.push(id);
    }
    const diary = { cluster: "c", namespace: "a-dev", name: "diary", ownerUid: "uid-1" };
    await run(opened(), (tx) => removeLibrary(tx, { ...diary, policy: "Delete" }));
    expect(await restore(ids[0] ?? "")).toBeUndefined();
    const deletion = libraryDeletion(opened(), { slice: 2 });
    const left: (number | undefined)[] = [];
    while (await deletion.next()) left.push(await count("forgotten_atoms"));
    expect(left).toEqual([3, 1, 0, 0]);
    expect(await count("atom_revisions")).toBe(0);
  });
});

describeOnPostgres("an atom that is deleted on another connection", (opened) => {
  beforeAll(() => addTeamsWithLibraries(opened()));

  test.each(["forgotten", "restored"])("while it is %s is gone for ever", async (how) => {
    const { db } = opened();
    const { id = "" } = (await insertAtom(db, TEAM_A, { ...PLAIN, libraryId: "lib-diary", at: NOW })) ?? {};
    if (how === "restored") await forgetAtom(db, TEAM_A, id, null);
    const { deletion } = await db.transaction().execute(async (tx) => {
      await (how === "restored" ? restoreAtom(tx, TEAM_A, id) : forgetAtom(tx, TEAM_A, id, null));
      const deletion = deleteAtom(db, TEAM_A, id, null);
      await until("it waits for the other one", async () => {
        const { rows } = await sql`select from pg_stat_activity
          where wait_event_type = 'Lock' and datname = current_database()`.execute(db);
        return rows.length > 0;
      });
      return { deletion };
    });
    expect(await deletion).toEqual({ kind: "deleted", libraryId: "lib-diary" });
    expect(await restoreAtom(db, TEAM_A, id)).toBeUndefined();
  });
});
