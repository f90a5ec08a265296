import { sql } from "kysely";
import { expect, test } from "vitest";
import type { Reach } from "../../../domain/access/reach.ts";
import { listAtoms } from "../../../memory/store/lists/atom-list.ts";
import { countAtoms } from "../../../memory/store/lists/library-summary.ts";
import { findAtoms } from "../../../memory/store/rows/atoms.ts";
import { recallAtoms } from "../../../memory/store/search/atom-recall.ts";
import { searchAtoms } from "../../../memory/store/search/atom-search.ts";
import { correctAtom, deleteAtom, insertAtom } from "../../../memory/store/writes/atom-writes.ts";
import { forgetAtom } from "../../../memory/store/writes/forgotten-atoms.ts";
import { findNearDuplicates } from "../../../memory/store/writes/near-duplicates.ts";
import { libraryDeletion } from "../../../store/libraries/deleted-libraries.ts";
import { removeLibrary, saveLibrary } from "../../../store/libraries/libraries.ts";
import { openLibrary } from "../../../store/libraries/reachable-libraries.ts";
import { eraseSubject, listSubjects } from "../../../store/libraries/subjects.ts";
import { listObjects } from "../../../store/objects/objects.ts";
import { describeNightlyOnEachEngine } from "../../env/database/engines.ts";
import { PLAIN } from "../../memory/store/plain-atom.ts";
import { libraryDraft, makeTeam, run, unique } from "../fixtures.ts";

