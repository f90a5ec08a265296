import { type Kysely, type KyselyPlugin, sql } from "kysely";
import { beforeAll, expect, test } from "vitest";
import type { Reach } from "../../../domain/access/reach.ts";
import { listAtoms } from "../../../memory/store/lists/atom-list.ts";
import { listRevisions } from "../../../memory/store/lists/atom-revisions.ts";
import type { Atom, AtomPosition } from "../../../memory/store/rows/atom.ts";
import type { AtomFilter } from "../../../memory/store/rows/atom-filter.ts";
import { positionOf, SORTS } from "../../../memory/store/rows/atom-order.ts";
import { readInOrder } from "../../../memory/store/rows/atoms-within.ts";
import { recallAtoms } from "../../../memory/store/search/atom-recall.ts";
import { searchAtoms } from "../../../memory/store/search/atom-search.ts";
import { correctAtom } from "../../../memory/store/writes/atom-writes.ts";
import type { Database } from "../../../store/database/schema.ts";
import { type ListPage, PAGE_BYTES } from "../../../store/libraries/page.ts";
import { describeNightlyOnEachEngine, describeOnPostgres } from "../../env/database/engines.ts";
import { NIGHTLY } from "../../env/nightly.ts";
import { addTeamsWithLibraries } from "../libraries.ts";
import { FOUND_BY, fillWithWorstAtoms, numberOf } from "../worst-atoms.ts";

const REACH: Reach = { teamId: "team-a", libraryIds: null };
const LIBRARY = { libraryId: "lib-diary", after: null, limit: 100 };
const SIZES = Array.from({ length: 60 }, (_, i) => (i % 2 === 0 ? 60_000 : 20_000));
const NUMBERS = SIZES.map((_, i) => i + 1);
/** As much of an atom as there may be: it began when the page was not full yet. */
const ONE_MORE = 100_000;
/** Links are few and short, and come besides. */
const LINKS = SIZES.length * 15_000;
const FILTERS: readonly AtomFilter[] = [{}, { importance: 0 }];

describeNightlyOnEachEngine("a page of atoms", (opened) => {
  beforeAll(async () => {
    await addTeamsWithLibraries(opened());
    await fillWithWorstAtoms(opened(), SIZES);
  });

  const allIds = async () =>
    (await listAtoms(opened().db, REACH, { ...LIBRARY, bytes: 1e9, characters: 20 })).items.map(({ id }) => id);

  test("b109: no more of it than a page's bytes leaves the database, whatever is asked", async () => {
    const ids = await allIds();
    expect(ids).toHaveLength(60);
    for (let revision = 1; revision <= 40; revision++) {
      const change = { content: `${FOUND_BY} 1 ${"x".repeat(60_000 + revision)}`, expected: revision, at: Date.now() };
      await correctAtom(opened().db, REACH, ids[0] ?? "", change);
    }
    const search = { query: FOUND_BY, libraryId: null, limit: 100 };
    const questions: Readonly<Record<string, (db: Kysely<Database>) => Promise<unknown>>> = {
      list: (db) => listAtoms(db, REACH, LIBRARY),
      filter: (db) => listAtoms(db, REACH, { ...LIBRARY, importance: 0 }),
      ids: (db) => readInOrder(db, REACH, ids),
      search: (db) => searchAtoms(db, REACH, search),
      recall: (db) => recallAtoms(db, REACH, search),
      revisions: (db) => listRevisions(db, REACH, ids[0] ?? "", { before: null, limit: 100 }),
    };
    for (const [name, question] of Object.entries(questions)) {
      const sent = await bytesSent(opened().db, question);
      expect(sent, name).toBeGreaterThan(PAGE_BYTES / 2);
      // What search and recall rank by and compare with comes besides, bounded by itself (threats b61).
      if (name !== "search" && name !== "recall") expect(sent, name).toBeLessThan(PAGE_BYTES + ONE_MORE + LINKS);
    }
  });

  // Of 100,000 bytes most pages have one atom, as of 1.
  test.each(NIGHTLY ? [1, 100_000, 300_000] : [1, 300_000])(
    "b109: pages of %i bytes follow one another in each order, of each filter",
    async (bytes) => {
      for (const sort of SORTS) {
        for (const filter of bytes === 1 && !NIGHTLY ? FILTERS.slice(0, 1) : FILTERS) {
          const seen: number[] = [];
          let page: ListPage<Atom> = { items: [], isMore: true };
          for (let after: AtomPosition | null = null; page.isMore; ) {
            page = await listAtoms(opened().db, REACH, { ...LIBRARY, ...filter, sort, after, bytes, limit: 7 });
            const last = page.items.at(-1);
            if (last === undefined) break;
            seen.push(...page.items.map(numberOf));
            after = positionOf(sort, last);
          }
          expect(
            seen.toSorted((a, b) => a - b),
            sort,
          ).toEqual(NUMBERS);
        }
      }
    },
  );

  test("b109: those that have no room are named in their order, and none that is not there", async () => {
    const ids = await allIds();
    const absent = "00000000-0000-7000-8000-000000000000";
    const { atoms, cut } = await readInOrder(opened().db, REACH, [absent, ...ids, ...ids, "x"], { bytes: 100_000 });
    expect(atoms.length).toBeGreaterThan(0);
    expect([...atoms.map(({ id }) => id), ...cut]).toEqual(ids);
    expect((await readInOrder(opened().db, { ...REACH, teamId: "team-b" }, ids, { bytes: 1 })).cut).toEqual([]);
  });

  test("b58, b109: where a page ends says nothing of links that lead beyond the reach", async () => {
    const few: Reach = { ...REACH, libraryIds: ["lib-diary"] };
    const one = async () => (await listAtoms(opened().db, few, { ...LIBRARY, bytes: 170_000 })).items.length;
    const before = await one();
    const { items } = await listAtoms(opened().db, few, { ...LIBRARY, limit: 1 });
    await correctAtom(opened().db, REACH, items[0]?.id ?? "", { links: [], expected: null, at: Date.now() });
    expect(await one()).toBe(before);
  });
});

