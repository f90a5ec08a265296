import { sql } from "kysely";
import { beforeAll, beforeEach, expect, test } from "vitest";
import type { Reach } from "../../../../domain/access/reach.ts";
import { MAX_LINKS } from "../../../../memory/store/rows/atom.ts";
import { findAtoms } from "../../../../memory/store/rows/atoms.ts";
import { correctAtom, deleteAtom, insertAtom } from "../../../../memory/store/writes/atom-writes.ts";
import { forgetAtom, restoreAtom } from "../../../../memory/store/writes/forgotten-atoms.ts";
import { type ImportedAtom, importAtoms } from "../../../../memory/store/writes/import-atoms.ts";
import type { Db, Tx } from "../../../../store/database/change.ts";
import { describeNightlyOnEachEngine, describeOnPostgres } from "../../../env/database/engines.ts";
import { until } from "../../../env/until.ts";
import { addTeamsWithLibraries } from "../../libraries.ts";
import { PLAIN } from "../plain-atom.ts";

const REACH = { teamId: "team-a", libraryIds: null };
const DIARY = { libraryId: "lib-diary", upsertAt: 5_000, mayRead: true };

function anAtom(fields: Partial<ImportedAtom>): ImportedAtom {
  return { ...PLAIN, formerId: null, createdAt: 1_000, updatedAt: 1_000, ...fields };
}