describeNightlyOnEachEngine("What subjects have in a library", (store) => {
  /** A library with an atom that is shared, and one of each of two subjects. */
  async function start() {
    const { db } = store();
    const home = await makeTeam(store());
    const draft = libraryDraft(home);
    const { libraryId } = await run(store(), (tx) => saveLibrary(tx, draft));
    const whole: Reach = { teamId: home.teamId, libraryIds: null };
    const ana = { ...whole, subject: unique("ana") };
    const ben = { ...whole, subject: unique("ben") };
    const save = async (reach: Reach, content: string) => {
      const saved = await db.transaction().execute(async (tx) => {
        const into = (await openLibrary(tx, reach, libraryId)) ?? "";
        return insertAtom(tx, reach, { ...PLAIN, content, libraryId: into, at: Date.now() });
      });
      return saved?.id ?? "";
    };
    const ids = {
      shared: await save(whole, "Coffee is on floor two."),
      ana: await save(ana, "Ana takes her coffee black."),
      ben: await save(ben, "Ben takes no coffee."),
    };
    return { draft, home, libraryId, whole, ana, ben, save, ids };
  }

  test("b120: is found by every question of that subject beside what is shared, and by no other", async () => {
    const { db } = store();
    const { whole, ana, libraryId, ids, home } = await start();
    const seen = async (reach: Reach, named: string | null) => {
      const list = await listAtoms(db, reach, { libraryId: named, after: null, limit: 10 });
      const tagged = await listAtoms(db, reach, { libraryId: named, after: null, limit: 10, since: 0 });
      const asked = { libraryId: named, query: "coffee", limit: 10 };
      const found = await searchAtoms(db, reach, { ...asked, sort: "rank", after: null });
      const recalled = await recallAtoms(db, reach, asked);
      return [list.items, tagged.items, found.items.map(({ atom }) => atom), recalled.atoms].map((atoms) =>
        atoms.map(({ id }) => id).sort(),
      );
    };
    const [own, shared] = [[ids.shared, ids.ana].sort(), [ids.shared]];
    for (const named of [null, libraryId]) {
      expect(await seen(ana, named)).toEqual([own, own, own, own]);
      expect(await seen(whole, named)).toEqual([shared, shared, shared, shared]);
      expect(await seen({ ...whole, libraryIds: [libraryId] }, named)).toEqual([shared, shared, shared, shared]);
      expect(await seen({ ...ana, libraryIds: [libraryId] }, named)).toEqual([own, own, own, own]);
    }
    expect(await seen({ ...ana, libraryIds: [] }, null)).toEqual([[], [], [], []]);
    expect((await countAtoms(db, ana, libraryId)).atoms).toBe(2);
    expect((await countAtoms(db, whole, libraryId)).atoms).toBe(1);
    const [mine] = await findAtoms(db, ana, [ids.ana]);
    expect(mine?.library.id).toBe(libraryId);
    const libraries = await listObjects(db, "library", { teamIds: [home.teamId], limit: 10 });
    expect(libraries.map(({ id }) => id)).toEqual([libraryId]);
  });

  test("is the only thing that a call for the subject changes", async () => {
    const { db } = store();
    const { ana, ben, ids } = await start();
    const change = { importance: 1, expected: null, at: Date.now() };
    expect(await correctAtom(db, ana, ids.shared, change)).toEqual({ kind: "shared" });
    expect(await deleteAtom(db, ana, ids.shared, null)).toEqual({ kind: "shared" });
    expect(await forgetAtom(db, ana, ids.shared, null)).toEqual({ kind: "shared" });
    expect(await correctAtom(db, ben, ids.ana, change)).toEqual({ kind: "absent" });
    expect(await deleteAtom(db, ben, ids.ana, null)).toEqual({ kind: "absent" });
    expect(await correctAtom(db, ana, ids.ana, change)).toMatchObject({ kind: "corrected" });
  });

  test("is not under the library's own row, so that an atom of a subject cannot be stored there", async () => {
    const { ana, libraryId } = await start();
    const draft = { ...PLAIN, libraryId, at: Date.now() };
    expect(await insertAtom(store().db, ana, draft)).toBeUndefined();
    expect(
      await openLibrary(store().db, { ...ana, libraryIds: [], subject: unique("new") }, libraryId),
    ).toBeUndefined();
  });

  test("is compared with what is shared, and with nothing of another subject, before a save", async () => {
    const { db } = store();
    const { ana, ben, libraryId, ids } = await start();
    const near = async (reach: Reach, said: string) =>
      (await findNearDuplicates(db, reach, libraryId, said)).map(({ atom }) => atom.id);
    expect(await near(ana, "Coffee is on floor two.")).toEqual([ids.shared]);
    expect(await near(ana, "Ana takes her coffee black.")).toEqual([ids.ana]);
    expect(await near(ben, "Ana takes her coffee black.")).toEqual([]);
  });

  test("is saved in one part of the library, however many begin it at once", async () => {
    const { save, whole, libraryId } = await start();
    const subject = unique("new");
    await Promise.all(["a", "b", "c"].map((content) => save({ ...whole, subject }, content)));
    const { rows } = await sql`select from libraries where parent_id = ${libraryId} and subject = ${subject}`.execute(
      store().db,
    );
    expect(rows).toHaveLength(1);
  });

  test("is erased at once, in all libraries or one, and its rows go bit by bit", async () => {
    const { db, engine } = store();
    const { home, draft, ana, ben, libraryId, ids, save } = await start();
    await forgetAtom(db, ana, await save(ana, "To be forgotten."), null);
    const erase = (subject: string) =>
      run(store(), (tx) =>
        eraseSubject(tx, { library: { ...draft, id: libraryId }, subject, by: { actor: "a test" } }),
      );
    const names = async () =>
      ((await listSubjects(db, libraryId, { limit: 10 })) ?? []).map(({ subject }) => subject).sort();
    expect(await names()).toEqual([ana.subject, ben.subject].sort());
    const [first] = (await listSubjects(db, libraryId, { limit: 1 })) ?? [];
    const next = () => listSubjects(db, libraryId, { afterId: first?.id, limit: 10 });
    expect(await next()).toMatchObject([{ subject: ben.subject }]);
    expect(await erase(ana.subject)).toBe(true);
    expect(await erase(ana.subject)).toBe(false);
    const events = await db
      .selectFrom("audit_events")
      .select("detail")
      .where("kind", "=", "library.subject_erased")
      .execute();
    expect(events.filter(({ detail }) => detail.id === libraryId)).toEqual([
      { detail: expect.objectContaining({ id: libraryId, subject: ana.subject }) },
    ]);
    expect(await names()).toEqual([ben.subject]);
    expect(await next()).toBeUndefined();
    expect(await findAtoms(db, ana, Object.values(ids))).toHaveLength(1);
    const deletion = libraryDeletion({ db, engine }, { slice: 1 });
    while (await deletion.next());
    const { rows } = await sql<{
      left: number;
    }>`select (select count(*) from atoms where id = ${ids.ana}::uuid)::integer
      + (select count(*) from forgotten_atoms where team_id = ${home.teamId})::integer
      + (select count(*) from libraries where parent_id = ${libraryId} and state = 'deleted')::integer as left`.execute(
      db,
    );
    expect(rows).toEqual([{ left: 0 }]);
    expect(await findAtoms(db, ben, Object.values(ids))).toHaveLength(2);
    const anew = await save(ana, "From now on.");
    expect((await listAtoms(db, ana, { libraryId, after: null, limit: 10 })).items.map(({ id }) => id)).toContain(anew);
  });

  test("is out of reach as its library is, comes back with it, and goes with it", async () => {
    const { db, engine } = store();
    const { ana, draft, ids, libraryId } = await start();
    const remove = (policy: "Retain" | "Delete") => run(store(), (tx) => removeLibrary(tx, { ...draft, policy }));
    await remove("Retain");
    expect(await findAtoms(db, ana, Object.values(ids))).toEqual([]);
    await run(store(), (tx) => saveLibrary(tx, draft));
    expect(await findAtoms(db, ana, Object.values(ids))).toHaveLength(2);
    await remove("Delete");
    expect(await findAtoms(db, ana, Object.values(ids))).toEqual([]);
    const deletion = libraryDeletion({ db, engine }, { libraryId, slice: 1 });
    while (await deletion.next());
    const { rows } = await sql`select from libraries where id = ${libraryId} or parent_id = ${libraryId}`.execute(db);
    expect(rows).toEqual([]);
  });

  test("takes no room of a search of the whole team, which passes it by", async () => {
    const { db } = store();
    const { home, whole, ana, ben, save, ids } = await start();
    const others = Array.from({ length: 16 }, () => run(store(), (tx) => saveLibrary(tx, libraryDraft(home))));
    await Promise.all(others);
    for (let n = 0; n < 5; n++) await save(ben, `Coffee of Ben's, number ${n}.`);
    const { rows } = await sql<{ id: string }>`select id::text from atoms
      where (search || atom_terms(team_id, library_id, tags)) @@ ${`'team ${home.teamId}'`}::tsquery`.execute(db);
    expect(rows.map(({ id }) => id)).toEqual([ids.shared]);
    const found = async (reach: Reach) => {
      const asked = { libraryId: null, query: "coffee", limit: 10, sort: "rank", after: null } as const;
      return (await searchAtoms(db, reach, asked)).items.map(({ atom }) => atom.id).sort();
    };
    expect(await found(whole)).toEqual([ids.shared]);
    expect(await found(ana)).toEqual([ids.shared, ids.ana].sort());
    expect(await found(ben)).toHaveLength(7);
  });

  test("is nothing that a decision depends on: the feed has no change of it", async () => {
    const { whole, draft, save, libraryId } = await start();
    const subject = unique("new");
    const changes = async () => (await sql`select from changes`.execute(store().db)).rows.length;
    const before = await changes();
    await save({ ...whole, subject }, "One more.");
    const library = { ...draft, id: libraryId };
    await run(store(), (tx) => eraseSubject(tx, { library, subject, by: { actor: "a test" } }));
    expect(await changes()).toBe(before);
  });
});
