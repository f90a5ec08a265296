import { setImmediate } from "node:timers/promises";
import { type RawBuilder, sql } from "kysely";
import type { Reach } from "../../../domain/access/reach.ts";
import type { Db, Tx } from "../../../store/database/change.ts";
import { withOrderedPlans } from "../../../store/database/ordered-plans.ts";
import { preparedStatement } from "../../../store/database/prepared-statement.ts";
import type { PageSize } from "../../../store/libraries/page.ts";
import type { AtomsWithin } from "../rows/atoms-within.ts";
import { lexemesOf, parseTextQuery, printAnyOf } from "../rows/text-query.ts";
import { candidates } from "./candidates/candidates.ts";
import { readFrequencies } from "./candidates/frequencies.ts";
import { type AtomSearchBounds, SEARCH_BOUNDS } from "./candidates/search-bounds.ts";
import { resolveScope, type SearchScope } from "./candidates/search-scope.ts";
import {
  type Comparison,
  compareTexts,
  prepareComparison,
  type SimilarText,
  sampleTexts,
  similarTexts,
} from "./candidates/similar-atoms.ts";
import {
  byRank,
  orderRanked,
  type Ranked,
  readRankedAtoms,
  type Search,
  type Topic,
  withMeaning,
  withReplacing,
} from "./ranked-atoms.ts";
import { replacedLast } from "./ranking/replaced-last.ts";
import type { Shares } from "./words/index-condition.ts";
import { readTopic, withoutWords } from "./words/search-words.ts";
import type { WantedWord } from "./words/similar-condition.ts";

/** Of the atoms that share a topic's words so many at least are compared with it, and twice as many as are wanted. */
const MIN_COMPARED = 40;

/** What is recalled, and by which atom each is replaced that is. */
type Recalled = AtomsWithin & { readonly replacements: ReadonlyMap<string, string> };

/**
 * What is worth knowing about a topic: atoms that share any of its words, the closest first, the important and the
 * recent before the others, as far as there is room for them.
 */
export async function recallAtoms(
  db: Db,
  reach: Reach,
  search: Search & PageSize,
  bounds: AtomSearchBounds = SEARCH_BOUNDS,
): Promise<Recalled> {
  const { scope, ranked } = await rankForRecall(db, reach, search, bounds);
  // Who asks for a topic wants to know what holds, in whichever words.
  const holding = replacedLast(await withReplacing(db, scope, ranked, search.limit));
  const { found, cut } = await readRankedAtoms(db, reach, holding.slice(0, search.limit), search);
  const replacements = found.flatMap(({ atom, replacedBy }) => (replacedBy ? [[atom.id, replacedBy] as const] : []));
  return { atoms: found.map(({ atom }) => atom), cut, replacements: new Map(replacements) };
}

/** The atoms that share any of a topic's words, in some form, or mean the same, each once, the most worth knowing first. */
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
    const topic = { scope, words: withoutWords(words, scope.unindexed), sample, frequencies };
    return { topic, ...(await byAnyWord(tx, topic, search.limit, bounds)) };
  });
  const ranked = await rankTopic(db, found.topic, found, search.meaning);
  return {
    scope: found.topic.scope,
    ranked: await orderRanked(db, ranked, found.topic, search),
  };
}

/** The atoms that share any of the words, of which all were looked for before, the most worth knowing first. */
export async function rankNearest(db: Db, topic: Topic, limit: number, bounds: AtomSearchBounds): Promise<Ranked[]> {
  const asked = parseTextQuery(topic.scope.query);
  const query = printAnyOf(asked === undefined ? [] : lexemesOf(asked));
  const anyOf = { ...topic, scope: { ...topic.scope, query } };
  const found = await withOrderedPlans(db, (tx) => byAnyWord(tx, anyOf, limit, bounds));
  return rankTopic(db, anyOf, found);
}

async function rankTopic(
  db: Db,
  { scope }: Topic,
  { ids, comparison, texts }: FoundByWords,
  meaning: Search["meaning"] = [],
): Promise<Ranked[]> {
  const compared = await compareTexts(comparison, "any", texts);
  const known = new Set(ids);
  const byWords = compared
    .filter(({ id, score }) => score > 0 || known.has(id))
    .map(({ score, hasAll, ...atom }): Ranked => {
      const rank = Math.max(score, MIN_SCORE);
      return { ...atom, rank, closeness: rank, match: "nearest" };
    });
  return (await withMeaning(db, scope, byWords, meaning))
    .map((atom) => ({ ...atom, rank: worth(atom) }))
    .toSorted(byRank);
}

