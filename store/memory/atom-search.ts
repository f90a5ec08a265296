import { type RawBuilder, sql } from "kysely";
import type { Db } from "../database/change.ts";
import { withOrderedPlans } from "../database/ordered-plans.ts";
import type { Atom, AtomPosition, Reach } from "./atom.ts";
import { orderOf, type Sort } from "./atom-order.ts";
import { type AtomRow, atomColumns, findAtoms, reachable, toAtom } from "./atoms.ts";
import {
  candidates,
  matches,
  resolveScope,
  type Scope,
  SEARCH_BOUNDS,
  type SearchBounds,
  type SearchFilter,
} from "./candidates.ts";
import { nearestAtoms, type QuestionVector } from "./embedding/nearest.ts";
import { UNEXPIRED } from "./expired-atoms.ts";
import { fuse } from "./fuse.ts";
import { readSearch, readTopic, type SearchWords, withoutWords } from "./search-words.ts";
import { prepareComparison, type RankedRow, similarAtoms } from "./similar-atoms.ts";
import { snippetOf } from "./snippet.ts";

/**
 * How an atom matches: by all the words as they stand, by all of them in some form, by some of them, or by its meaning
 * alone.
 */
export type Match = "words" | "similar" | "nearest" | "meaning";

/** An atom of an answer, by its place in it. */
export type RankedAtom = {
  readonly id: string;
  /** Higher is closer; only to be compared within one answer. */
  readonly rank: number;
  readonly match: Match;
};

/** An atom that a search found. */
export type AtomHit = {
  readonly atom: Atom;
  readonly rank: number;
  readonly match: Match;
  /** How many the search found up to it. */
  readonly place: number;
  /** Passages around what was found, the words themselves between `**`. Plain text, not fit for HTML as it is. */
  readonly snippet: string;
};

export type Search = SearchFilter & {
  /** As people type it: words, `"phrases"`, `or`, `-not`. */
  readonly query: string;
  readonly limit: number;
  /** What the query means, where its words are not all; left out, or empty, for a search by words alone. */
  readonly meaning?: readonly QuestionVector[];
};

/** A search that is read page by page, in the order of its ranks but for another one. */
type PagedSearch = Search & {
  readonly sort?: SearchSort;
  /** The last atom of the page before, and how many there were up to it. */
  readonly after?: AtomPosition | null;
};

export type SearchSort = "rank" | Sort;

/** Pages of a search go no further. */
const MAX_RANKED = 500;
/** Of each of the orders that are fused into one, which goes no further. */
const MAX_FUSED = 200;

/** Where so many atoms have the words as they stand, none is looked for that only has similar ones. */
const ENOUGH = 10;
/** Of the atoms that share a topic's words so many are compared with it. */
const MAX_RECALLED = 60;

/** A candidate of each source may be the same atom: the index, the newest, the most important. */
const SOURCES = 3;

/** An importance of 10 weighs twice one of 0, and what is a month old half as much as what is new. */
const RECALL_SCORE: RawBuilder<unknown> = sql`ts_rank(a.search, wanted.q) * (1 + a.importance / 10)
  * power(0.5, least(extract(epoch from (now() - a.updated_at))::float8 / 2592000, 20))`;
const MONTH_MS = 2_592_000_000;

/**
 * The atoms that a query finds, the closest first, each once. Those with its words as they stand come first; where they are
 * few, those that have each word in some form follow; and where there are neither, those with some of the words.
 * Only rows of the reach are ranked (threats b60).
 */
export async function rankAtoms(
  db: Db,
  reach: Reach,
  search: PagedSearch,
  bounds: SearchBounds = SEARCH_BOUNDS,
): Promise<RankedAtom[]> {
  return (await rank(db, reach, search, bounds)).ranked;
}

