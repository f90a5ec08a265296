import { type RawBuilder, sql } from "kysely";
import type { Db } from "../../../database/change.ts";
import { SearchTextError } from "../../../database/errors.ts";
import { preparedStatement } from "../../../database/prepared-statement.ts";
import type { AtomMetadata, Reach } from "../../rows/atom.ts";
import { hasFacts, metadataFacts } from "../../rows/atom-facts.ts";
import { type AtomFilter, indexedTags, isOpen, madeWithin, passes } from "../../rows/atom-filter.ts";
import { orderOf, type Sort } from "../../rows/atom-order.ts";
import { ATOM_TERMS, owners } from "../../rows/atom-terms.ts";
import { UNEXPIRED } from "../../rows/expired-atoms.ts";
import { isAskedFor } from "../../rows/reachable-libraries.ts";
import { IS_REPLACING } from "../../rows/replaced-atoms.ts";
import { lexemesOf, parseTextQuery, printTextQuery, type TextQuery } from "../../rows/text-query.ts";
import type { Word } from "../words/folded-text.ts";
import { chooseIndexCondition, type Shares } from "../words/index-condition.ts";

/** How much a search looks at, whatever is stored and whatever is asked (docs/decisions/memory-search.md). */
export type AtomSearchBounds = {
  /** Atoms at random, of which the words' frequencies are estimated. */
  readonly sample: number;
  /** Rows of the index. */
  readonly indexed: number;
  /** The newest atoms, and the most important ones, where the index alone does not answer. */
  readonly newest: number;
  readonly important: number;
  /** Of the words' vectors as stored, from each source. */
  readonly bytes: number;
  /** Atoms at random, of which the frequencies of parts of words are estimated. */
  readonly similarSample: number;
  /** Atoms with similar words that are read from each source and compared, and what they may hold together. */
  readonly similar: number;
  readonly similarBytes: number;
};

export const SEARCH_BOUNDS: AtomSearchBounds = {
  sample: 250,
  indexed: 10_000,
  newest: 1_500,
  important: 500,
  bytes: 8 << 20,
  similarSample: 120,
  similar: 250,
  similarBytes: 1 << 20,
};

/** Of more libraries than these the newest atoms are looked for in the first alone. */
const MAX_LIBRARIES_WALKED = 500;

/** Which of a reach's atoms a search is for. */
export type SearchFilter = AtomFilter & {
  /** Null: every library of the reach. */
  readonly libraryId: string | null;
};

/** What is searched: the query as PostgreSQL prints it, and the active libraries of the reach. */
export type SearchScope = {
  readonly reach: Reach;
  readonly libraryIds: readonly string[];
  readonly query: string;
  readonly filter: AtomFilter;
  /** Of the words those that English leaves out of its index. */
  readonly unindexed: readonly string[];
  /** Whether any atom of the libraries replaces another one. */
  readonly hasReplacing: boolean;
};

/**
 * The active libraries of a reach, a query in PostgreSQL's words, and which of its words English has none for.
 *
 * @throws SearchTextError where the text negates more often in a row than PostgreSQL reads
 */
export async function resolveScope(
  db: Db,
  reach: Reach,
  { query, words }: { readonly query: RawBuilder<unknown>; readonly words: readonly Word[] },
  { libraryId, ...filter }: SearchFilter,
): Promise<SearchScope> {
  const { rows } = await sql<{
    query: string;
    unindexed: string[];
    ids: string[];
    hasReplacing: boolean;
  }>`${preparedStatement}
    select (${query})::text as query, array(
      select word from unnest(${words.map(({ text }) => text)}::text[]) word
      where to_tsvector('english', word) = ''::tsvector) as unindexed, array(
      select l.id from libraries l where ${isAskedFor(reach, libraryId)} order by ${ownFirst(reach)}) as ids, exists (
      select from libraries l cross join lateral (
        select from atoms a where a.library_id = l.id and ${IS_REPLACING} limit 1) a
      where ${isAskedFor(reach, libraryId)}) as "hasReplacing"`
    .execute(db)
    .catch(throwSearchTextError);
  const [{ query: printed, ids, ...found } = { query: "", ids: [], unindexed: [], hasReplacing: false }] = rows;
  return { reach, libraryIds: ids, query: printed, filter, ...found };
}

