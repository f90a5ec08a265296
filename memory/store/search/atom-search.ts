import { sql } from "kysely";
import type { Reach } from "../../../domain/access/reach.ts";
import type { Db, Tx } from "../../../store/database/change.ts";
import { withOrderedPlans } from "../../../store/database/ordered-plans.ts";
import { preparedStatement } from "../../../store/database/prepared-statement.ts";
import { type ListPage, nonEmpty, type PageSize } from "../../../store/libraries/page.ts";
import { readPassages } from "../embedding/read-passages.ts";
import type { Atom, AtomPosition } from "../rows/atom.ts";
import { orderOf, type Sort } from "../rows/atom-order.ts";
import { rankNearest } from "./atom-recall.ts";
import { candidates } from "./candidates/candidates.ts";
import { withoutExcluded } from "./candidates/excluded-atoms.ts";
import { type Frequencies, readFrequencies } from "./candidates/frequencies.ts";
import { RANKED_COLUMNS, type RankedColumns, type RankedRow, toRankedRow } from "./candidates/ranked-row.ts";
import { type AtomSearchBounds, SEARCH_BOUNDS } from "./candidates/search-bounds.ts";
import { resolveScope, type SearchScope } from "./candidates/search-scope.ts";
import {
  type Comparison,
  compareTexts,
  type MatchMode,
  prepareComparison,
  type SimilarText,
  sampleTexts,
  similarTexts,
  type Topic,
} from "./candidates/similar-atoms.ts";
import {
  byId,
  byRank,
  isQuestion,
  type Match,
  markReplaced,
  orderRanked,
  type Ranked,
  type RankedAtom,
  readRankedAtoms,
  type Search,
  withMeaning,
} from "./ranked-atoms.ts";
import { MAX_POSITIONS } from "./ranking/newer-first.ts";
import { indexedWords, isPlainSearch, readSearch, type SearchWords } from "./words/search-words.ts";
import { MAX_SNIPPET_SOURCE, type Snippet, snippetsOf } from "./words/snippet.ts";
import { yieldBetweenTexts } from "./words/yield-between-texts.ts";

/** Atom that a search found. */
export type AtomHit = Snippet & {
  readonly atom: Atom;
  readonly rank: number;
  readonly match: Match;
  /** Id of the atom that replaces it, if any. */
  readonly replacedBy?: string | undefined;
  /** Position among the results of the search, over all pages, from 1 on. */
  readonly position: number;
};

/** Search that is read page by page, in the order of its ranks or of `sort`. */
type PagedSearch = Search & {
  readonly sort?: SearchSort;
  /** Last atom of the page before, and the number of results up to it. */
  readonly after?: AtomPosition | null;
};

export type SearchSort = "rank" | Sort;

/** Number of results at which the pages of a search end. */
const MAX_RANKED = 500;
/** Number of results at which each of the orders that are fused ends, and the fused one. */
const MAX_FUSED = 200;

/** Number of results below which the nearest atoms follow. */
const FEW = 5;
/** Number of atoms with the words as they stand from which on no atom is looked for that only has similar words. */
const ENOUGH = 10;
/**
 * Number of words up to which similar words are looked for: comparing atoms with each of many words would hold up other
 * callers (threats b87).
 */
const MAX_SIMILAR_WORDS = 12;

/**
 * Ranks the atoms that a query finds, the closest first, each once. Atoms with its words as they stand come first; if
 * they are few, atoms that have each word in some form follow; and if both are few, on the first page, atoms with some
 * of the words, as {@link rankNearest} ranks them. Only atoms of the reach are ranked (threats b60).
 */
export async function rankAtoms(
  db: Db,
  reach: Reach,
  search: PagedSearch,
  bounds: AtomSearchBounds = SEARCH_BOUNDS,
): Promise<readonly RankedAtom[]> {
  return (await rank(db, reach, search, bounds)).ranked;
}

/** Page of a search: its atoms, the words of the search, the number of results before it, and whether more follow. */
type RankedPage = {
  readonly ranked: readonly RankedAtom[];
  readonly words: SearchWords;
  readonly before: number;
  readonly isMore: boolean;
};