/** Ranks, and says by which words, and how many there were before. */
async function rank(
  db: Db,
  reach: Reach,
  { after = null, sort = "rank", ...search }: PagedSearch,
  bounds: SearchBounds,
): Promise<{ ranked: RankedAtom[]; words: SearchWords; before: number }> {
  // Of a fused order, places further down change with how many are fused.
  const most = search.meaning?.length ? MAX_FUSED : after === null ? search.limit : MAX_RANKED;
  const { all, words, scope } = await rankByWords(db, reach, { search, sort, most, bounds });
  const fused = await withMeaning(db, scope, all, { ...search, limit: MAX_FUSED });
  const before = after === null ? 0 : placeBehind(after, fused);
  return { ranked: fused.slice(before, before + search.limit), words, before };
}

/** Behind the atom, wherever it stands now; where it is not found any more, as many further as it stood. */
function placeBehind({ at, id }: AtomPosition, ranked: readonly RankedAtom[]): number {
  const found = ranked.findIndex((atom) => atom.id === id);
  return found < 0 ? at : found + 1;
}

/** Those that the words find, and those that mean the same, in one order (docs/decisions/semantic-search.md). */
async function withMeaning(
  db: Db,
  scope: Scope,
  ranked: RankedAtom[],
  { meaning = [], limit }: Pick<Search, "meaning" | "limit">,
): Promise<RankedAtom[]> {
  if (meaning.length === 0) return ranked;
  const nearest: string[][] = [];
  for (const vector of meaning) nearest.push(await nearestAtoms(db, scope, vector, limit));
  const matches = new Map(ranked.map(({ id, match }) => [id, match]));
  return fuse([[...matches.keys()], ...nearest])
    .slice(0, limit)
    .map(({ id, rank }) => ({ id, rank, match: matches.get(id) ?? "meaning" }));
}

async function rankByWords(
  db: Db,
  reach: Reach,
  { search, sort, most, bounds }: { search: Search; sort: SearchSort; most: number; bounds: SearchBounds },
): Promise<{ all: RankedAtom[]; words: SearchWords; scope: Scope }> {
  const asked = readSearch(search.query);
  const { scope, rows } = await byWords(db, reach, { search: { ...search, limit: most }, asked, sort, bounds });
  const words = withoutWords(asked, scope.unindexed);
  const exact = rows.map((row): Ranked => ({ ...row, rank: 1 + row.rank, match: "words" }));
  const isEnough = exact.length >= Math.min(ENOUGH, search.limit);
  const similar = isEnough ? [] : await bySimilarity(db, scope, { words, isFirst: exact.length === 0, bounds });
  const known = new Set(exact.map(({ id }) => id));
  const others = similar.filter(({ id }) => !known.has(id)).toSorted(ORDERS[sort]);
  return { all: [...exact, ...others].slice(0, most), words, scope };
}

type Ranked = RankedRow & RankedAtom;

function byRank(a: Ranked, b: Ranked): number {
  return b.rank - a.rank || b.importance - a.importance || b.createdMs - a.createdMs || byId(a, b);
}

function byId(a: Ranked, b: Ranked): number {
  return a.id < b.id ? 1 : -1;
}

const ORDERS: Readonly<Record<SearchSort, (a: Ranked, b: Ranked) => number>> = {
  rank: byRank,
  newest: (a, b) => b.createdMs - a.createdMs || byId(a, b),
  oldest: (a, b) => a.createdMs - b.createdMs || byId(b, a),
  updated: (a, b) => b.updatedMs - a.updatedMs || byId(a, b),
  importance: (a, b) => b.importance - a.importance || b.updatedMs - a.updatedMs || byId(a, b),
};

/** The atoms that have the words as they stand. */
async function byWords(
  db: Db,
  reach: Reach,
  { search, asked, sort, bounds }: { search: Search; asked: SearchWords; sort: SearchSort; bounds: SearchBounds },
): Promise<{ scope: Scope; rows: (RankedRow & { rank: number })[] }> {
  return withOrderedPlans(db, async (tx) => {
    const query = sql`websearch_to_tsquery('english', ${search.query})`;
    const scope = await resolveScope(tx, reach, { query, words: asked.wanted }, search);
    const found = await candidates(tx, scope, bounds);
    if (found === undefined) return { scope, rows: [] };
    const order = sort === "rank" ? sql`rank desc, a.importance desc, a.created_at desc, a.id desc` : orderOf(sort).by;
    const { rows } = await sql<RankedColumns & { rank: number }>`
      with wanted as (select ${scope.query}::tsquery as q),
      ranked as (
        select a.id, a.importance, a.created_at, a.updated_at, ts_rank(a.search, wanted.q)::float8 as rank
        from ${found} a, wanted where ${matches(scope)}
        order by ${order} limit ${search.limit * SOURCES}
      )
      select a.id::text, a.importance, ${MILLISECONDS}, a.rank from (select distinct * from ranked) a order by ${order}
      limit ${search.limit}`.execute(tx);
    return { scope, rows: rows.map(({ rank, ...row }) => ({ ...toRankedRow(row), rank })) };
  });
}

