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
import { lexemesOf, parseTextQuery, type Shares } from "./index-condition.ts";
import {
  byRank,
  orderNewerFirst,
  type Ranked,
  readRankedAtoms,
  type Search,
  SOURCES,
  withMeaning,
} from "./ranked-atoms.ts";
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

/** The atoms that share any of a topic's words, in some form, or mean the same, each once, the most worth knowing first. */
export async function rankForRecall(
  db: Db,
  reach: Reach,
  search: Search,
  bounds: AtomSearchBounds = SEARCH_BOUNDS,
): Promise<Ranked[]> {
  const { scope, ids, comparison, texts, sample } = await byAnyWord(db, reach, search, bounds);
  const compared = await compareTexts(comparison, "any", texts);
  const known = new Set(ids);
  const byWords = compared
    .filter(({ id, score }) => score > 0 || known.has(id))
    .map(({ score, hasAll, ...atom }): Ranked => ({ ...atom, rank: Math.max(score, MIN_SCORE), match: "nearest" }));
  const ranked = (await withMeaning(db, scope, byWords, search.meaning))
    .map((atom) => ({ ...atom, rank: worth(atom) }))
    .toSorted(byRank);
  return (await orderNewerFirst(db, ranked, sample)).slice(0, search.limit);
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
  least(20, greatest(0, extract(epoch from (now() - a.updated_at))::float8 * 1000 / ${HALF_LIFE_MS}))))`);

/** What is found by a topic's words as they stand, and what is to be compared with it. */
type Recalled = {
  readonly scope: SearchScope;
  /** Of the atoms that have any of them, those first that are worth the most. */
  readonly ids: readonly string[];
  readonly comparison: Comparison;
  /** Of these atoms, and of others that may have the words in another form. */
  readonly texts: readonly SimilarText[];
  /** As {@link sampleTexts} has them. */
  readonly sample: readonly string[];
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
    return { scope, ids, comparison, texts, sample };
  });
}

async function worthMost(tx: Tx, scope: SearchScope, limit: number, bounds: AtomSearchBounds): Promise<string[]> {
  const found = await candidates(tx, scope, bounds);
  if (found === undefined) return [];
  const { rows } = await sql<{ id: string }>`${preparedStatement}
    with wanted as (select ${scope.query}::tsquery as q),
    ranked as (
      select a.id, ts_rank(${LABEL_WEIGHTS}, ${labelledWords(scope.query, found.share)}, wanted.q, ${BY_LENGTH}) * ${WORTH}
        as score
      from ${found.atoms} a, wanted where ${matches(scope)}
      order by score desc, a.id desc
      limit ${limit * SOURCES}
    )
    select id::text from ranked group by id order by max(score) desc, id desc limit ${limit}`.execute(tx);
  return rows.map(({ id }) => id);
}

/** What `ts_rank` counts a word for that has the label D, as all have at first, C, B and A. */
const LABEL_WEIGHTS = sql.raw("'{0.25, 0.55, 0.8, 1}'");
/** The labels of rare words, each with the largest share of the atoms that has such a word. */
const RARE_LABELS = Object.entries({ A: 0.005, B: 0.02, C: 0.1 });
/** Divides a rank by 1 and the logarithm of how many words the atom has. */
const BY_LENGTH = sql.raw("1");

/** The words of an atom, the query's rare ones labelled by how rare they are: `ts_rank` itself knows nothing of it. */
function labelledWords(query: string, share: Shares): RawBuilder<unknown> {
  const asked = parseTextQuery(query);
  const lexemes = asked === undefined ? [] : lexemesOf(asked);
  const labels = Map.groupBy(lexemes, (lexeme) => RARE_LABELS.find(([, most]) => share(lexeme) <= most)?.[0]);
  return RARE_LABELS.reduce(
    (words, [label]) => sql`setweight(${words}, ${sql.lit(label)}, ${labels.get(label) ?? []}::text[])`,
    sql`a.search`,
  );
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
