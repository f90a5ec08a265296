import { sql } from "kysely";
import type { Reach } from "../../domain/access/reach.ts";
import { listAtoms } from "../../memory/store/lists/atom-list.ts";
import { countAtoms } from "../../memory/store/lists/library-summary.ts";
import { recallAtoms } from "../../memory/store/search/atom-recall.ts";
import { searchAtoms } from "../../memory/store/search/atom-search.ts";
import { insertAtom } from "../../memory/store/writes/atom-writes.ts";
import { type ImportedAtom, importAtoms } from "../../memory/store/writes/import-atoms.ts";
import type { Store } from "../../store/database/store.ts";
import { maintainTables } from "../../store/database/table-upkeep.ts";
import { libraryDeletion } from "../../store/libraries/deleted-libraries.ts";
import { addLibrary, addTeam } from "../memory/libraries.ts";
import {
  addAtoms,
  COMMON_TAG,
  EVERYWHERE,
  fillWithAtoms,
  RARE,
  RARE_RUN,
  RARE_TAG,
  SOMETIMES,
  wordOfRank,
} from "../memory/store/filled-library.ts";
import { PLAIN } from "../memory/store/plain-atom.ts";
import {
  COST_HEADS,
  type Cost,
  cells,
  measure,
  measureOnce,
  onOwnPostgres,
  onPGlite,
  type Question,
} from "./questions.ts";
import { figure, table } from "./table.ts";

const ATOMS = Number(process.env.KEYPLANE_BENCH_ATOMS ?? 100_000);

const REACH: Reach = { teamId: "team-a", libraryIds: null };
const FEW: Reach = { teamId: "team-a", libraryIds: ["lib-diary", "lib-handbook"] };
const LIBRARY = "lib-diary";
const QUESTION = [EVERYWHERE, SOMETIMES, ...[1, 2, 3, 5, 8, 12, 20, 35, 60, 100, 150].map(wordOfRank)].concat(
  [300, 500, 900, 2_000, 5_000, 9_000, 15_000].map(wordOfRank),
);
const search = { libraryId: LIBRARY, tags: [], limit: 20 };
const page = { libraryId: LIBRARY, after: null, limit: 20 };

/** What the memory service is asked, by the name of its row. */
const QUESTIONS: Readonly<Record<string, Question>> = {
  "search: a rare word": (db) => searchAtoms(db, REACH, { ...search, query: RARE }),
  "search: a word in 5 %": (db) => searchAtoms(db, REACH, { ...search, query: SOMETIMES }),
  "search: a word in every atom": (db) => searchAtoms(db, REACH, { ...search, query: EVERYWHERE }),
  "recall: a question of 20 words": (db) => recallAtoms(db, REACH, { ...search, query: QUESTION.join(" ") }),
  wake_up: async (db) => {
    await countAtoms(db, REACH, LIBRARY);
    await listAtoms(db, REACH, { ...page, sort: "importance", limit: 10 });
    await listAtoms(db, REACH, { ...page, limit: 10 });
  },
  "a page of one library": (db) => listAtoms(db, REACH, page),
  "a page of a list of libraries": (db) => listAtoms(db, FEW, { ...page, libraryId: null }),
  "a page of a frequent tag": (db) => listAtoms(db, REACH, { ...page, tags: [COMMON_TAG] }),
  "a page of a tag in the oldest atom": (db) => listAtoms(db, REACH, { ...page, tags: [RARE_TAG] }),
  "a page of a tag in no atom": (db) => listAtoms(db, REACH, { ...page, tags: ["none"] }),
  "search: two frequent words, a rare one": (db) =>
    searchAtoms(db, REACH, { ...search, query: `${EVERYWHERE} ${wordOfRank(1)} ${RARE}` }),
  "search: 20 words, any": (db) => searchAtoms(db, REACH, { ...search, query: QUESTION.join(" or ") }),
  "search: 12 frequent words, all": (db) =>
    searchAtoms(db, REACH, { ...search, query: Array.from({ length: 12 }, (_, i) => wordOfRank(i + 1)).join(" ") }),
  "search: a phrase of frequent words": (db) =>
    searchAtoms(db, REACH, { ...search, query: `"${EVERYWHERE} ${EVERYWHERE}"` }),
  "search: all but one word": (db) => searchAtoms(db, REACH, { ...search, query: `-${EVERYWHERE}` }),
  "search: a frequent word, a tag in no atom": (db) =>
    searchAtoms(db, REACH, { ...search, query: EVERYWHERE, tags: ["none"] }),
  "search: the beginning of a rare word": (db) => searchAtoms(db, REACH, { ...search, query: RARE.slice(0, 4) }),
  "search: a part of a rare word": (db) => searchAtoms(db, REACH, { ...search, query: RARE.slice(1) }),
  "search: a rare word with a slip": (db) => searchAtoms(db, REACH, { ...search, query: "zerba" }),
  "search: two characters of a Chinese word": (db) =>
    searchAtoms(db, REACH, { ...search, query: RARE_RUN.slice(1, 3) }),
  "search: the beginning of a word in 5 %": (db) => searchAtoms(db, REACH, { ...search, query: SOMETIMES.slice(0, 4) }),
  "search: a word in 5 % with a slip": (db) => searchAtoms(db, REACH, { ...search, query: "harbuor" }),
  "search: a slip among frequent words": (db) =>
    searchAtoms(db, REACH, { ...search, query: `${EVERYWHERE} ${SOMETIMES} zerba` }),
  "search: what is in no atom": (db) => searchAtoms(db, REACH, { ...search, query: "xylophone marzipan" }),
  "save: an atom of 100 words": (db) =>
    insertAtom(db, REACH, { ...LARGE, content: SMALL, libraryId: "lib-handbook", at: Date.now() }),
  "save: an atom of 60 kB": (db) => insertAtom(db, REACH, { ...LARGE, libraryId: "lib-handbook", at: Date.now() }),
  "import: 100 atoms of 1.5 kB": (db) =>
    db
      .transaction()
      .execute((tx) =>
        importAtoms(tx, REACH, { libraryId: "lib-handbook", upsertAt: null, mayRead: true }, importedAtoms()),
      ),
};

