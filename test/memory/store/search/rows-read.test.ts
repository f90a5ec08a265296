import { type Kysely, sql } from "kysely";
import { beforeAll, expect, test } from "vitest";
import type { Reach } from "../../../../domain/access/reach.ts";
import { listAtoms } from "../../../../memory/store/lists/atom-list.ts";
import { countAtoms } from "../../../../memory/store/lists/library-summary.ts";
import { recallAtoms } from "../../../../memory/store/search/atom-recall.ts";
import { searchAtoms } from "../../../../memory/store/search/atom-search.ts";
import type { Database } from "../../../../store/database/schema.ts";
import { describeNightlyOnEachEngine } from "../../../env/database/engines.ts";
import { NIGHTLY } from "../../../env/nightly.ts";
import { COMMON_TAG, EVERYWHERE, fillWithAtoms, RARE, RARE_TAG, SOMETIMES, wordOfRank } from "../filled-library.ts";
import { rowsRead } from "../rows-read.ts";

/** More than any question may read. */
const ATOMS = NIGHTLY ? 20_000 : 9_000;
const REACH: Reach = { teamId: "team-a", libraryIds: null };
const FEW: Reach = { teamId: "team-a", libraryIds: ["lib-diary", "lib-ops"] };
const LIBRARY = "lib-diary";
const search = { libraryId: LIBRARY, tags: [], limit: 20 };
const page = { libraryId: LIBRARY, after: null, limit: 20 };
const QUESTION = [EVERYWHERE, SOMETIMES, RARE, ...Array.from({ length: 17 }, (_, i) => wordOfRank(i * i + 1))];

type Db = Kysely<Database>;

/** Each question, and how many rows of the atoms it may read. */
const QUESTIONS: readonly (readonly [string, number, (db: Db) => Promise<unknown>])[] = [
  ["a rare word", 1_300, (db) => searchAtoms(db, REACH, { ...search, query: RARE })],
  ["a word in 5 %", 2_000, (db) => searchAtoms(db, REACH, { ...search, query: SOMETIMES })],
  [
    "the beginning of a word in 5 %",
    1_300,
    (db) => searchAtoms(db, REACH, { ...search, query: SOMETIMES.slice(0, 4) }),
  ],
  ["a word in every atom", 3_500, (db) => searchAtoms(db, REACH, { ...search, query: EVERYWHERE })],
  ["all but one word", 3_500, (db) => searchAtoms(db, REACH, { ...search, query: `-${RARE}` })],
  ["a question", 5_000, (db) => recallAtoms(db, REACH, { ...search, query: QUESTION.join(" ") })],
  ["any of its words", 5_000, (db) => searchAtoms(db, REACH, { ...search, query: QUESTION.join(" or ") })],
  ["the most important", 100, (db) => listAtoms(db, REACH, { ...page, sort: "importance", limit: 10 })],
  ["how many there are", 1_100, (db) => countAtoms(db, REACH, LIBRARY)],
  ["a page", 100, (db) => listAtoms(db, REACH, page)],
  ["a page of a list of libraries", 100, (db) => listAtoms(db, FEW, { ...page, libraryId: null })],
  ["a page of a frequent tag", 8_000, (db) => listAtoms(db, REACH, { ...page, tags: [COMMON_TAG] })],
  ["a page of a tag in the oldest atom", 100, (db) => listAtoms(db, REACH, { ...page, tags: [RARE_TAG] })],
  ["a page of a tag in no atom", 100, (db) => listAtoms(db, REACH, { ...page, tags: ["none"] })],
];

describeNightlyOnEachEngine("a memory of many atoms", (opened) => {
  beforeAll(() => fillWithAtoms(opened(), ATOMS));

  test.for(["without statistics", "with statistics"])(
    "b87: no question reads the table whole, and each reads a bounded number of rows, %s",
    async (statistics) => {
      if (statistics === "with statistics") await sql`analyze atoms`.execute(opened().db);
      for (const [name, bound, question] of QUESTIONS) {
        const { scans, rows } = await rowsRead(opened().db, question);
        expect({ name, scans }).toEqual({ name, scans: 0 });
        expect(rows, name).toBeLessThanOrEqual(bound);
      }
    },
  );
});
