import { sql } from "kysely";
import { beforeAll, beforeEach, expect, test } from "vitest";
import type { Reach } from "../../../../domain/access/reach.ts";
import { listAtoms } from "../../../../memory/store/lists/atom-list.ts";
import { listRevisions } from "../../../../memory/store/lists/atom-revisions.ts";
import { countAtoms } from "../../../../memory/store/lists/library-summary.ts";
import type { Atom, AtomFields } from "../../../../memory/store/rows/atom.ts";
import { findAtoms } from "../../../../memory/store/rows/atoms.ts";
import { recallAtoms } from "../../../../memory/store/search/atom-recall.ts";
import { searchAtoms } from "../../../../memory/store/search/atom-search.ts";
import { correctAtom, deleteAtom, insertAtom } from "../../../../memory/store/writes/atom-writes.ts";
import type { ListPage } from "../../../../store/libraries/page.ts";
import { findLibraryById, findLibraryByName } from "../../../../store/libraries/reachable-libraries.ts";
import { cpuTimeOf } from "../../../env/cpu-time.ts";
import { describeNightlyOnEachEngine } from "../../../env/database/engines.ts";
import { addTeamsWithLibraries } from "../../libraries.ts";
import { PLAIN } from "../plain-atom.ts";

const TEAM_A: Reach = { teamId: "team-a", libraryIds: null };
const TEAM_B: Reach = { teamId: "team-b", libraryIds: null };
const DIARY_ONLY: Reach = { teamId: "team-a", libraryIds: ["lib-diary"] };
const NOON = Date.UTC(2026, 10, 20, 12);
const UNKNOWN = "00000000-0000-7000-8000-000000000000";