type RankedColumns = { id: string; importance: number; created_ms: number; updated_ms: number };
const MILLISECONDS = sql`extract(epoch from created_at)::float8 * 1000 as created_ms,
  extract(epoch from updated_at)::float8 * 1000 as updated_ms`;

function toRankedRow({ id, importance, created_ms, updated_ms }: RankedColumns): RankedRow {
  return { id, importance, createdMs: Math.round(created_ms), updatedMs: Math.round(updated_ms) };
}

/** The atoms that have the words in some form; where none has them all and `isFirst`, those that have some of them. */
async function bySimilarity(
  db: Db,
  scope: Scope,
  { words, isFirst, bounds }: { words: SearchWords; isFirst: boolean; bounds: SearchBounds },
): Promise<Ranked[]> {
  if (words.wanted.length === 0 || scope.libraryIds.length === 0) return [];
  const comparison = await prepareComparison(db, scope, words, bounds);
  const of = words.isAnyEnough ? "any" : "all";
  const compared = await similarAtoms(db, scope, comparison, { of, bounds });
  const found = compared.filter(({ score, hasAll }) => score > 0 && (hasAll || words.isAnyEnough));
  if (found.length > 0 || !isFirst) {
    return found.map((atom) => ({ ...atom, rank: 0.5 + atom.score / 2, match: "similar" }));
  }
  const nearest = words.isAnyEnough ? [] : await similarAtoms(db, scope, comparison, { of: "any", bounds });
  return nearest.filter(({ score }) => score > 0).map((atom) => ({ ...atom, rank: atom.score / 2, match: "nearest" }));
}

/** The atoms that a query finds, the closest first, with their text. */
export async function searchAtoms(
  db: Db,
  reach: Reach,
  search: PagedSearch,
  bounds: SearchBounds = SEARCH_BOUNDS,
): Promise<AtomHit[]> {
  const { ranked, words, before } = await rank(db, reach, search, bounds);
  const hits = await inOrder(db, reach, ranked);
  return hits.map((hit, at) => ({
    ...hit,
    place: before + at + 1,
    snippet: snippetOf(hit.atom.content, words),
  }));
}

/** The ranked atoms with their text, but those that went meanwhile. */
async function inOrder(
  db: Db,
  reach: Reach,
  ranked: readonly RankedAtom[],
): Promise<{ atom: Atom; rank: number; match: Match }[]> {
  const ids = ranked.map(({ id }) => id);
  const atoms = new Map((await findAtoms(db, reach, ids)).map((atom) => [atom.id, atom]));
  return ranked.flatMap(({ id, rank, match }) => {
    const atom = atoms.get(id);
    return atom === undefined ? [] : [{ atom, rank, match }];
  });
}

/**
 * What is worth knowing about a topic: atoms that share any of its words, the closest first, the important and the
 * recent before the others.
 */
export async function recallAtoms(
  db: Db,
  reach: Reach,
  search: Search,
  bounds: SearchBounds = SEARCH_BOUNDS,
): Promise<Atom[]> {
  const ranked = await rankForRecall(db, reach, search, bounds);
  return (await inOrder(db, reach, ranked)).map(({ atom }) => atom);
}

