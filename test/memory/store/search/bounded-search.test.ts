import { sql } from "kysely";
import { beforeAll, expect, test } from "vitest";
import type { Reach } from "../../../../domain/access/reach.ts";
import { listAtoms } from "../../../../memory/store/lists/atom-list.ts";
import type { Atom } from "../../../../memory/store/rows/atom.ts";
import { recallAtoms } from "../../../../memory/store/search/atom-recall.ts";
import { rankAtoms, searchAtoms } from "../../../../memory/store/search/atom-search.ts";
import type { AtomSearchBounds } from "../../../../memory/store/search/candidates/search-bounds.ts";
import type { ListPage } from "../../../../store/libraries/page.ts";
import { describeNightlyOnEachEngine } from "../../../env/database/engines.ts";
import { addTeamsWithLibraries } from "../../libraries.ts";

const TEAM_A: Reach = { teamId: "team-a", libraryIds: null };
/** So low that a few hundred atoms are far more than a search looks at. */
const LOW: AtomSearchBounds = {
  sample: 100,
  indexed: 40,
  newest: 30,
  important: 10,
  bytes: 1 << 20,
  similarSample: 20,
  similar: 30,
  similarBytes: 1 << 20,
};
const ALL: { libraryId: null; tags: readonly string[]; limit: number } = { libraryId: null, tags: [], limit: 100 };