describeNightlyOnEachEngine("atoms", (opened) => {
  beforeAll(() => addTeamsWithLibraries(opened()));
  beforeEach(async () => {
    await sql`delete from atoms`.execute(opened().db);
    await sql`update libraries set state = 'active'`.execute(opened().db);
  });

  async function save(libraryId: string, fields: Partial<AtomFields> = {}, at = NOON, reach = TEAM_A) {
    const all = { ...PLAIN, ...fields };
    const atom = await insertAtom(opened().db, reach, { ...all, libraryId, at });
    if (atom === undefined) throw new Error(`no atom was stored in ${libraryId}`);
    return atom;
  }
  const page = { libraryId: null, after: null, limit: 100 };

  test("what is saved is read back as it was, with its library, its times and revision 1", async () => {
    const fields = {
      content: 'Ünïcode "quotes" {braces}\n🙂',
      tags: ["a,b", 'c"d', "{e}"],
      source: "https://x.test/?a=1",
      importance: 0.1,
      metadata: { "a b": 'c"d', n: -0.5, yes: true, __proto: "x" },
      expiresAt: Date.UTC(2999, 0, 1, 0, 0, 0, 7),
      validFrom: Date.UTC(1, 0, 1) - 1,
      validTo: Date.UTC(2999, 0, 1, 0, 0, 0, 6),
    };
    const saved = await save("lib-handbook", fields, NOON + 123);
    expect(saved).toEqual({
      id: saved.id,
      library: { id: "lib-handbook", namespace: "a-dev", name: "handbook" },
      ...fields,
      links: [],
      createdAt: NOON + 123,
      updatedAt: NOON + 123,
      revision: 1,
    });
    expect(await findAtoms(opened().db, TEAM_A, [saved.id])).toEqual([saved]);
  });

  test("b58: an atom of another team, or of a library that is not allowed, is not there for any question", async () => {
    const ours = await save("lib-handbook", { content: "The secret sauce.", tags: ["t"] });
    for (const reach of [TEAM_B, DIARY_ONLY, { ...TEAM_A, libraryIds: [] }]) {
      expect(await findAtoms(opened().db, reach, [ours.id])).toEqual([]);
      expect((await listAtoms(opened().db, reach, { ...page, tags: ["t"] })).items).toEqual([]);
      expect((await listAtoms(opened().db, reach, { ...page, libraryId: "lib-handbook" })).items).toEqual([]);
      expect(await listRevisions(opened().db, reach, ours.id, { before: null, limit: 10 })).toBeUndefined();
      expect(await correctAtom(opened().db, reach, ours.id, { content: "stolen", expected: 1, at: NOON })).toEqual({
        kind: "absent",
      });
      expect(await deleteAtom(opened().db, reach, ours.id, null)).toEqual({ kind: "absent" });
      expect(await countAtoms(opened().db, reach, "lib-handbook")).toEqual({ atoms: 0, isMore: false });
      expect(await insertAtom(opened().db, reach, { ...ours, libraryId: "lib-handbook", at: NOON })).toBeUndefined();
      expect(await findLibraryById(opened().db, reach, "lib-handbook")).toBeUndefined();
      expect(await findLibraryByName(opened().db, reach, "a-dev", "handbook")).toBeUndefined();
    }
    expect(await findAtoms(opened().db, TEAM_A, [ours.id])).toEqual([ours]);
  });

  test("b60: no row and no rank of another team, nor of another library, comes from a search", async () => {
    await save("lib-handbook", { content: "Secret sauce of the handbook." });
    await save("lib-diary", { content: "Dear diary, the sauce." });
    await save("lib-b-notes", { content: "Sauce of team B. Sauce." }, NOON, TEAM_B);
    const alone = async (reach: Reach) => {
      const { items: hits } = await searchAtoms(opened().db, reach, {
        query: "sauce",
        libraryId: null,
        tags: [],
        limit: 10,
      });
      const { atoms: recalled } = await recallAtoms(opened().db, reach, {
        query: "sauce",
        libraryId: null,
        tags: [],
        limit: 10,
      });
      return {
        hits,
        libraries: hits.map(({ atom }) => atom.library.id),
        recalled: recalled.map((atom) => atom.library.id),
      };
    };
    const before = await alone(DIARY_ONLY);
    expect(before.libraries).toEqual(["lib-diary"]);
    expect(before.recalled).toEqual(["lib-diary"]);
    expect((await alone(TEAM_A)).libraries.sort()).toEqual(["lib-diary", "lib-handbook"]);
    for (let i = 0; i < 20; i++) await save("lib-b-notes", { content: "sauce ".repeat(20) }, NOON, TEAM_B);
    expect(await alone(DIARY_ONLY), "the others' atoms move no rank").toEqual(before);
  });

  test("a library that is not active takes its atoms with it, and brings them back", async () => {
    const atom = await save("lib-diary");
    await sql`update libraries set state = 'retained' where id = 'lib-diary'`.execute(opened().db);
    expect(await findAtoms(opened().db, TEAM_A, [atom.id])).toEqual([]);
    expect(await findLibraryByName(opened().db, TEAM_A, "a-dev", "diary")).toBeUndefined();
    await sql`update libraries set state = 'active' where id = 'lib-diary'`.execute(opened().db);
    expect(await findAtoms(opened().db, TEAM_A, [atom.id])).toEqual([atom]);
  });

  test("a correction keeps every earlier revision, and changes only what it names", async () => {
    const first = await save("lib-handbook", { content: "One.", tags: ["kept"], source: "s" });
    const second = await correctAtom(opened().db, TEAM_A, first.id, { content: "Two.", expected: 1, at: NOON + 1_000 });
    expect(second).toEqual({
      kind: "corrected",
      atom: { ...first, content: "Two.", revision: 2, updatedAt: NOON + 1_000 },
    });
    await correctAtom(opened().db, TEAM_A, first.id, { source: null, tags: [], expected: null, at: NOON + 2_000 });
    const revisions = await listRevisions(opened().db, TEAM_A, first.id, { before: null, limit: 10 });
    expect(revisions?.items.map(({ revision, content, tags, source }) => [revision, content, tags, source])).toEqual([
      [3, "Two.", [], null],
      [2, "Two.", ["kept"], "s"],
      [1, "One.", ["kept"], "s"],
    ]);
    expect((await listRevisions(opened().db, TEAM_A, first.id, { before: 2, limit: 10 }))?.items).toHaveLength(1);
  });

  test("of corrections of one revision the first wins, and the others learn the present revision", async () => {
    const { id } = await save("lib-handbook");
    const all = await Promise.all(
      Array.from({ length: 8 }, (_, i) =>
        correctAtom(opened().db, TEAM_A, id, { content: `${i}`, expected: 1, at: NOON }),
      ),
    );
    expect(all.filter(({ kind }) => kind === "corrected")).toHaveLength(1);
    expect(all.filter(({ kind }) => kind === "conflict")).toEqual(Array(7).fill({ kind: "conflict", revision: 2 }));
    expect((await listRevisions(opened().db, TEAM_A, id, { before: null, limit: 10 }))?.items).toHaveLength(2);
  });

  test("corrections of whichever revision is present all count, and none is lost", async () => {
    const { id } = await save("lib-handbook");
    await Promise.all(
      Array.from({ length: 8 }, (_, i) =>
        correctAtom(opened().db, TEAM_A, id, { content: `${i}`, expected: null, at: NOON }),
      ),
    );
    const revisions = await listRevisions(opened().db, TEAM_A, id, { before: null, limit: 20 });
    expect(revisions?.items.map(({ revision }) => revision)).toEqual([9, 8, 7, 6, 5, 4, 3, 2, 1]);
    expect(new Set(revisions?.items.map(({ content }) => content)).size).toBe(9);
  });

  test("a clock that went back never makes an atom older than it was", async () => {
    const { id } = await save("lib-handbook");
    const corrected = await correctAtom(opened().db, TEAM_A, id, { content: "later", expected: 1, at: NOON - 60_000 });
    expect(corrected).toMatchObject({ atom: { updatedAt: NOON } });
  });

  test("pages follow one another without loss or repeat, also where many atoms share a moment", async () => {
    for (let i = 0; i < 7; i++) await save("lib-diary", { content: `item ${i}` });
    await save("lib-diary", { content: "newer" }, NOON + 1);
    const seen: string[] = [];
    let after = null;
    for (;;) {
      const { items: atoms }: ListPage<Atom> = await listAtoms(opened().db, TEAM_A, {
        ...page,
        libraryId: "lib-diary",
        after,
        limit: 3,
      });
      seen.push(...atoms.map(({ content }) => content));
      const last = atoms.at(-1);
      if (last === undefined) break;
      after = { at: last.createdAt, id: last.id };
    }
    expect(seen[0]).toBe("newer");
    expect(new Set(seen).size).toBe(8);
    expect(seen).toHaveLength(8);
  });

  test("the tag filter wants the tag whole", async () => {
    await save("lib-diary", { tags: ["deploy", "prod"] });
    expect((await listAtoms(opened().db, TEAM_A, { ...page, tags: ["prod"] })).items).toHaveLength(1);
    expect((await listAtoms(opened().db, TEAM_A, { ...page, tags: ["pro"] })).items).toHaveLength(0);
    const search = { query: "statement", libraryId: null, limit: 10 };
    expect((await searchAtoms(opened().db, TEAM_A, { ...search, tags: ["deploy", "prod"] })).items).toHaveLength(1);
    expect((await searchAtoms(opened().db, TEAM_A, { ...search, tags: ["deploy", "other"] })).items).toHaveLength(0);
  });

  test("search knows word forms, phrases and exclusions, ranks the closest first, and marks it", async () => {
    await save("lib-diary", { content: "Deployments roll out on Tuesdays." });
    await save("lib-diary", { content: "A deployment deploys the deployment of deployments." });
    await save("lib-diary", { content: "Nothing to see." });
    const search = async (query: string) =>
      (await searchAtoms(opened().db, TEAM_A, { query, libraryId: null, tags: [], limit: 10 })).items.map(
        ({ atom, snippet }) => [atom.content.split(" ")[0], snippet],
      );
    expect((await search("deployment")).map(([word]) => word)).toEqual(["A", "Deployments"]);
    expect(await search('"roll out"')).toEqual([["Deployments", "Deployments roll out on Tuesdays."]]);
    expect(await search("deployment -tuesday")).toHaveLength(1);
    expect(await search("nothing or tuesdays")).toHaveLength(2);
    expect(await search("the of and")).toEqual([]);
  });

  test("recall finds by any word of a topic, and prefers the important and the recent", async () => {
    const now = Date.now();
    await save("lib-diary", { content: "The printer is on floor 2.", importance: 0 }, now - 300 * 86_400_000);
    await save("lib-diary", { content: "The printer is on floor 3.", importance: 9 }, now);
    await save("lib-diary", { content: "Lunch is at noon." }, now);
    const { atoms: recalled } = await recallAtoms(opened().db, TEAM_A, {
      query: "Where did they put that printer & scanner?",
      libraryId: "lib-diary",
      tags: [],
      limit: 10,
    });
    expect(recalled.map(({ content }) => content)).toEqual([
      "The printer is on floor 3.",
      "The printer is on floor 2.",
    ]);
  });

  test("the most important come first, the last corrected before its equals", async () => {
    await save("lib-diary", { content: "low", importance: 1 });
    await save("lib-diary", { content: "high, old", importance: 9 });
    await save("lib-diary", { content: "high, new", importance: 9 }, NOON + 1);
    const important = { ...page, libraryId: "lib-diary", sort: "importance", limit: 2 } as const;
    const { items } = await listAtoms(opened().db, TEAM_A, important);
    expect(items.map(({ content }) => content)).toEqual(["high, new", "high, old"]);
  });

  test("a name without a namespace is found for a caller without one, as long as it is the only one", async () => {
    expect(await findLibraryByName(opened().db, TEAM_A, "", "ops")).toMatchObject({ id: "lib-ops" });
    await sql`insert into libraries (id, cluster, namespace, name, team_id, owner_uid, display_name, description, deletion_policy, state)
      values ('lib-ops-2', 'c', 'a-dev', 'ops', 'team-a', 'uid', '', '', 'Delete', 'active')`.execute(opened().db);
    expect(await findLibraryByName(opened().db, TEAM_A, "", "ops")).toBeUndefined();
    expect(await findLibraryByName(opened().db, TEAM_A, "a-prod", "ops")).toMatchObject({ id: "lib-ops" });
    await sql`delete from libraries where id = 'lib-ops-2'`.execute(opened().db);
  });

  test("a deleted atom is gone with its revisions, and ids that are none of ours find nothing", async () => {
    const { id } = await save("lib-diary");
    await correctAtom(opened().db, TEAM_A, id, { content: "x", expected: 1, at: NOON });
    expect(await deleteAtom(opened().db, TEAM_A, id, 99)).toMatchObject({ kind: "conflict" });
    expect(await deleteAtom(opened().db, TEAM_A, id, null)).toEqual({ kind: "deleted", libraryId: "lib-diary" });
    expect(await deleteAtom(opened().db, TEAM_A, id, null)).toEqual({ kind: "absent" });
    const { rows } = await sql`select 1 from atom_revisions where atom_id = ${id}::uuid`.execute(opened().db);
    expect(rows).toEqual([]);
    for (const wrong of [UNKNOWN, "", "1", "x'; drop table atoms; --", `${id}\u0000`]) {
      expect(await findAtoms(opened().db, TEAM_A, [wrong])).toEqual([]);
      expect(await correctAtom(opened().db, TEAM_A, wrong, { content: "x", expected: null, at: NOON })).toEqual({
        kind: "absent",
      });
      expect(await deleteAtom(opened().db, TEAM_A, wrong, null)).toEqual({ kind: "absent" });
    }
  });

  test("c64: ids are UUIDs of version 7, the later the higher, on every PostgreSQL", async () => {
    const ids: string[] = [];
    for (let i = 0; i < 20; i++) ids.push((await save("lib-diary")).id);
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(ids.toSorted()).toEqual(ids);
    expect(Math.abs(Number.parseInt(ids[0]?.replace("-", "").slice(0, 12) ?? "", 16) - Date.now())).toBeLessThan(
      600_000,
    );
  });

  test("b61: searches made to be slow stay within two seconds on a thousand atoms", async () => {
    await sql`insert into atoms (library_id, team_id, content, tags, importance, created_at, updated_at)
      select 'lib-diary', 'team-a', repeat('alpha beta gamma ' || n || ' ', 20), '{}', 5, now(), now()
      from generate_series(1, 1000) n`.execute(opened().db);
    const big = "alpha ".repeat(10_000);
    for (let i = 0; i < 10; i++) await save("lib-diary", { content: big });
    const nested = `${"(alpha or ".repeat(50)}beta${")".repeat(50)}`;
    for (const query of [
      nested,
      "alpha or ".repeat(100),
      "-alpha ".repeat(100),
      '"alpha beta gamma" '.repeat(50),
      "!&|():* ".repeat(100),
    ]) {
      const spent = await cpuTimeOf(async () => {
        await searchAtoms(opened().db, TEAM_A, { query, libraryId: null, tags: [], limit: 100 });
        await recallAtoms(opened().db, TEAM_A, { query, libraryId: null, tags: [], limit: 100 });
      });
      expect(spent, query.slice(0, 40)).toBeLessThan(2_000);
    }
  });
});