/** The atoms that share any of a topic's words, in some form, each once, the most worth knowing first. */
export async function rankForRecall(
  db: Db,
  reach: Reach,
  search: Search,
  bounds: SearchBounds = SEARCH_BOUNDS,
): Promise<RankedAtom[]> {
  const topic = readTopic(search.query);
  const { scope, ids } = await byAnyWord(db, reach, { search, topic, bounds });
  if (scope.libraryIds.length === 0) return [];
  const comparison = await prepareComparison(db, scope, withoutWords(topic, scope.unindexed), bounds);
  const compared = await similarAtoms(db, scope, comparison, { of: "any", known: ids, bounds });
  const known = new Set(ids);
  const ranked = compared
    .filter(({ id, score }) => score > 0 || known.has(id))
    .map((atom): Ranked => ({ ...atom, rank: worth(atom), match: known.has(atom.id) ? "words" : "similar" }))
    .toSorted(byRank)
    .slice(0, search.limit);
  return withMeaning(db, scope, ranked, search);
}

/** As much as its words and {@link RECALL_SCORE} say; what has a word in a form of English alone counts little. */
function worth({ score, importance, updatedMs }: RankedRow & { readonly score: number }): number {
  const months = Math.min(20, Math.max(0, Date.now() - updatedMs) / MONTH_MS);
  return Math.max(score, MIN_SCORE) * (1 + importance / 10) * 0.5 ** months;
}
const MIN_SCORE = 0.05;

/** The atoms that have any of a topic's words as they stand, those first that are worth the most. */
async function byAnyWord(
  db: Db,
  reach: Reach,
  { search, topic, bounds }: { search: Search; topic: SearchWords; bounds: SearchBounds },
): Promise<{ scope: Scope; ids: string[] }> {
  return withOrderedPlans(db, async (tx) => {
    // plainto_tsquery joins the words by `&`; a lexeme that holds one itself is only looked for in another spelling.
    const query = sql`replace(plainto_tsquery('english', ${search.query})::text, '&', '|')::tsquery`;
    const scope = await resolveScope(tx, reach, { query, words: topic.wanted }, search);
    const found = await candidates(tx, scope, bounds);
    if (found === undefined) return { scope, ids: [] };
    const { rows } = await sql<{ id: string }>`
      with wanted as (select ${scope.query}::tsquery as q),
      ranked as (
        select a.id, ${RECALL_SCORE} as score from ${found} a, wanted where ${matches(scope)}
        order by score desc, a.id desc
        limit ${MAX_RECALLED * SOURCES}
      )
      select id::text from ranked group by id order by max(score) desc, id desc limit ${MAX_RECALLED}`.execute(tx);
    return { scope, ids: rows.map(({ id }) => id) };
  });
}

/** The most important atoms of one library, the last corrected first among equals. */
export async function importantAtoms(db: Db, reach: Reach, libraryId: string, limit: number): Promise<Atom[]> {
  const { rows } = await withOrderedPlans(db, (tx) =>
    sql<AtomRow>`
      select ${atomColumns(reach)} from libraries l cross join lateral (
        select * from atoms a where a.library_id = l.id and ${UNEXPIRED}
        order by a.importance desc, a.updated_at desc, a.id desc limit ${limit}
      ) a
      where ${reachable(reach)} and l.id = ${libraryId}
      order by a.importance desc, a.updated_at desc, a.id desc`.execute(tx),
  );
  return rows.map(toAtom);
}

/** Counted no further: an exact count reads every row. */
const MAX_COUNTED = 1_000;

/** How many atoms a library holds; of a large one, that there are more than were counted. */
type AtomCount = { readonly atoms: number; readonly isMore: boolean };

export async function countAtoms(db: Db, reach: Reach, libraryId: string): Promise<AtomCount> {
  const { rows } = await withOrderedPlans(db, (tx) =>
    sql<{ atoms: number }>`
      select count(*)::integer as atoms from libraries l cross join lateral (
        select a.team_id, a.library_id, a.expires_at from atoms a where a.library_id = l.id and ${UNEXPIRED}
        order by a.created_at desc, a.id desc limit ${MAX_COUNTED + 1}
      ) a
      where ${reachable(reach)} and l.id = ${libraryId}`.execute(tx),
  );
  const atoms = rows[0]?.atoms ?? 0;
  return { atoms: Math.min(atoms, MAX_COUNTED), isMore: atoms > MAX_COUNTED };
}
