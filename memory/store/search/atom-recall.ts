import { setImmediate } from "node:timers/promises";
import { type RawBuilder, sql } from "kysely";
import type { Reach } from "../../../domain/access/reach.ts";
import type { Db, Tx } from "../../../store/database/change.ts";
import { withOrderedPlans } from "../../../store/database/ordered-plans.ts";
import { preparedStatement } from "../../../store/database/prepared-statement.ts";
import type { PageSize } from "../../../store/libraries/page.ts";
import type { AtomsWithin } from "../rows/atoms-within.ts";
import { lexemesOf, parseTextQuery, printAnyOf } from "../rows/text-query.ts";
import { type Adjacent, findAdjacent } from "./candidates/adjacent-atoms.ts";
import { candidates } from "./candidates/candidates.ts";
import { readFrequencies } from "./candidates/frequencies.ts";
import { type AtomSearchBounds, SEARCH_BOUNDS } from "./candidates/search-bounds.ts";
import { resolveScope, type SearchScope } from "./candidates/search-scope.ts";
import {
  type Comparison,
  compareTexts,
  prepareComparison,
  rarestOfTopic,
  type SimilarText,
  sampleTexts,
  similarTexts,
  type Topic,
} from "./candidates/similar-atoms.ts";
import {
  byRank,
  orderRanked,
  type Ranked,
  readRankedAtoms,
  type Search,
  withMeaning,
  withReplacing,
} from "./ranked-atoms.ts";
import { besideFound } from "./ranking/beside-found.ts";
import { withFeedback } from "./ranking/feedback.ts";
import { replacedLast } from "./ranking/replaced-last.ts";
import type { ShareOfLexeme } from "./words/index-condition.ts";
import { indexedWords, readTopic } from "./words/search-words.ts";
import type { WantedWord } from "./words/similar-condition.ts";

/** Lowest number of atoms with a topic's words that are compared with it; at least twice as many as are wanted. */
const MIN_COMPARED = 40;

/** Recalled atoms, and by the id of each replaced atom the id of the atom that replaces it. */
type Recalled = AtomsWithin & { readonly replacements: ReadonlyMap<string, string> };

/**
 * Recalls the atoms that are worth knowing about a topic: atoms that share any of its words, the closest first, with
 * the important and the recent before the others, up to the size of the page.
 */
export async function recallAtoms(
  db: Db,
  reach: Reach,
  search: Search & PageSize,
  bounds: AtomSearchBounds = SEARCH_BOUNDS,
): Promise<Recalled> {
  const { scope, ranked } = await rankForRecall(db, reach, search, bounds);
  // A caller who asks for a topic wants to know what is true now, in any words.
  const holding = replacedLast(await withReplacing(db, scope, ranked, search.limit));
  const { found, cut } = await readRankedAtoms(db, reach, holding.slice(0, search.limit), search);
  const replacements = found.flatMap(({ atom, replacedBy }) => (replacedBy ? [[atom.id, replacedBy] as const] : []));
  return { atoms: found.map(({ atom }) => atom), cut, replacements: new Map(replacements) };
}

/** Ranks the atoms that share any of a topic's words, in some form, or its meaning: the most worth knowing first. */
async function rankForRecall(
  db: Db,
  reach: Reach,
  search: Search,
  bounds: AtomSearchBounds,
): Promise<{ readonly scope: SearchScope; readonly ranked: readonly Ranked[] }> {
  const words = readTopic(search.query);
  const found = await withOrderedPlans(db, async (tx) => {
    // plainto_tsquery joins the words by `&`; a lexeme that holds one itself is only looked for in another spelling.
    const query = sql`replace(plainto_tsquery('english', ${search.query})::text, '&', '|')::tsquery`;
    const scope = await resolveScope(tx, reach, { query, words: words.wanted }, search);
    const sample = await sampleTexts(tx, scope, bounds);
    const frequencies = await readFrequencies(tx, scope, bounds);
    const topic = { scope, words: indexedWords(words, scope.lexemes), sample, frequencies };
    return { topic, ...(await byAnyWord(tx, topic, search.limit, bounds)) };
  });
  const ranked = await rankTopic(db, found.topic, found, search.meaning);
  return {
    scope: found.topic.scope,
    ranked: await orderRanked(db, ranked, found.topic, search),
  };
}