async function rank(
  db: Db,
  reach: Reach,
  { after = null, sort = "rank", limit, ...asked }: PagedSearch,
  bounds: AtomSearchBounds,
): Promise<RankedPage> {
  // One more shows whether there are more.
  const search = { ...asked, limit: limit + 1 };
  const isFused = (asked.meaning ?? []).length > 0;
  // In a fused order, positions further down depend on how many results are fused.
  const most = isFused ? MAX_FUSED : after === null ? Math.max(MAX_POSITIONS, search.limit) : MAX_RANKED;
  const { all, topic, comparison } = await rankByWords(db, reach, { search, sort, most, bounds });
  const { words } = topic;
  const isFew = all.length < Math.min(FEW, search.limit) && isPlainSearch(asked.query);
  const isFollowed = isFew && (isFused || all.length < limit);
  const nearest = () => rankNearest(db, { topic, comparison }, search.limit, bounds);
  const followed = isFollowed ? followedBy(all, await nearest()) : all;
  const found = isFused
    ? (await withMeaning(db, topic.scope, followed, asked.meaning)).toSorted(byRank).slice(0, most)
    : followed;
  const ordered =
    sort === "rank" ? await orderRanked(db, found, topic, asked) : await markReplaced(db, topic.scope, found);
  // A search that the nearest atoms follow has one page: they fill it for a question, and for a look-up up to ENOUGH.
  const filled = isQuestion(asked.query) ? limit : Math.min(limit, ENOUGH);
  const whole = isFused || !isFollowed ? ordered : firstBeside(all, ordered, filled);
  return pageOf(whole, words, { after, limit });
}

/** Returns the first atoms of an order, `most` of them: all that were found, and as many of the others as fit. */
function firstBeside(all: readonly Ranked[], ordered: readonly Ranked[], most: number): Ranked[] {
  const found = new Set(all.map(({ id }) => id));
  const others = new Set(ordered.filter(({ id }) => !found.has(id)).slice(0, most - all.length));
  return ordered.filter((atom) => found.has(atom.id) || others.has(atom));
}

function pageOf(
  ranked: readonly RankedAtom[],
  words: SearchWords,
  { after, limit }: { readonly after: AtomPosition | null; readonly limit: number },
): RankedPage {
  const before = after === null ? 0 : indexBehind(after, ranked);
  return { ranked: ranked.slice(before, before + limit), words, before, isMore: ranked.length > before + limit };
}

/**
 * Returns the atoms that were found, and below them the others of {@link rankNearest}. If none was found, the words
 * count beside a meaning as they do where a topic is recalled.
 */
function followedBy(all: readonly Ranked[], ranked: readonly Ranked[]): Ranked[] {
  const nearest = new Map(ranked.map((atom) => [atom.id, atom]));
  const found = all.map((atom) => ({ ...atom, closeness: nearest.get(atom.id)?.closeness ?? atom.closeness }));
  for (const { id } of all) nearest.delete(id);
  const share = all.length > 0 ? 0.5 : 1;
  return [...found, ...[...nearest.values()].map((atom) => ({ ...atom, rank: atom.rank * share }))];
}

/** Returns the index behind an atom, wherever it is now; if it is no longer found, the index that was behind it. */
function indexBehind({ at, id }: AtomPosition, ranked: readonly RankedAtom[]): number {
  const found = ranked.findIndex((atom) => atom.id === id);
  return found < 0 ? at : found + 1;
}

async function rankByWords(
  db: Db,
  reach: Reach,
  asked: WordSearch,
): Promise<{ readonly all: readonly Ranked[] } & Pick<ByWords, "topic" | "comparison">> {
  const { topic, rows, comparison, of, texts } = await byWords(db, reach, asked);
  const exact = rows.map((row): Ranked => ({ ...row, rank: 1 + row.rank, closeness: 1 + row.rank, match: "words" }));
  const known = new Set(exact.map(({ id }) => id));
  const further = (comparison === undefined ? [] : await bySimilarity(comparison, of, texts))
    .filter(({ id }) => !known.has(id))
    .toSorted(ORDERS[asked.sort]);
  const found = [...exact, ...further].slice(0, asked.most);
  return { all: await withoutExcluded(db, found, topic.words.excluded, asked.bounds), topic, comparison };
}

const ORDERS: Readonly<Record<SearchSort, (a: Ranked, b: Ranked) => number>> = {
  rank: byRank,
  newest: (a, b) => b.createdMs - a.createdMs || byId(a, b),
  oldest: (a, b) => a.createdMs - b.createdMs || byId(b, a),
  updated: (a, b) => b.updatedMs - a.updatedMs || byId(a, b),
  importance: (a, b) => b.importance - a.importance || b.updatedMs - a.updatedMs || byId(a, b),
};

