import { setImmediate } from "node:timers/promises";
import { type RawBuilder, sql } from "kysely";
import type { Db, Tx } from "../../database/change.ts";
import { withOrderedPlans } from "../../database/ordered-plans.ts";
import { preparedStatement } from "../../database/prepared-statement.ts";
import type { Reach } from "../atom.ts";
import type { AtomsWithin } from "../atoms-within.ts";
import type { PageSize } from "../page.ts";
import {
  type AtomSearchBounds,
  candidates,
  matches,
  resolveScope,
  SEARCH_BOUNDS,
  type SearchScope,
} from "./candidates.ts";
import {
  byRank,
  type Ranked,
  type RankedAtom,
  readRankedAtoms,
  type Search,
  SOURCES,
  withMeaning,
} from "./ranked-atoms.ts";
import type { RankedRow } from "./ranked-row.ts";
import { readTopic, withoutWords } from "./search-words.ts";
import {
  type Comparison,
  compareTexts,
  prepareComparison,
  type SimilarText,
  sampleTexts,
  similarTexts,
} from "./similar-atoms.ts";
import type { WantedWord } from "./similar-condition.ts";

/** Of the atoms that share a topic's words so many at least are compared with it, and twice as many as are wanted. */
const MIN_COMPARED = 40;

/**
 * An importance of 10 weighs twice one of 0, and what is a month old half as much as what is new. What was imported with
 * a time to come counts as new.
 */
const RECALL_SCORE: RawBuilder<unknown> = sql`ts_rank(a.search, wanted.q) * (1 + a.importance / 10)
  * power(0.5, greatest(0, least(extract(epoch from (now() - a.updated_at))::float8 / 2592000, 20)))`;
const MONTH_MS = 2_592_000_000;

/**
 * What is worth knowing about a topic: atoms that share any of its words, the closest first, the important and the
 * recent before the others, as far as there is room for them.
 */
export async function recallAtoms(
  db: Db,
  reach: Reach,
  search: Search & PageSize,
  bounds: AtomSearchBounds = SEARCH_BOUNDS,
): Promise<AtomsWithin> {
  const ranked = await rankForRecall(db, reach, search, bounds);
  const { found, cut } = await readRankedAtoms(db, reach, ranked, search);
  return { atoms: found.map(({ atom }) => atom), cut };
}

/** The atoms that share any of a topic's words, in some form, each once, the most worth knowing first. */
export async function rankForRecall(
  db: Db,
  reach: Reach,
  search: Search,
  bounds: AtomSearchBounds = SEARCH_BOUNDS,
): Promise<RankedAtom[]> {
  const { scope, ids, comparison, texts } = await byAnyWord(db, reach, search, bounds);
  const compared = await compareTexts(comparison, "any", texts);
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

/** What is found by a topic's words as they stand, and what is to be compared with it. */
type Recalled = {
  readonly scope: SearchScope;
  /** Of the atoms that have any of them, those first that are worth the most. */
  readonly ids: readonly string[];
  readonly comparison: Comparison;
  /** Of these atoms, and of others that may have the words in another form. */
  readonly texts: readonly SimilarText[];
};

async function byAnyWord(db: Db, reach: Reach, search: Search, bounds: AtomSearchBounds): Promise<Recalled> {
  const topic = readTopic(search.query);
  return withOrderedPlans(db, async (tx) => {
    // plainto_tsquery joins the words by `&`; a lexeme that holds one itself is only looked for in another spelling.
    const query = sql`replace(plainto_tsquery('english', ${search.query})::text, '&', '|')::tsquery`;
    const scope = await resolveScope(tx, reach, { query, words: topic.wanted }, search);
    const sample = await sampleTexts(tx, scope, bounds);
    const [ids, comparison] = await Promise.all([
      worthMost(tx, scope, Math.max(MIN_COMPARED, 2 * search.limit), bounds),
      // While the database ranks, which it has been asked for by then.
      setImmediate().then(() => prepareComparison(withoutWords(topic, scope.unindexed), sample)),
    ]);
    const isFull = ids.length >= search.limit;
    const sought = isFull ? await absentWords(tx, ids, comparison.words) : comparison.words;
    // Where the answer is full already, few more are looked for.
    const most = Math.ceil(bounds.similar / (isFull ? 6 : 2));
    const texts = await similarTexts(tx, scope, comparison, { of: "any", most, known: ids, sought, bounds });
    return { scope, ids, comparison, texts };
  });
}

async function worthMost(tx: Tx, scope: SearchScope, limit: number, bounds: AtomSearchBounds): Promise<string[]> {
  const found = await candidates(tx, scope, bounds);
  if (found === undefined) return [];
  const { rows } = await sql<{ id: string }>`${preparedStatement}
    with wanted as (select ${scope.query}::tsquery as q),
    ranked as (
      select a.id, ${RECALL_SCORE} as score from ${found} a, wanted where ${matches(scope)}
      order by score desc, a.id desc
      limit ${limit * SOURCES}
    )
    select id::text from ranked group by id order by max(score) desc, id desc limit ${limit}`.execute(tx);
  return rows.map(({ id }) => id);
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
