import { sql } from "kysely";
import { beforeAll, expect, test } from "vitest";
import type { Reach } from "../../../../domain/access/reach.ts";
import { listAtoms } from "../../../../memory/store/lists/atom-list.ts";
import type { Atom, AtomPosition } from "../../../../memory/store/rows/atom.ts";
import type { AtomFilter } from "../../../../memory/store/rows/atom-filter.ts";
import { positionOf, SORTS, type Sort } from "../../../../memory/store/rows/atom-order.ts";
import { recallAtoms } from "../../../../memory/store/search/atom-recall.ts";
import { searchAtoms } from "../../../../memory/store/search/atom-search.ts";
import type { ListPage } from "../../../../store/libraries/page.ts";
import { describeNightlyOnEachEngine } from "../../../env/database/engines.ts";
import { addTeamsWithLibraries } from "../../libraries.ts";

const TEAM_A: Reach = { teamId: "team-a", libraryIds: null };
const BEGIN = Date.UTC(2026, 10, 1);
const MINUTE = 60_000;
const ATOMS = 120;

type Expected = {
  readonly n: number;
  readonly tags: readonly string[];
  readonly source: string | null;
  readonly importance: number;
  readonly created: number;
  readonly updated: number;
};

/** As the statement of {@link fill} makes them. */
const ALL: readonly Expected[] = Array.from({ length: ATOMS }, (_, at) => {
  const n = at + 1;
  return {
    n,
    tags: [...(n % 2 === 0 ? ["even"] : []), ...(n % 3 === 0 ? ["third"] : []), ...(n % 40 === 0 ? ["rare"] : [])],
    source: n % 5 === 0 ? null : `docs/${n % 4}/page`,
    importance: n % 11,
    created: BEGIN + n * MINUTE,
    updated: BEGIN + (n % 7 === 0 ? n + 1_000 : n) * MINUTE,
  };
});

const FILTERS: readonly (readonly [string, AtomFilter, (atom: Expected) => boolean])[] = [
  ["every tag", { tags: ["even", "third"] }, ({ tags }) => tags.includes("even") && tags.includes("third")],
  ["any tag", { anyTags: ["rare", "third"] }, ({ tags }) => tags.includes("rare") || tags.includes("third")],
  ["since", { since: BEGIN + 100 * MINUTE }, ({ updated }) => updated >= BEGIN + 100 * MINUTE],
  ["until", { until: BEGIN + 20 * MINUTE }, ({ updated }) => updated < BEGIN + 20 * MINUTE],
  ["source", { source: "docs/3/" }, ({ source }) => source?.startsWith("docs/3/") === true],
  ["importance", { importance: 9 }, ({ importance }) => importance >= 9],
  [
    "all of them",
    { tags: ["even"], since: BEGIN + 30 * MINUTE, source: "docs/", importance: 4 },
    ({ tags, updated, source, importance }) =>
      tags.includes("even") && updated >= BEGIN + 30 * MINUTE && source !== null && importance >= 4,
  ],
  ["a source with signs of a pattern", { source: "docs/%" }, () => false],
];

const BEFORE: Readonly<Record<Sort, (a: Expected, b: Expected) => number>> = {
  newest: (a, b) => b.created - a.created,
  oldest: (a, b) => a.created - b.created,
  updated: (a, b) => b.updated - a.updated,
  importance: (a, b) => b.importance - a.importance || b.updated - a.updated,
};

describeNightlyOnEachEngine("atoms of a filter", (opened) => {
  beforeAll(async () => {
    const { db } = opened();
    await addTeamsWithLibraries(opened());
    const given = JSON.stringify(ALL);
    await sql`insert into atoms (library_id, team_id, content, tags, source, importance, created_at, updated_at)
      select case when (a ->> 'n')::integer % 2 = 0 then 'lib-diary' else 'lib-handbook' end, 'team-a',
        'harbour number' || (a ->> 'n'), array(select jsonb_array_elements_text(a -> 'tags')), a ->> 'source',
        (a ->> 'importance')::float8, to_timestamp((a ->> 'created')::float8 / 1000), to_timestamp((a ->> 'updated')::float8 / 1000)
      from jsonb_array_elements(${given}::jsonb) a`.execute(db);
  });

  const numberOf = ({ content }: { content: string }) => Number(/\d+$/.exec(content)?.[0]);
  const numbers = (sort: Sort, passes: (atom: Expected) => boolean) =>
    ALL.filter(passes)
      .toSorted(BEFORE[sort])
      .map(({ n }) => n);

  test.for(FILTERS)("%s: a list has those that pass, whole over pages, in each order", async ([, filter, passes]) => {
    for (const sort of SORTS) {
      for (const bounds of [
        { indexed: 3_000, walked: 4_000 },
        { indexed: 0, walked: 60 },
      ]) {
        const seen: number[] = [];
        let after: AtomPosition | null = null;
        for (;;) {
          const page = { ...filter, libraryId: null, sort, after, limit: 17 };
          const { items: atoms }: ListPage<Atom> = await listAtoms(opened().db, TEAM_A, page, bounds);
          const last = atoms.at(-1);
          if (last === undefined) break;
          seen.push(...atoms.map(numberOf));
          after = positionOf(sort, last);
        }
        expect(seen, sort).toEqual(numbers(sort, passes));
      }
    }
  });

  test.for(FILTERS)(
    "%s: a search and a recall find none that does not pass, by exact words and by similar ones",
    async ([, filter, passes]) => {
      const expected = numbers("newest", passes).toSorted();
      for (const query of ["harbour", "harbuor", "harb"]) {
        const asked = { ...filter, query, libraryId: null, limit: ATOMS };
        const { items: hits } = await searchAtoms(opened().db, TEAM_A, { ...asked, sort: "newest" });
        expect(
          hits.map(({ atom }) => numberOf(atom)),
          query,
        ).toEqual(numbers("newest", passes));
        const { atoms: recalled } = await recallAtoms(opened().db, TEAM_A, asked);
        expect(expected, query).toEqual(expect.arrayContaining(recalled.map(numberOf)));
        if (expected.length > 0) expect(recalled.length).toBeGreaterThan(0);
      }
    },
  );

  test("a search's pages follow one another, in each order, also where an atom of the page before has gone", async () => {
    for (const sort of ["rank", ...SORTS] as const) {
      const asked = { query: "harbour", libraryId: null, sort };
      const { items: whole } = await searchAtoms(opened().db, TEAM_A, { ...asked, limit: ATOMS });
      const paged: string[] = [];
      let after: AtomPosition | null = null;
      for (;;) {
        const { items: hits } = await searchAtoms(opened().db, TEAM_A, { ...asked, after, limit: 25 });
        const last = hits.at(-1);
        if (last === undefined) break;
        paged.push(...hits.map(({ atom }) => atom.id));
        after = { at: last.position, id: last.atom.id };
      }
      expect(paged, sort).toEqual(whole.map(({ atom }) => atom.id));
      const gone = { at: 25, id: "00000000-0000-7000-8000-000000000000" };
      const [next] = (await searchAtoms(opened().db, TEAM_A, { ...asked, after: gone, limit: 1 })).items;
      expect(next?.atom.id, sort).toBe(paged[25]);
    }
  });
});