describeNightlyOnEachEngine("an import that knows again what was imported", (opened) => {
  beforeAll(() => addTeamsWithLibraries(opened()));
  beforeEach(async () => {
    await sql`delete from atoms`.execute(opened().db);
    await sql`delete from forgotten_atoms`.execute(opened().db);
  });

  const importing = (atoms: readonly ImportedAtom[], target = DIARY, reach: Reach = REACH) =>
    opened()
      .db.transaction()
      .execute((tx) => importAtoms(tx, reach, target, atoms));
  const count = async (table: string) =>
    (await sql<{ n: number }>`select count(*)::integer as n from ${sql.table(table)}`.execute(opened().db)).rows[0]?.n;
  const read = async (id: string | undefined) => (await findAtoms(opened().db, REACH, [id ?? ""]))[0];

  test("leaves an atom as it is while the same is said of it, and corrects it where that has changed", async () => {
    const [first, second] = [
      anAtom({ formerId: "a", content: "One." }),
      anAtom({ formerId: "b", metadata: { x: 1, a: 2 } }),
    ];
    const made = await importing([first, second]);
    expect(made?.outcomes).toEqual(["created", "created"]);
    const again = await importing([{ ...second, metadata: { a: 2, x: 1 }, updatedAt: 9_000 }, first]);
    expect(again).toEqual({ ids: made?.ids.toReversed(), outcomes: ["unchanged", "unchanged"], droppedLinks: 0 });
    const changed = await importing([{ ...first, content: "Another." }, second]);
    expect(changed).toEqual({ ...made, outcomes: ["corrected", "unchanged"] });
    expect(await read(made?.ids[0])).toMatchObject({
      content: "Another.",
      revision: 2,
      createdAt: 1_000,
      updatedAt: 5_000,
    });
    expect(await read(made?.ids[1])).toMatchObject({ revision: 1, updatedAt: 1_000 });
    expect(await importing([{ ...first, content: "Another." }])).toMatchObject({ outcomes: ["unchanged"] });
  });

  test("takes back no correction that was made in the library, until the file says something else", async () => {
    const file = anAtom({ formerId: "a", content: "Of the file." });
    const made = await importing([file]);
    const id = made?.ids[0] ?? "";
    await sql`update atoms set content = 'Of an agent.', revision = revision + 1 where id = ${id}::uuid`.execute(
      opened().db,
    );
    expect(await importing([file])).toMatchObject({ outcomes: ["unchanged"] });
    expect(await read(id)).toMatchObject({ content: "Of an agent." });
    expect(await importing([{ ...file, content: "Edited." }])).toMatchObject({ outcomes: ["corrected"], ids: [id] });
    expect(await read(id)).toMatchObject({ content: "Edited.", revision: 3 });
  });

  test("is of one library, and does nothing without being asked to", async () => {
    const file = anAtom({ formerId: "a" });
    await importing([file]);
    expect(await importing([file], { ...DIARY, libraryId: "lib-handbook" })).toMatchObject({ outcomes: ["created"] });
    const { ids } = (await importing([file], { ...DIARY, upsertAt: null as never })) ?? { ids: [] };
    expect(await importing([file])).toMatchObject({ outcomes: ["unchanged"] });
    expect(await importing([file])).not.toMatchObject({ ids });
  });

  test("knows an atom of the library by its own id, and leaves one that has changed since it was exported", async () => {
    const draft = { ...PLAIN, libraryId: "lib-diary", at: 1_000, updatedAt: 2_000 };
    const atom = await insertAtom(opened().db, REACH, draft);
    const id = atom?.id ?? "";
    const exported = anAtom({ formerId: id, updatedAt: 2_000 });
    expect(await importing([exported])).toMatchObject({ ids: [id], outcomes: ["unchanged"] });
    expect(await importing([{ ...exported, content: "Stale.", updatedAt: 1_999 }])).toMatchObject({
      outcomes: ["newer"],
    });
    expect(await read(id)).toEqual(atom);
    expect(await importing([{ ...exported, content: "Edited." }])).toMatchObject({
      ids: [id],
      outcomes: ["corrected"],
    });
    expect(await importing([{ ...exported, content: "Edited again." }])).toMatchObject({ outcomes: ["corrected"] });
    expect(await read(id)).toMatchObject({ content: "Edited again.", revision: 3 });
    await sql`update atoms set content = 'Of a person.', revision = revision + 1, updated_at = to_timestamp(100)
      where id = ${id}::uuid`.execute(opened().db);
    expect(await importing([{ ...exported, content: "Stale again.", updatedAt: 5_000 }])).toMatchObject({
      outcomes: ["newer"],
    });
    expect(await read(id)).toMatchObject({ content: "Of a person." });
    expect(await importing([{ ...exported, content: "Edited anew.", updatedAt: 100_000 }])).toMatchObject({
      outcomes: ["corrected"],
    });
    const elsewhere = await importing([exported], { ...DIARY, libraryId: "lib-handbook" });
    expect(elsewhere).toMatchObject({ outcomes: ["created"] });
    expect(elsewhere?.ids).not.toContain(id);
  });

  test.each([
    ["unchanged", "an export from then", "Of an agent.", 100_000, { content: "Of an agent.", revision: 3 }],
    ["corrected", "an edit of it to what was imported", "Edited.", 100_000, { content: "Edited.", revision: 4 }],
    ["newer", "what was imported", "Edited.", 1_000, { content: "Of an agent.", revision: 3 }],
  ] as const)(
    "b458: answers %s to %s, where an agent has corrected the library's own atom since the import of an edit",
    async (outcome, _file, content, updatedAt, expected) => {
      const draft = { ...PLAIN, libraryId: "lib-diary", at: 1_000, updatedAt: 1_000 };
      const formerId = (await insertAtom(opened().db, REACH, draft))?.id ?? "";
      await importing([anAtom({ formerId, content: "Edited." })]);
      await sql`update atoms set content = 'Of an agent.', revision = revision + 1, updated_at = to_timestamp(100)
        where id = ${formerId}::uuid`.execute(opened().db);
      const again = await importing([anAtom({ formerId, content, updatedAt })]);
      expect(again).toMatchObject({ ids: [formerId], outcomes: [outcome] });
      expect(await read(formerId)).toMatchObject(expected);
    },
  );

  test("sets a link to what is imported later once that is there, without another revision", async () => {
    const links = [{ rel: "knows", id: "b" }];
    const [from, to] = [anAtom({ formerId: "a", links }), anAtom({ formerId: "b" })];
    const made = await importing([from]);
    expect(made).toMatchObject({ outcomes: ["created"], droppedLinks: 1 });
    const target = await importing([to]);
    expect(await importing([from])).toEqual({ ...made, outcomes: ["unchanged"], droppedLinks: 0 });
    const led = [{ rel: "knows", id: target?.ids[0] }];
    expect(await read(made?.ids[0])).toMatchObject({ links: led, revision: 1, updatedAt: 1_000 });
    await sql`update atoms set links = '[]', revision = revision + 1 where id = ${made?.ids[0]}::uuid`.execute(
      opened().db,
    );
    await importing([from]);
    expect(await read(made?.ids[0])).toMatchObject({ links: [], revision: 2 });
  });

  test("leads to what is imported later, and no longer to the atom of another library that had its id", async () => {
    const there = await insertAtom(opened().db, REACH, { ...PLAIN, libraryId: "lib-handbook", at: 1_000 });
    const formerId = there?.id ?? "";
    const from = anAtom({ formerId: "a", links: [{ rel: "knows", id: formerId }] });
    const made = await importing([from]);
    expect((await read(made?.ids[0]))?.links).toEqual([{ rel: "knows", id: formerId }]);
    const target = await importing([anAtom({ formerId })]);
    expect(await importing([from])).toMatchObject({ outcomes: ["unchanged"], droppedLinks: 0 });
    expect((await read(made?.ids[0]))?.links).toEqual([{ rel: "knows", id: target?.ids[0] }]);
  });

  test.each([
    ["leaves unchanged", "One.", "unchanged"],
    ["corrects", "Another.", "corrected"],
  ])(
    "c126: an atom that it %s keeps a link beyond the key's reach for as long as the file has it",
    async (_what, content, outcome) => {
      const narrow = { ...REACH, libraryIds: [DIARY.libraryId] };
      const beyond = await insertAtom(opened().db, REACH, { ...PLAIN, libraryId: "lib-handbook", at: 1_000 });
      const led = { rel: "knows", id: beyond?.id ?? "" };
      const links = [led, { rel: "knows", id: "b" }];
      const made = await importing([anAtom({ formerId: "a", content: "One.", links })]);
      const target = await importing([anAtom({ formerId: "b" })], DIARY, narrow);
      const again = await importing([anAtom({ formerId: "a", content, links })], DIARY, narrow);
      expect(again).toEqual({ ids: made?.ids, outcomes: [outcome], droppedLinks: 1 });
      expect((await read(made?.ids[0]))?.links).toEqual([led, { rel: "knows", id: target?.ids[0] }]);
      await importing([anAtom({ formerId: "a", content: "Without." })], DIARY, narrow);
      expect((await read(made?.ids[0]))?.links).toEqual([]);
    },
  );

  test.each([
    ["an edit of what the key reads", "corrected", "Edited.", 2],
    ["a whole file in which nothing has changed", "unchanged", "One.", 1],
  ] as const)(
    "c126: the library's own atom keeps a link beyond the key's reach, imported from %s",
    async (_what, outcome, content, revision) => {
      const narrow = { ...REACH, libraryIds: [DIARY.libraryId] };
      const save = (fields: Partial<ImportedAtom> & { libraryId: string }) =>
        insertAtom(opened().db, REACH, { ...PLAIN, at: 1_000, ...fields });
      const beyond = { rel: "knows", id: (await save({ libraryId: "lib-handbook" }))?.id ?? "" };
      const within = { rel: "knows", id: (await save({ libraryId: "lib-diary" }))?.id ?? "" };
      const own = { content: "One.", links: [beyond, within] };
      const formerId = (await save({ libraryId: "lib-diary", ...own }))?.id ?? "";
      const isWhole = outcome === "unchanged";
      const file = anAtom({ formerId, content, links: isWhole ? own.links : [within] });
      const imported = { ids: [formerId], outcomes: [outcome], droppedLinks: isWhole ? 1 : 0 };
      expect(await importing([file], DIARY, narrow)).toEqual(imported);
      const after = await read(formerId);
      expect(after).toMatchObject({ content, revision });
      expect(after?.links).toHaveLength(2);
      expect(after?.links).toEqual(expect.arrayContaining(own.links));
      // An export of all of it by another key changes nothing either.
      const whole = anAtom({ formerId, content, links: after?.links ?? [] });
      expect(await importing([whole])).toMatchObject({ outcomes: ["unchanged"], droppedLinks: 0 });
      await importing([anAtom({ formerId, content: "Without.", updatedAt: 9_000, links: [] })], DIARY, narrow);
      expect((await read(formerId))?.links).toEqual([beyond]);
      await importing([anAtom({ formerId, content: "Without any.", updatedAt: 9_000, links: [] })]);
      expect((await read(formerId))?.links).toEqual([]);
    },
  );

  test("writes an atom that it corrects once, its links with the rest", async () => {
    const [from, to] = [anAtom({ formerId: "a", content: "One." }), anAtom({ formerId: "b" })];
    await importing([from, to]);
    const rowsWritten = async (tx: Tx) => {
      const { rows } = await sql<{ n: number }>`select n_tup_upd::integer as n from pg_stat_xact_user_tables
        where relname = 'atoms'`.execute(tx);
      return rows[0]?.n ?? 0;
    };
    const updates = await opened()
      .db.transaction()
      .execute(async (tx) => {
        const before = await rowsWritten(tx);
        const edited = { ...from, content: "Two.", links: [{ rel: "knows", id: "b" }] };
        expect(await importAtoms(tx, REACH, DIARY, [edited])).toMatchObject({ outcomes: ["corrected"] });
        return (await rowsWritten(tx)) - before;
      });
    expect(updates).toBe(1);
  });

  test("leaves no more links to the library's own atom than an atom may have", async () => {
    const narrow = { ...REACH, libraryIds: [DIARY.libraryId] };
    const draft = { ...PLAIN, at: 1_000 };
    const beyond = await insertAtom(opened().db, REACH, { ...draft, libraryId: "lib-handbook" });
    const links = [{ rel: "knows", id: beyond?.id ?? "" }];
    const own = await insertAtom(opened().db, REACH, { ...draft, libraryId: "lib-diary", links });
    const led = Array.from({ length: MAX_LINKS }, (_, n) => ({ rel: `knows ${n}`, id: own?.id ?? "" }));
    await importing([anAtom({ formerId: own?.id ?? "", links: led })], DIARY, narrow);
    expect((await read(own?.id))?.links).toEqual(led);
  });

  test("counts a link of the library's own atom that leads nowhere yet, and sets it once its target is there", async () => {
    const draft = { ...PLAIN, libraryId: "lib-diary", at: 1_000 };
    const formerId = (await insertAtom(opened().db, REACH, draft))?.id ?? "";
    const file = anAtom({ formerId, links: [{ rel: "knows", id: "b" }] });
    expect(await importing([file])).toMatchObject({ droppedLinks: 1 });
    const target = await importing([anAtom({ formerId: "b" })]);
    expect(await importing([{ ...file, updatedAt: 9_000 }])).toMatchObject({ ids: [formerId], droppedLinks: 0 });
    expect((await read(formerId))?.links).toEqual([{ rel: "knows", id: target?.ids[0] }]);
  });

  test("imports anew what was deleted or forgotten, and finds what was restored", async () => {
    const file = anAtom({ formerId: "a" });
    const first = (await importing([file]))?.ids[0] ?? "";
    await deleteAtom(opened().db, REACH, first, null);
    expect(await count("imported_atoms")).toBe(0);
    const second = (await importing([file]))?.ids[0] ?? "";
    await opened()
      .db.transaction()
      .execute((tx: Tx) => forgetAtom(tx, REACH, second, null));
    expect(await count("imported_atoms")).toBe(1);
    await restoreAtom(opened().db, REACH, second);
    expect(await importing([file])).toMatchObject({ ids: [second], outcomes: ["unchanged"] });
    await forgetAtom(opened().db, REACH, second, null);
    const third = await importing([file]);
    expect(third).toMatchObject({ outcomes: ["created"] });
    await deleteAtom(opened().db, REACH, second, null);
    expect(await importing([file])).toMatchObject({ ids: third?.ids, outcomes: ["unchanged"] });
  });
});