describeOnPostgres("a page of atoms that are deleted meanwhile", (opened) => {
  beforeAll(async () => {
    await addTeamsWithLibraries(opened());
    await fillWithWorstAtoms(opened(), Array(60).fill(10));
  });

  const TWO = { ...LIBRARY, limit: 2 };
  /** With a column of the rows by which each has found its atoms, and has not read them yet. */
  const QUESTIONS: readonly [string, string, (db: Kysely<Database>) => Promise<ListPage<Atom>>][] = [
    ["a list of a filter", "looked", (db) => listAtoms(db, REACH, { ...TWO, importance: 0 })],
    [
      "a search",
      "rank",
      async (db) => {
        const { items, isMore } = await searchAtoms(db, REACH, { ...TWO, query: FOUND_BY, sort: "newest" });
        return { items: items.map(({ atom }) => atom), isMore };
      },
    ],
  ];

  test.each(QUESTIONS)(
    "b109: %s whose first page is deleted before it is read has the next one, and does not end there",
    async (_name, column, question) => {
      const first = (await question(opened().db)).items.map(({ id }) => id);
      const page = await question(opened().db.withPlugin(onceFound(column, () => deleteAtoms(first))));
      expect(page.items).toHaveLength(2);
      expect(page.items.map(({ id }) => id)).not.toEqual(expect.arrayContaining(first));
      expect(page.isMore).toBe(true);
    },
  );

  const deleteAtoms = (ids: readonly string[]) =>
    sql`delete from atoms where id = any(${ids}::uuid[])`.execute(opened().db);
});

/** Changes the atoms once a statement has given rows with this column. */
function onceFound(column: string, change: () => Promise<unknown>): KyselyPlugin {
  let changed: Promise<unknown> | undefined;
  return {
    transformQuery: ({ node }) => node,
    async transformResult({ result }) {
      const [row] = result.rows;
      if (row !== undefined && column in row) {
        changed ??= change();
        await changed;
      }
      return result;
    },
  };
}

/** Bytes of the rows that a question gets, as JSON with its control characters as they are. */
async function bytesSent(db: Kysely<Database>, question: (db: Kysely<Database>) => Promise<unknown>): Promise<number> {
  let bytes = 0;
  const count: KyselyPlugin = {
    transformQuery: ({ node }) => node,
    async transformResult({ result }) {
      for (const row of result.rows) {
        for (const value of Object.values(row)) {
          bytes += Buffer.byteLength(typeof value === "string" ? value : (JSON.stringify(value) ?? ""));
        }
      }
      return result;
    },
  };
  await question(db.withPlugin(count));
  return bytes;
}