/** Atoms found by the words as they stand, and, if they are few, the texts that may have the words in another form. */
type ByWords = {
  readonly topic: Topic;
  readonly rows: readonly (RankedRow & { readonly rank: number })[];
  /** Comparison of these texts with the search; undefined if there are enough without. */
  readonly comparison?: Comparison | undefined;
  readonly of: MatchMode;
  readonly texts: readonly SimilarText[];
};

type WordSearch = {
  readonly search: Search;
  readonly sort: SearchSort;
  readonly most: number;
  readonly bounds: AtomSearchBounds;
};

async function byWords(db: Db, reach: Reach, { search, sort, most, bounds }: WordSearch): Promise<ByWords> {
  const asked = readSearch(search.query);
  return withOrderedPlans(db, async (tx) => {
    const query = sql`websearch_to_tsquery('english', ${search.query})`;
    const scope = await resolveScope(tx, reach, { query, words: asked.wanted }, search);
    const words = indexedWords(asked, scope.lexemes);
    const frequencies = await readFrequencies(tx, scope, bounds);
    const rows = await matchingAtoms(tx, scope, frequencies, { sort, most, bounds });
    const isEnough = rows.length >= ENOUGH || words.wanted.length === 0;
    const sample = isEnough ? [] : await sampleTexts(tx, scope, bounds);
    const topic = { scope, words, frequencies, sample };
    const isLong = words.wanted.filter(({ kind }) => kind !== "run").length > MAX_SIMILAR_WORDS;
    const of = words.isAnyEnough ? "any" : "all";
    if (isEnough || isLong) return { topic, rows, of, texts: [] };
    const comparison = prepareComparison(topic);
    const mostSimilar = of === "all" ? bounds.similar : Math.ceil(bounds.similar / 2);
    const texts = await similarTexts(tx, scope, comparison, { of, most: mostSimilar, bounds });
    return { topic, rows, comparison, of, texts };
  });
}

async function matchingAtoms(
  tx: Tx,
  scope: SearchScope,
  frequencies: Frequencies,
  { sort, most, bounds }: Pick<WordSearch, "sort" | "most" | "bounds">,
): Promise<(RankedRow & { rank: number })[]> {
  const { query } = scope;
  const order = sort === "rank" ? sql`a.rank desc, a.importance desc, a.created_at desc, a.id desc` : orderOf(sort).by;
  const ranking = { query, rank: sql`ts_rank(a.search, ${query}::tsquery)`, order, most };
  const found = candidates(scope, frequencies, ranking, bounds);
  if (found === undefined) return [];
  const { rows } = await sql<RankedColumns & { rank: number }>`${preparedStatement}
    select ${RANKED_COLUMNS}, a.rank::float8 as rank from (select distinct * from ${found} a) a
    order by ${order} limit ${most}`.execute(tx);
  return rows.map(({ rank, ...row }) => ({ ...toRankedRow(row), rank }));
}

/** Returns the atoms that have the words in some form. */
async function bySimilarity(comparison: Comparison, of: MatchMode, texts: readonly SimilarText[]): Promise<Ranked[]> {
  const compared = await compareTexts(comparison, of, texts);
  const found = compared.filter(({ score, hasAll }) => score > 0 && (hasAll || of === "any"));
  return found.map(({ score, hasAll, text, ...atom }) => ({
    ...atom,
    rank: 0.5 + score / 2,
    closeness: score,
    match: "similar",
  }));
}

/** Returns a page of the atoms that a query finds, the closest first, with their text. */
export function searchAtoms(
  db: Db,
  reach: Reach,
  search: PagedSearch & PageSize,
  bounds: AtomSearchBounds = SEARCH_BOUNDS,
): Promise<ListPage<AtomHit>> {
  return nonEmpty(async () => {
    const { ranked, words, before, isMore } = await rank(db, reach, search, bounds);
    const { found, cut } = await readRankedAtoms(db, reach, ranked, search);
    const passages = await readPassages(db, ranked);
    const hits: AtomHit[] = [];
    const yieldBefore = yieldBetweenTexts();
    const snippetOf = snippetsOf(words);
    for (const hit of found) {
      await yieldBefore(hit.atom.content.slice(0, MAX_SNIPPET_SOURCE));
      const snippet = snippetOf(passages.get(hit.atom.id) ?? hit.atom.content);
      hits.push({ ...hit, ...snippet, position: before + hits.length + 1 });
    }
    return { items: hits, isMore: isMore || cut.length > 0 };
  });
}