/** Ranks the atoms that share any of the words, behind a search for all of them: the most worth knowing first. */
export async function rankNearest(
  db: Db,
  { topic, comparison }: { readonly topic: Topic; readonly comparison?: Comparison | undefined },
  limit: number,
  bounds: AtomSearchBounds,
): Promise<Ranked[]> {
  const asked = parseTextQuery(topic.scope.query);
  const query = printAnyOf(asked === undefined ? [] : lexemesOf(asked));
  const anyOf = { ...topic, scope: { ...topic.scope, query } };
  const found = await withOrderedPlans(db, (tx) => byAnyWord(tx, anyOf, limit, bounds, comparison));
  return rankTopic(db, anyOf, found);
}

async function rankTopic(
  db: Db,
  { scope, sample }: Topic,
  { ids, adjacent, comparison, texts }: FoundByWords,
  meaning: Search["meaning"] = [],
): Promise<Ranked[]> {
  const compared = await compareTexts(comparison, "any", texts);
  const known = new Set(ids);
  const found = compared.filter(({ id, score }) => score > 0 || known.has(id));
  const asked = comparison.search.wanted.map(({ text }) => text).join(" ");
  const total = rarestOfTopic(comparison.words).reduce((sum, { rarity }) => sum + rarity, 0);
  const ranked = await withFeedback(found, { asked, sample, total });
  const byWords = ranked.map(({ score, hasAll, text, ...atom }): Ranked => {
    const closeness = Math.max(score, MIN_SCORE);
    return { ...atom, rank: Math.max(atom.rank, MIN_SCORE), closeness, match: "nearest" };
  });
  return (await withMeaning(db, scope, besideFound(byWords, adjacent), meaning))
    .map((atom) => ({ ...atom, rank: recallRank(atom) }))
    .toSorted(byRank);
}

/**
 * Weights of importance and of age. An importance of 10 counts 1.2 times an importance of 0, and a very old atom 0.75
 * times a new one: of two atoms with about as many of the words, the important and the recent come first, and neither
 * passes an atom with twice as many. An atom that was imported with a time in the future counts as new
 * (docs/decisions/recall-ranking.md).
 */
const IMPORTANT = 0.2;
const OLD = 0.75;
/** Milliseconds after which an atom has lost half of what age can take from it. */
const HALF_LIFE_MS = 60 * 86_400_000;
/** Score of an atom that shares a word only by PostgreSQL's English word forms: little. */
const MIN_SCORE = 0.05;

function recallRank({ rank, importance, updatedMs }: Ranked): number {
  const age = Math.max(0, Date.now() - updatedMs) / HALF_LIFE_MS;
  return rank * (1 + (IMPORTANT * importance) / 10) * (OLD + (1 - OLD) * 0.5 ** age);
}

/** The same factors as SQL, over a relation `a` of atoms. */
const RECALL_FACTOR: RawBuilder<unknown> =
  sql.raw(`(1 + ${IMPORTANT} * a.importance / 10) * (${OLD} + ${1 - OLD} * power(0.5,
  least(20, greatest(0, date_part('epoch', now() - a.updated_at) * 1000 / ${HALF_LIFE_MS}))))`);

/** Atoms found by a topic's words as they stand, and the texts that are compared with it. */
type FoundByWords = {
  /** Ids of the atoms that have any of the words, those worth the most first; then of those beside them. */
  readonly ids: readonly string[];
  readonly adjacent: Adjacent;
  readonly comparison: Comparison;
  /** Texts of these atoms, and of others that may have the words in another form. */
  readonly texts: readonly SimilarText[];
};