describeNightlyOnEachEngine("searches that look at few of many atoms", (opened) => {
  /**
   * Number 1 is the oldest; every atom has "often" and its own number. Their ids, by whose bits a search samples them, are
   * the same each time.
   */
  const fill = (libraryId: string, teamId: string, [from, to]: readonly [number, number], words = "") =>
    sql`insert into atoms (id, library_id, team_id, content, tags, importance, created_at, updated_at)
      select md5(${libraryId}::text || n || ${words}::text)::uuid, ${libraryId}, ${teamId}, 'often usual ' || case when n = 3 then 'zebra ' else '' end
          || case when n = 5 then 'usual often ' else '' end || 'number' || n || ' ' || ${words},
        case when n = 7 then array['old'] else array['tagged'] end, 5 + (n = 2)::integer, at, at
      from generate_series(${from}::integer, ${to}::integer) n,
        lateral (select timestamptz '2026-11-20' + n * interval '1 second' as at) made`.execute(opened().db);

  beforeAll(async () => {
    await addTeamsWithLibraries(opened());
    await fill("lib-diary", "team-a", [1, 300]);
    await fill("lib-handbook", "team-a", [301, 400]);
  });

  const numbersOf = (atoms: readonly { content: string }[]): number[] =>
    atoms.map(({ content }) => Number(/number(\d+)/.exec(content)?.[1]));
  const search = async (query: string, reach = TEAM_A, asked: Partial<typeof ALL> = {}) =>
    numbersOf((await searchAtoms(opened().db, reach, { ...ALL, ...asked, query }, LOW)).items.map(({ atom }) => atom));
  const recall = async (query: string, reach = TEAM_A, asked: Partial<typeof ALL> = {}) =>
    numbersOf((await recallAtoms(opened().db, reach, { ...ALL, ...asked, query }, LOW)).atoms);

  test("b86: what is rare is found wherever it is, alone and beside words that every atom has", async () => {
    for (const query of ["zebra", "zebra or unheard", "usual zebra -unheard"]) {
      expect(await search(query), query).toEqual([3]);
    }
    expect((await search("often zebra"))[0], "before the nearest, which have one of the words").toBe(3);
    expect((await search("often number3"))[0], "before number30 and the like").toBe(3);
    expect(await search("zebra -often")).toEqual([]);
    expect(new Set((await search("number1 or number200 or number399")).slice(0, 3))).toEqual(new Set([1, 200, 399]));
    expect(await search("-often")).toEqual([]);
  });

  test("a topic finds what has a word of it with a slip, though others fill the answer with its words as they stand", async () => {
    expect(await recall("usual zerba", TEAM_A, { limit: 5 })).toContain(3);
    expect(await recall("usual often", TEAM_A, { limit: 5 })).toHaveLength(5);
  });

  test("b86: of what every atom has, the newest of each library and the most important are found, none twice", async () => {
    const found = await search("often");
    expect(found).toEqual(expect.arrayContaining([400, 300, 2]));
    expect(new Set(found).size).toBe(found.length);
    expect(found.length).toBeLessThan(100);
    expect(await search("often"), "and the same ones each time").toEqual(found);
  });

  test("b86: a question is answered by its rare words first", async () => {
    const [first] = await recall("Is the zebra often the usual one?");
    expect(first).toBe(3);
    expect(await recall("often")).toEqual(expect.arrayContaining([400, 300]));
  });

  test("b86: a tag that one old atom has is found, with a frequent word and on a page", async () => {
    expect(await search("often", TEAM_A, { tags: ["old"] })).toEqual([7]);
    expect(await search("often", TEAM_A, { tags: ["none"] })).toEqual([]);
    expect(await search("often", TEAM_A, { tags: ["tagged"] })).toContain(400);
  });

  test("b86: pages of a tag are whole, whether the index answers or the list is walked", async () => {
    const read = async (tag: string, bounds: { indexed: number; walked: number }) => {
      const seen: number[] = [];
      for (let after = null; ; ) {
        const page = { libraryId: null, tags: [tag], after, limit: 60 };
        const { items: atoms }: ListPage<Atom> = await listAtoms(opened().db, TEAM_A, page, bounds);
        const last = atoms.at(-1);
        if (last === undefined) return seen;
        seen.push(...numbersOf(atoms));
        after = { at: last.createdAt, id: last.id };
      }
    };
    const tagged = Array.from({ length: 400 }, (_, i) => 400 - i).filter((n) => n !== 7);
    expect(await read("tagged", { indexed: 10, walked: 100 })).toEqual(tagged);
    expect(await read("tagged", { indexed: 1_000, walked: 100 })).toEqual(tagged);
    expect(await read("old", { indexed: 0, walked: 100 })).toEqual([7]);
    expect(await read("none", { indexed: 0, walked: 100 })).toEqual([]);
  });

  test("b60: what another team stores changes neither what is found nor its order", async () => {
    const queries = ["often", "zebra", "often usual", "number9 or number11", "zebra or often"];
    const ask = async () => [await Promise.all(queries.map((query) => search(query))), await recall("often zebra")];
    const before = await ask();
    // With our library's name as a tag, and our words: neither makes them ours.
    await fill("lib-b-notes", "team-b", [1, 400], "zebra zebra number9 number11");
    await sql`update atoms set tags = tags || array['library lib-diary', 'team team-a'] where team_id = 'team-b'`.execute(
      opened().db,
    );
    expect(await ask()).toEqual(before);
    await sql`delete from atoms where team_id = 'team-b'`.execute(opened().db);
  });

  test("b58: words like those of another team, or of a library out of reach, find nothing of theirs", async () => {
    await fill("lib-b-notes", "team-b", [31, 60], "quagga");
    const handbook: Reach = { teamId: "team-a", libraryIds: ["lib-handbook"] };
    const theirs: Reach = { teamId: "team-b", libraryIds: null };
    // Before an atom is read by its id, which its reach decides again.
    const ranks = (query: string, reach: Reach) => rankAtoms(opened().db, reach, { ...ALL, query }, LOW);
    for (const query of ["quagg", "uagga", "quaga"]) {
      expect(await ranks(query, TEAM_A), query).toEqual([]);
      expect(await recall(query), query).toEqual([]);
      expect(await search(query, theirs), query).not.toEqual([]);
    }
    for (const query of ["zebr", "ebra", "zerba"]) {
      expect(await search(query), query).toEqual([3]);
      for (const reach of [handbook, theirs, { teamId: "team-b", libraryIds: ["lib-diary"] }]) {
        expect(await ranks(query, reach), query).toEqual([]);
        expect(await recall(query, reach), query).toEqual([]);
      }
    }
    await sql`delete from atoms where team_id = 'team-b'`.execute(opened().db);
  });

  test("b58: a list of libraries bounds every search", async () => {
    const one: Reach = { teamId: "team-a", libraryIds: ["lib-handbook"] };
    expect(await search("zebra", one)).toEqual([]);
    expect(Math.min(...(await search("often", one)))).toBeGreaterThan(300);
    expect(await search("often", { teamId: "team-b", libraryIds: ["lib-diary"] })).toEqual([]);
  });
});