describeOnPostgres("an import at the same time as another write", (opened) => {
  beforeAll(() => addTeamsWithLibraries(opened()));

  test("waits for another one of the same file, and finds what that has made", async () => {
    const { db } = opened();
    const [one, other] = ["a", "b"].map((formerId) => anAtom({ formerId, content: formerId }));
    let second: ReturnType<typeof importAtoms> | undefined;
    const first = await db.transaction().execute(async (tx) => {
      const made = await importAtoms(
        tx,
        REACH,
        DIARY,
        [one, other].flatMap((atom) => atom ?? []),
      );
      second = db.transaction().execute((late) =>
        importAtoms(
          late,
          REACH,
          DIARY,
          [other, one].flatMap((atom) => atom ?? []),
        ),
      );
      await until("the second waits", () => locksAwaited(db));
      return made;
    });
    expect(await second).toEqual({
      ids: first?.ids.toReversed(),
      outcomes: ["unchanged", "unchanged"],
      droppedLinks: 0,
    });
  });

  test("c109: leaves an atom as it is that is corrected meanwhile", async () => {
    const { db } = opened();
    const { id = "" } = (await insertAtom(db, REACH, { ...PLAIN, libraryId: "lib-handbook", at: 1_000 })) ?? {};
    const edited = anAtom({ formerId: id, content: "Of the file." });
    let imported: ReturnType<typeof importAtoms> | undefined;
    await db.transaction().execute(async (tx) => {
      await correctAtom(tx, REACH, id, { content: "Of an agent.", expected: 1, at: 4_000 });
      const target = { ...DIARY, libraryId: "lib-handbook" };
      imported = db.transaction().execute((late) => importAtoms(late, REACH, target, [edited]));
      await until("the import waits", () => locksAwaited(db));
    });
    expect(await imported).toMatchObject({ ids: [id], outcomes: ["newer"] });
    expect(await findAtoms(db, REACH, [id])).toMatchObject([{ content: "Of an agent.", revision: 2 }]);
  });

  test("c109: waits for another one that corrects the same atoms in another order", async () => {
    const { db } = opened();
    const target = { ...DIARY, libraryId: "lib-handbook" };
    const file = (content: string) => ["a", "b"].map((formerId) => anAtom({ formerId, content }));
    const importing = (tx: Tx, atoms: readonly ImportedAtom[]) => importAtoms(tx, REACH, target, atoms);
    await db.transaction().execute((tx) => importing(tx, file("One.")));
    let second: ReturnType<typeof importAtoms> | undefined;
    await db.transaction().execute(async (tx) => {
      await importing(tx, file("Two.").slice(0, 1));
      second = db.transaction().execute((late) => importing(late, file("Three.").toReversed()));
      await until("the second waits", () => locksAwaited(db));
      await importing(tx, file("Two.").slice(1));
    });
    expect(await second).toMatchObject({ outcomes: ["corrected", "corrected"] });
  });

  test("c109: waits for others that are the first to import some of its atoms", async () => {
    const { db } = opened();
    const importing = (tx: Tx, content: string, formerIds: readonly string[]) =>
      importAtoms(
        tx,
        REACH,
        DIARY,
        formerIds.map((formerId) => anAtom({ formerId, content })),
      );
    const begin = (content: string, formerIds: readonly string[]) =>
      db.transaction().execute((tx) => importing(tx, content, formerIds));
    let [hasImported, hasEnded] = [false, false];
    const others: ReturnType<typeof begin>[] = [];
    await db.transaction().execute(async (tx) => {
      await importing(tx, "First.", ["r"]);
      const second = async () => {
        const made = await db.transaction().execute(async (early) => {
          const saved = await importing(early, "Second.", ["p"]);
          hasImported = true;
          await until("the third waits", () => locksAwaited(db));
          return saved;
        });
        hasEnded = true;
        return made;
      };
      others.push(second());
      await until("the second has imported, or waits", async () => hasImported || (await locksAwaited(db)) > 0);
      others.push(begin("Third.", ["p", "q", "r"]));
      await until("the third waits", async () => (await locksAwaited(db)) >= (hasEnded ? 1 : 2));
      others.push(begin("Fourth.", ["p", "q"]));
      await until("the fourth waits", async () => (await locksAwaited(db)) >= (hasEnded ? 2 : 3));
    });
    const outcomes = (await Promise.all(others)).map((made) => made?.outcomes);
    expect(outcomes).toEqual([["created"], ["corrected", "created", "corrected"], ["corrected", "corrected"]]);
  });
});

/** Returns the number of sessions that wait for a lock. */
async function locksAwaited(db: Db): Promise<number> {
  const { rows } = await sql`select from pg_stat_activity
    where wait_event_type = 'Lock' and datname = current_database()`.execute(db);
  return rows.length;
}