async function byAnyWord(
  tx: Tx,
  topic: Topic,
  limit: number,
  bounds: AtomSearchBounds,
  prepared?: Comparison,
): Promise<FoundByWords> {
  const [worthy, comparison] = await Promise.all([
    worthMost(tx, topic, Math.max(MIN_COMPARED, 2 * limit), bounds),
    // While the database ranks, which it has been asked for by then.
    setImmediate().then(() => prepared ?? prepareComparison(topic)),
  ]);
  const isFull = worthy.length >= limit;
  const sought = isFull ? await absentWords(tx, worthy, comparison.words) : comparison.words;
  // Where the answer is full already, few more are looked for.
  const most = Math.ceil(bounds.similar / (isFull ? 6 : 2));
  const adjacent = await findAdjacent(tx, topic.scope, worthy);
  const ids = [...new Set([...worthy, ...[...adjacent.values()].flat()])];
  const texts = await similarTexts(tx, topic.scope, comparison, { of: "any", most, known: ids, sought, bounds });
  return { ids, adjacent, comparison, texts };
}

async function worthMost(
  tx: Tx,
  { scope, frequencies }: Topic,
  limit: number,
  bounds: AtomSearchBounds,
): Promise<string[]> {
  const words = countedWords(scope.query, frequencies.share);
  const query = printAnyOf(words.flatMap(({ lexemes }) => lexemes));
  const rank = sql`${count(words)} / ln(2 + length(a.search)) * ${RECALL_FACTOR}`;
  const ranking = { query, rank, order: sql`a.rank desc, a.id desc`, most: limit };
  const found = candidates(scope, frequencies, ranking, bounds);
  if (found === undefined) return [];
  const { rows } = await sql<{ id: string }>`${preparedStatement}
    select a.id::text from ${found} a group by a.id order by max(a.rank) desc, a.id desc limit ${limit}`.execute(tx);
  return rows.map(({ id }) => id);
}

/** Weights of words: a word in at most the share `most` of the atoms counts so much. */
const COUNTS = [
  { most: 0.005, counts: 1 },
  { most: 0.02, counts: 0.8 },
  { most: 0.1, counts: 0.55 },
] as const;

/** Words that are about as rare, and the weight of each. */
type CountedWords = { readonly lexemes: readonly string[]; readonly counts: number };

/** Groups the words of a query by how rare they are, without the frequent words if there are others. */
function countedWords(query: string, share: ShareOfLexeme): CountedWords[] {
  const asked = parseTextQuery(query);
  const lexemes = asked === undefined ? [] : lexemesOf(asked);
  const rare = Map.groupBy(lexemes, (lexeme) => COUNTS.find(({ most }) => share(lexeme) <= most)?.counts);
  const counted = COUNTS.flatMap(({ counts }) => ({ lexemes: rare.get(counts) ?? [], counts }));
  return counted.some(({ lexemes: some }) => some.length > 0) ? counted : [{ lexemes, counts: 1 }];
}

/**
 * Returns SQL for the weighed number of the words that an atom has, and how often: `ts_rank` divides by the number of
 * words that it is asked for.
 */
function count(words: readonly CountedWords[]): RawBuilder<unknown> {
  const each = words.map(
    ({ lexemes, counts }) =>
      sql`${counts * lexemes.length}::float8 * ts_rank(a.search, ${printAnyOf(lexemes)}::tsquery)`,
  );
  return sql`(${sql.join(each, sql` + `)})`;
}

/** Returns the words that none of the atoms has, which may be meant in another form. */
async function absentWords(tx: Tx, ids: readonly string[], words: readonly WantedWord[]): Promise<WantedWord[]> {
  const texts = words.map(({ word }) => word.text);
  const { rows } = await sql<{ word: string }>`${preparedStatement}
    select word from (select word, plainto_tsquery('english', word) as q from unnest(${texts}::text[]) word offset 0) w
    where not exists (
      select 1 from unnest(${ids}::uuid[]) known (id), lateral (
        select a.search from atoms a where a.id = known.id offset 0) a where a.search @@ w.q)`.execute(tx);
  const absent = new Set(rows.map(({ word }) => word));
  return words.filter(({ word }) => absent.has(word.text));
}