/**
 * An importance of 10 weighs 1.3 times one of 0, and an atom that is very old 0.7 times a new one: of two that have about
 * as many of the words the important and the recent come first, and neither passes one that has twice as many. What was
 * imported with a time to come counts as new (docs/decisions/recall-ranking.md).
 */
const IMPORTANT = 0.3;
const OLD = 0.7;
/** After which an atom has lost half of what it can lose. */
const HALF_LIFE_MS = 60 * 86_400_000;
/** What has a word in a form of English alone counts little. */
const MIN_SCORE = 0.05;

function worth({ rank, importance, updatedMs }: Ranked): number {
  const age = Math.max(0, Date.now() - updatedMs) / HALF_LIFE_MS;
  return rank * (1 + (IMPORTANT * importance) / 10) * (OLD + (1 - OLD) * 0.5 ** age);
}

/** The same factors in PostgreSQL's words, of a relation `a` of atoms. */
const WORTH: RawBuilder<unknown> = sql.raw(`(1 + ${IMPORTANT} * a.importance / 10) * (${OLD} + ${1 - OLD} * power(0.5,
  least(20, greatest(0, date_part('epoch', now() - a.updated_at) * 1000 / ${HALF_LIFE_MS}))))`);

/** What is found by a topic's words as they stand, and what is to be compared with it. */
type FoundByWords = {
  /** Of the atoms that have any of them, those first that are worth the most. */
  readonly ids: readonly string[];
  readonly comparison: Comparison;
  /** Of these atoms, and of others that may have the words in another form. */
  readonly texts: readonly SimilarText[];
};

async function byAnyWord(tx: Tx, topic: Topic, limit: number, bounds: AtomSearchBounds): Promise<FoundByWords> {
  const [ids, comparison] = await Promise.all([
    worthMost(tx, topic, Math.max(MIN_COMPARED, 2 * limit), bounds),
    // While the database ranks, which it has been asked for by then.
    setImmediate().then(() => prepareComparison(topic.words, topic.sample)),
  ]);
  const isFull = ids.length >= limit;
  const sought = isFull ? await absentWords(tx, ids, comparison.words) : comparison.words;
  // Where the answer is full already, few more are looked for.
  const most = Math.ceil(bounds.similar / (isFull ? 6 : 2));
  const texts = await similarTexts(tx, topic.scope, comparison, { of: "any", most, known: ids, sought, bounds });
  return { ids, comparison, texts };
}

async function worthMost(
  tx: Tx,
  { scope, frequencies }: Topic,
  limit: number,
  bounds: AtomSearchBounds,
): Promise<string[]> {
  const words = countedWords(scope.query, frequencies.share);
  const query = printAnyOf(words.flatMap(({ lexemes }) => lexemes));
  const rank = sql`${count(words)} / ln(2 + length(a.search)) * ${WORTH}`;
  const ranking = { query, rank, order: sql`a.rank desc, a.id desc`, most: limit };
  const found = candidates(scope, frequencies, ranking, bounds);
  if (found === undefined) return [];
  const { rows } = await sql<{ id: string }>`${preparedStatement}
    select a.id::text from ${found} a group by a.id order by max(a.rank) desc, a.id desc limit ${limit}`.execute(tx);
  return rows.map(({ id }) => id);
}

/** What a word counts by the largest share of the atoms that has it. */
const COUNTS = [
  { most: 0.005, counts: 1 },
  { most: 0.02, counts: 0.8 },
  { most: 0.1, counts: 0.55 },
] as const;

/** Words that are about as rare, and what each of them counts. */
type CountedWords = { readonly lexemes: readonly string[]; readonly counts: number };

/** The words of a query by how rare they are: without those that are frequent, where there are others. */
function countedWords(query: string, share: Shares): CountedWords[] {
  const asked = parseTextQuery(query);
  const lexemes = asked === undefined ? [] : lexemesOf(asked);
  const rare = Map.groupBy(lexemes, (lexeme) => COUNTS.find(({ most }) => share(lexeme) <= most)?.counts);
  const counted = COUNTS.flatMap(({ counts }) => ({ lexemes: rare.get(counts) ?? [], counts }));
  return counted.some(({ lexemes: some }) => some.length > 0) ? counted : [{ lexemes, counts: 1 }];
}

/** How many of the words an atom has, and how often: `ts_rank` divides that by how many words it is asked for. */
function count(words: readonly CountedWords[]): RawBuilder<unknown> {
  const each = words.map(
    ({ lexemes, counts }) =>
      sql`${counts * lexemes.length}::float8 * ts_rank(a.search, ${printAnyOf(lexemes)}::tsquery)`,
  );
  return sql`(${sql.join(each, sql` + `)})`;
}

/** The words that may be meant otherwise: none of the atoms has them. */
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