/** Of many libraries the last are not walked. */
function ownFirst({ subject }: Reach): RawBuilder<unknown> {
  return subject === undefined ? sql`l.id` : sql`l.parent_id is null, l.id`;
}

/** PostgreSQL's parser has room for 32 operators that wait for their word, and no error code of its own for more. */
function throwSearchTextError(error: unknown): never {
  if (error instanceof Error && error.message.includes("tsquery stack too small")) {
    throw new SearchTextError("The search has too many minus signs in a row: leave some out.");
  }
  throw error;
}

/** How frequent the words of a query are where it looks, by a sample. */
export type Frequencies = {
  /** What share of the atoms has a lexeme of the query, 0 to 1. */
  readonly share: Shares;
  /** What share of the atoms the whole query matches, 0 to 1. */
  readonly matching: number;
  /** Whether no atom of the sample has more than few words. */
  readonly isShort: boolean;
};

/** What candidates are chosen and ranked by. */
export type Ranking = {
  /** As PostgreSQL prints it: who does not match it is no candidate. */
  readonly query: string;
  /** Of an atom `a` that matches: the higher the better. */
  readonly rank: RawBuilder<unknown>;
  /** The order of a relation `a` of candidates by their `rank`, and how many of the first are wanted. */
  readonly order: RawBuilder<unknown>;
  readonly most: number;
};

/**
 * A relation of the atoms that are among the best, with `rank` and what else they are ordered by; the same one twice where
 * two sources have it.
 */
export type Candidates = RawBuilder<unknown>;

/** A source of candidates, by the columns that are read of each atom `a`. */
type Source = (columns: RawBuilder<unknown>) => RawBuilder<unknown>;

/**
 * The atoms that are among the best: from the index where few atoms have the words, and the newest and the most important
 * ones where many do. What is looked at is bounded.
 *
 * @returns undefined for a query that finds nothing
 */
export function candidates(
  scope: SearchScope,
  frequencies: Frequencies,
  ranking: Ranking,
  bounds: AtomSearchBounds,
): Candidates | undefined {
  const query = queryOf(scope);
  if (query === undefined) return undefined;
  const { condition, isComplete } = chooseIndexCondition(query, frequencies.share, frequencies.matching);
  const walk =
    (order: WalkOrder, rows: number): Source =>
    (columns) =>
      firstOfEach(scope, columns, order, rows);
  const { metadata } = scope.filter;
  const sources: readonly (Source | null)[] = [
    condition && ((columns) => indexed(scope, condition, columns, bounds)),
    walk("newest", isComplete ? bounds.sample : bounds.newest),
    isComplete ? null : walk("importance", bounds.important),
    isComplete || metadata === undefined ? null : (columns) => byMetadata(scope, metadata, columns, bounds),
  ];
  const best = sources.flatMap((source) => source && bestOf(source, scope, { ...ranking, ...frequencies }, bounds));
  return sql`(${sql.join(
    best.filter((each) => each !== null),
    sql` union all `,
  )})`;
}

/**
 * The best of a source, of which not more than a number of bytes of words is read: an atom of 60 kB has a vector of as
 * much. One of few words is matched and ranked where it is read, so that its words are not copied. Where the sample has
 * no other, what there is to read before each of many words is only added up once one of them is found.
 */
