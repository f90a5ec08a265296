import { sql } from "kysely";
import { beforeAll, beforeEach, expect, test } from "vitest";
import type { Reach } from "../../../../domain/access/reach.ts";
import { type AtomDraft, correctAtom, insertAtom } from "../../../../memory/store/writes/atom-writes.ts";
import { findNearDuplicates } from "../../../../memory/store/writes/near-duplicates.ts";
import { describeNightlyOnEachEngine } from "../../../env/database/engines.ts";
import { atomEntriesRead } from "../../../env/database/rows-read.ts";
import { addTeamsWithLibraries } from "../../libraries.ts";
import { dropPartsIndex } from "../filled-library.ts";
import { PLAIN } from "../plain-atom.ts";

const TEAM_A: Reach = { teamId: "team-a", libraryIds: null };
const NOW = Date.UTC(2026, 10, 20);
const FREEZE = "The deploy freeze ends on Monday.";
const JENKINS = "The builds run on Jenkins until the move.";

describeNightlyOnEachEngine("near-duplicates", (opened) => {
  beforeAll(() => addTeamsWithLibraries(opened()));
  beforeEach(() => sql`delete from atoms`.execute(opened().db));

  async function save(libraryId: string, content: string, reach = TEAM_A, other: Partial<AtomDraft> = {}) {
    const atom = await insertAtom(opened().db, reach, { ...PLAIN, content, libraryId, at: NOW, ...other });
    return atom?.id ?? "";
  }
  const near = async (content: string, libraryId = "lib-diary", reach = TEAM_A, validTo?: number) => {
    const found = await findNearDuplicates(opened().db, reach, libraryId, content, validTo);
    return found.map(({ atom, similarity, otherNumbers }) => [atom.id, similarity, ...(otherNumbers ? ["other"] : [])]);
  };

  test("the same statement comes first, then what is alike, of this library alone", async () => {
    const alike = await save("lib-diary", "The deploy freeze ended on Monday.");
    const same = await save("lib-diary", "the deploy freeze ends on monday");
    await save("lib-diary", "The kettle is on.");
    await save("lib-handbook", FREEZE);
    expect(await near(FREEZE)).toEqual([
      [same, 1],
      [alike, expect.any(Number)],
    ]);
  });

  test("what has other numbers is found behind what is a duplicate", async () => {
    const at = (port: number) => `Port ${port}: payments.`;
    const ids = [await save("lib-diary", at(8080)), await save("lib-diary", at(9090))];
    expect((await near(at(7070))).toSorted()).toEqual(ids.map((id) => [id, expect.any(Number), "other"]).toSorted());
    const same = await save("lib-diary", at(7070));
    for (const port of [1, 2, 3, 4, 5]) await save("lib-diary", at(port));
    const [first, ...others] = await near(at(7070));
    expect(first).toEqual([same, 1]);
    expect(new Set(others.map(([, , kind]) => kind))).toEqual(new Set(["other"]));
  });

  test("what has another sign is found behind what is a duplicate", async () => {
    const inLanguage = (name: string) => `The billing service is written in ${name}`;
    for (const name of ["C", "C++", "C--"]) await save("lib-diary", inLanguage(name));
    const same = await save("lib-diary", inLanguage("C#"));
    const [first, ...others] = await near(inLanguage("C#"));
    expect(first).toEqual([same, 1]);
    expect(new Set(others.map(([, , kind]) => kind))).toEqual(new Set(["other"]));
  });

  test("what another atom replaces is none, since it says no longer what holds", async () => {
    const at = (port: number) => `The payments service listens on port ${port}.`;
    const old = await save("lib-diary", at(8080));
    const links = [{ rel: "replaces", id: old }];
    const atom = { ...PLAIN, content: at(9090), links, libraryId: "lib-diary", at: NOW };
    const by = (await insertAtom(opened().db, TEAM_A, atom))?.id;
    expect(await near(at(8080))).toEqual([[by, expect.any(Number), "other"]]);
  });

  test("a statement whose validity has ended is none: said again, it is true again", async () => {
    await save("lib-diary", FREEZE, TEAM_A, { validTo: NOW - 1 });
    expect(await near(FREEZE)).toEqual([]);
    const again = await save("lib-diary", FREEZE, TEAM_A, { validFrom: NOW, validTo: Date.UTC(2100, 0, 1) });
    expect(await near(FREEZE)).toEqual([[again, 1]]);
  });

  test("a statement of the past is one of what was true until then, while one that is to end is not", async () => {
    const id = await save("lib-diary", JENKINS, TEAM_A, { validTo: NOW - 1 });
    expect(await near(JENKINS, "lib-diary", TEAM_A, NOW - 1)).toEqual([[id, 1]]);
    expect(await near(JENKINS, "lib-diary", TEAM_A, NOW - 86_400_000), "of another time").toEqual([]);
    expect(await near(JENKINS, "lib-diary", TEAM_A, Date.UTC(2100, 0, 1))).toEqual([]);
  });

  test("a statement that is true again is none, however many that are like it were saved before it", async () => {
    const at = (load: number) => `The load of the payments service is ${load}.`;
    for (let load = 1; load <= 40; load += 1) await save("lib-diary", at(load));
    await save("lib-diary", at(7070), TEAM_A, { at: NOW + 1 });
    expect((await near(at(7070)))[0]).toEqual([expect.any(String), 1]);
    await save("lib-diary", at(8080), TEAM_A, { at: NOW + 2 });
    expect((await near(at(7070))).filter(([, similarity]) => similarity === 1)).toEqual([]);
  });

  test("a statement that was said again after all that is like it is a duplicate, however often it was true before", async () => {
    const at = (load: number) => `The load of the payments service is ${load}.`;
    const loads = [7070, 1, 2, 3, 7070, ...Array.from({ length: 40 }, (_, n) => 10 + n), 7070];
    for (const [day, load] of loads.entries()) await save("lib-diary", at(load), TEAM_A, { at: NOW + day });
    expect((await near(at(7070))).filter(([, similarity]) => similarity === 1)).toHaveLength(1);
  });

  test.each([0, Date.UTC(1969, 6, 20)])(
    "an atom of the time %d, as an import may bring it, is found by what is alike",
    async (at) => {
      const id = await save("lib-diary", "The builds ran on Jenkins until the move.", TEAM_A, { at });
      expect(await near(JENKINS)).toEqual([[id, expect.any(Number)]]);
    },
  );

  test("b58: an atom of another team, and of a library that is not allowed, is none", async () => {
    await save("lib-b-notes", FREEZE, { teamId: "team-b", libraryIds: null });
    await save("lib-handbook", FREEZE);
    expect(await near(FREEZE, "lib-b-notes")).toEqual([]);
    expect(await near(FREEZE, "lib-handbook", { teamId: "team-a", libraryIds: ["lib-diary"] })).toEqual([]);
  });

  test("a correction is found by what it says now, and no more by what it said", async () => {
    const id = await save("lib-diary", "The kettle is on.");
    await correctAtom(opened().db, TEAM_A, id, { content: FREEZE, expected: null, at: NOW });
    expect(await near(FREEZE)).toEqual([[id, 1]]);
    expect(await near("The kettle is on.")).toEqual([]);
  });

  test("b87: only rows that share something of the statement are read, however many there are", async () => {
    const { db } = opened();
    const id = await save("lib-diary", FREEZE);
    await dropPartsIndex(db);
    await sql`insert into atoms (library_id, team_id, content, tags, importance, created_at, updated_at, sketch)
      select 'lib-diary', 'team-a', 'atom ' || n, '{}', 5, now(), now(), array[n, -n] from generate_series(1, 3000) n`.execute(
      db,
    );
    await sql`analyze atoms`.execute(db);
    await db.connection().execute(async (connection) => {
      const before = await atomEntriesRead(connection);
      const [found] = await findNearDuplicates(connection, TEAM_A, "lib-diary", FREEZE);
      expect(found?.atom.id).toBe(id);
      expect((await atomEntriesRead(connection)) - before).toBeLessThan(300);
    });
  });
});