/** As the migration does for what is there. */
const BUILD = "build the index of parts, once";
/** On PostgreSQL, autovacuum may have been first. */
const UPKEEP = "analyse and vacuum all of it, once";
const DELETION = "delete some of a deleted library";

const LARGE = {
  ...PLAIN,
  content: Array.from({ length: 10_000 }, (_, i) => `w${i.toString(36)}`)
    .join(" ")
    .slice(0, 60_000),
};

const SMALL = LARGE.content.split(" ").slice(0, 100).join(" ");

/** Returns 100 atoms of 1,500 characters, with words as frequent as the fill's. */
function importedAtoms(): ImportedAtom[] {
  const text = () => Array.from({ length: 300 }, () => wordOfRank(Math.floor(20_000 ** Math.random()))).join(" ");
  const times = { createdAt: Date.now(), updatedAt: Date.now() };
  return Array.from({ length: 100 }, () => ({ ...PLAIN, content: text().slice(0, 1_500), formerId: null, ...times }));
}

/** Asks a memory of 100,000 atoms what the memory service is asked, on PostgreSQL and on the embedded database. */
export async function benchMemory(): Promise<string> {
  const postgres = await onOwnPostgres(measureAll);
  const pglite = await onPGlite(measureAll);
  const rows = [...Object.keys(QUESTIONS), BUILD, UPKEEP, DELETION].map((name) => [
    name,
    ...cells(postgres[name]),
    ...cells(pglite[name]),
  ]);
  return table([`${figure(ATOMS)} atoms in a library`, ...COST_HEADS], rows);
}

async function measureAll(store: Store): Promise<Record<string, Cost>> {
  await fillWithAtoms(store, ATOMS);
  const costs: Record<string, Cost> = {};
  for (const [name, question] of Object.entries(QUESTIONS)) costs[name] = await measure(store, question);
  costs[BUILD] = await measureOnce(store, (db) => sql`reindex index atoms_parts`.execute(db));
  costs[UPKEEP] = await measureOnce(store, (db) => maintainTables({ backgroundDb: db }));
  await sql`update libraries set state = 'deleted' where id = ${LIBRARY}`.execute(store.db);
  costs[DELETION] = await measure(store, (db) => libraryDeletion({ db, engine: store.engine }).next());
  return costs;
}

const OTHER_TEAMS = 9;
/** Those with a target of their own. */
const AIMED = [
  "search: a rare word",
  "search: a word in 5 %",
  "recall: a question of 20 words",
  "save: an atom of 60 kB",
] as const;

/** Asks the same memory before and after nine other teams have as many atoms each in the same tables. */
export async function benchMemoryOfTeams(): Promise<string> {
  const [postgres, pglite] = [await onOwnPostgres(besideOthers), await onPGlite(besideOthers)];
  const rows = AIMED.map((name, i) => [name, ...[postgres, pglite].flatMap((engine) => engine[i] ?? [])]);
  const heads = ["alone, p50 ms", `beside ${OTHER_TEAMS}`, "ratio"];
  return table(
    [
      `${figure(ATOMS)} atoms of each team`,
      ...heads.map((head) => `PostgreSQL ${head}`),
      ...heads.map((head) => `PGlite ${head}`),
    ],
    rows,
  );
}

async function besideOthers(store: Store): Promise<string[][]> {
  await fillWithAtoms(store, ATOMS);
  const alone = await measureAimed(store);
  await addAtoms(store, ATOMS, await addOtherTeams(store));
  const beside = await measureAimed(store);
  return alone.map((ms, i) => {
    const besideMs = beside[i] ?? Number.NaN;
    return [figure(ms, 1), figure(besideMs, 1), figure(besideMs / ms, 2)];
  });
}

async function measureAimed(store: Store): Promise<number[]> {
  const p50s: number[] = [];
  for (const name of AIMED) {
    const question = QUESTIONS[name];
    p50s.push(question === undefined ? Number.NaN : (await measure(store, question)).p50);
  }
  return p50s;
}

async function addOtherTeams(store: Store): Promise<{ teamId: string; libraryId: string }[]> {
  const libraries = Array.from({ length: OTHER_TEAMS }, (_, i) => ({ teamId: `team-${i}`, libraryId: `lib-${i}` }));
  for (const { teamId, libraryId } of libraries) {
    await addTeam(store, teamId);
    await addLibrary(store, { id: libraryId, team: teamId, namespace: teamId, name: "notes" });
  }
  return libraries;
}