function bestOf(
  source: Source,
  scope: SearchScope,
  { query, rank, order, most, isShort }: Ranking & Pick<Frequencies, "isShort">,
  bounds: AtomSearchBounds,
): RawBuilder<unknown> {
  const few = sql`pg_column_size(a.search) <= ${fewBytes(bounds)}::integer`;
  const isCandidate = candidateCondition(scope);
  const matches = sql`a.search @@ ${query}::tsquery`;
  const size = sql`a.id, a.team_id, pg_column_size(a.search) as size`;
  const read = source(sql`${size}, a.importance, a.created_at, a.updated_at,
    case when ${few} and ${isCandidate} and ${matches} then ${rank} end as rank,
    case when not ${few} and ${isCandidate} then a.search end as search`);
  const before = (of: RawBuilder<unknown>) =>
    sql`select a.*, sum(a.size) over (rows unbounded preceding) as bytes from (${of}) a`;
  const within = sql`a.bytes <= ${bounds.bytes}::bigint`;
  const [summed, isRead] = isShort
    ? // With a limit that the planner knows, it finds them once, and not for each.
      [
        read,
        sql`a.id in (select a.id from (${before(source(size))}) a where ${within} limit ${sql.lit(bounds.indexed)})`,
      ]
    : [before(read), within];
  return sql`(
    select a.id, a.importance, a.created_at, a.updated_at, a.rank from (
      select a.id, a.importance, a.created_at, a.updated_at,
        coalesce(a.rank, case when a.search is not null and ${isRead} and ${matches} then ${rank} end) as rank
      from (${summed}) a offset 0
    ) a where a.rank is not null order by ${order} limit ${most})`;
}

/** Of as many as the index gives at most, atoms with so little to read each are read without a further bound. */
function fewBytes({ bytes, indexed }: AtomSearchBounds): number {
  return Math.floor(bytes / indexed);
}

/** What is asked for, with the tags that the index has beside the words; undefined for what finds nothing. */
function queryOf({ query, libraryIds, filter }: SearchScope): TextQuery | undefined {
  const words = parseTextQuery(query);
  if (words === undefined || libraryIds.length === 0) return undefined;
  const tags = indexedTags(filter);
  return tags.length === 0 ? words : { kind: "and", of: [words, ...tags] };
}

/** What is read of an atom of the sample: its words, and what {@link candidateCondition} asks for. */
const SAMPLED_COLUMNS = sql`a.id, a.team_id, a.library_id, a.search, a.tags, a.source, a.importance, a.updated_at,
  a.expires_at, a.valid_from, a.valid_to, a.metadata`;

/** Counts the words of a query in some atoms at random. */
export async function readFrequencies(db: Db, scope: SearchScope, bounds: AtomSearchBounds): Promise<Frequencies> {
  const query = queryOf(scope);
  if (query === undefined) return { share: () => 0, matching: 0, isShort: true };
  const lexemes = lexemesOf(query);
  const { tags, anyTags } = scope.filter;
  const isAskedByTag = indexedTags(scope.filter).length > 0;
  const asked = sql`${candidateCondition({ ...scope, filter: { tags, anyTags } })} and a.search @@ ${scope.query}::tsquery`;
  // The few that are asked for are marked and kept: to compare each word of 250 atoms with them takes longer.
  const words = sql`tsvector_to_array(ts_filter(setweight(a.search, 'A', ${lexemes}::text[]), '{a}'))`;
  const present = isAskedByTag ? sql`${words} || array(select 'tag ' || tag from unnest(a.tags) tag)` : words;
  // Of a single word, the query's own share says it.
  const counts =
    query.kind === "word"
      ? sql`'{}'::jsonb`
      : sql`(select coalesce(jsonb_object_agg(lexeme, atoms), '{}') from (
          select lexeme, count(*) as atoms from sample a, unnest(${present}) lexeme
          where lexeme = any(${lexemes}::text[]) group by lexeme
        ) counted)`;
  const { rows } = await sql<{
    looked: number;
    matching: number;
    longest: number;
    counts: Record<string, number>;
  }>`${preparedStatement}
    with sample as materialized (
      select * from (
        select a.*, sum(pg_column_size(a.search)) over (rows unbounded preceding) as bytes
        from (${atRandom(scope, SAMPLED_COLUMNS, bounds.sample)}) a
      ) a where a.bytes <= ${bounds.bytes}::bigint
    )
    select count(*)::integer as looked, (count(*) filter (where ${asked}))::integer as matching,
      coalesce(max(pg_column_size(a.search)), 0) as longest, ${counts} as counts from sample a`.execute(db);
  const [{ looked, matching, longest, counts: counted } = { looked: 0, matching: 0, longest: 0, counts: {} }] = rows;
  const atomsWith = new Map(query.kind === "word" ? [[query.lexeme, matching]] : Object.entries(counted));
  const shareOf = (atoms: number): number => atoms / Math.max(1, looked);
  const share = (lexeme: string): number => shareOf(atomsWith.get(lexeme) ?? 0);
  return { share, matching: shareOf(matching), isShort: longest <= fewBytes(bounds) };
}

type WalkOrder = Extract<Sort, "newest" | "importance">;

/**
 * The first atoms of each library in the order of an index, together about `rows`.
 *
 * @param columns of `a`, with its team's id
 */
export function firstOfEach(
  scope: SearchScope,
  columns: RawBuilder<unknown>,
  order: WalkOrder,
  rows: number,
): RawBuilder<unknown> {
  const libraryIds = scope.libraryIds.slice(0, MAX_LIBRARIES_WALKED);
  const each = Math.max(10, Math.ceil(rows / libraryIds.length));
  // The other order's index does not know when an atom was made.
  const made = order === "newest" ? sql`and ${madeWithin(scope.filter)}` : sql``;
  return sql`select a.* from unnest(${libraryIds}::text[]) library (id) cross join lateral (
      select ${columns} from atoms a where a.library_id = library.id ${made} order by ${orderOf(order).by} limit ${each}
    ) a where a.team_id = ${scope.reach.teamId}`;
}

/** Atoms that a sample of several libraries is chosen from. */
const MAX_SAMPLED = 1_000;

/**
 * Of the atoms of all the libraries as many as `rows`, the same ones each time, and nothing that is known of an atom
 * decides whether it is one of them: which atoms are the newest changes no share of a word.
 */
export function atRandom(scope: SearchScope, columns: RawBuilder<unknown>, rows: number): RawBuilder<unknown> {
  const libraryIds = scope.libraryIds.slice(0, MAX_LIBRARIES_WALKED);
  const each = Math.min(rows, Math.max(10, Math.ceil(MAX_SAMPLED / libraryIds.length)));
  return sql`select a.* from unnest(${libraryIds}::text[]) library (id) cross join lateral (
      select ${columns}, ${RANDOM_BITS} as bits from atoms a where a.library_id = library.id
      order by ${RANDOM_BITS} limit ${each}
    ) a where a.team_id = ${scope.reach.teamId} order by a.bits limit ${rows}`;
}

/** Of an atom's id, as the index `atoms_at_random` has them. */
const RANDOM_BITS = sql`substring(uuid_send(a.id) from 9)`;

/**
 * What the index gives. It holds each atom's team, library and tags beside its words: no other team's rows are read.
 */
function indexed(
  scope: SearchScope,
  condition: TextQuery,
  columns: RawBuilder<unknown>,
  bounds: AtomSearchBounds,
): RawBuilder<unknown> {
  const owned = owners(scope.reach, scope.libraryIds);
  return sql`select ${columns} from atoms a
    where ${ATOM_TERMS} @@ ${printTextQuery({ kind: "and", of: [owned, condition] })}::tsquery
    limit ${bounds.indexed}`;
}

/** The atoms with the metadata that is asked for, whatever their words: where they are few, all of them are looked at. */
export function byMetadata(
  { reach, libraryIds }: SearchScope,
  metadata: AtomMetadata,
  columns: RawBuilder<unknown>,
  bounds: AtomSearchBounds,
): RawBuilder<unknown> {
  return sql`select ${columns} from atoms a where ${hasFacts(owners(reach, libraryIds), metadataFacts(metadata))}
    limit ${bounds.indexed}`;
}

/** The condition of a candidate beside its words: within the reach, and what the search is for. */
export function candidateCondition({ reach, libraryIds, filter }: SearchScope): RawBuilder<unknown> {
  return sql`a.team_id = ${reach.teamId} and a.library_id = any(${[...libraryIds]}::text[])
    and (${isOpen(filter)}::boolean or (${passes(filter)})) and ${UNEXPIRED}`;
}
