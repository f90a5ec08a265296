import { type RawBuilder, sql } from "kysely";
import { chooseIndexCondition } from "../words/index-condition.ts";
import { byMetadata, byTerms, firstOfEach, type WalkOrder } from "./candidate-sources.ts";
import type { Frequencies } from "./frequencies.ts";
import { type AtomSearchBounds, fewBytes } from "./search-bounds.ts";
import { candidateCondition, queryOf, type SearchScope } from "./search-scope.ts";

/** Query and order that candidates are chosen and ranked by. */
export type Ranking = {
  /** Query as PostgreSQL prints it: an atom that does not match it is no candidate. */
  readonly query: string;
  /** Rank of an atom `a` that matches: the higher the better. */
  readonly rank: RawBuilder<unknown>;
  /** Order of a relation `a` of candidates by their `rank`, and the number of the first ones that are wanted. */
  readonly order: RawBuilder<unknown>;
  readonly most: number;
};

/**
 * Relation of the atoms that are among the best, with `rank` and the other columns of their order. An atom that two
 * sources have is in it twice.
 */
export type Candidates = RawBuilder<unknown>;

/** Source of candidates, given the columns that are read of each atom `a`. */
type Source = (columns: RawBuilder<unknown>) => RawBuilder<unknown>;

/**
 * Returns the atoms that are among the best: from the index if few atoms have the words, and the newest and most
 * important atoms if many do. The number of rows that are read is bounded.
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
    condition && ((columns) => byTerms(scope, condition, columns, bounds)),
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
 * Returns the best atoms of a source, and reads a limited number of bytes of their words: the word vector of an atom of
 * 60 kB is as large. These words are unpacked once, by a copy that changes nothing, and not for each function that reads
 * them. An atom of few words is matched and ranked where it is read, so that its words are not copied. If
 * the sample has only such atoms, the bytes before an atom of many words are only added up once there is one.
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
    case when not ${few} and ${isCandidate} then a.search end as words`);
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
        coalesce(a.rank, case when ${matches} then ${rank} end) as rank
      from (
        select a.*, case when a.words is not null and ${isRead} then setweight(a.words, 'D', '{}') end as search
        from (${summed}) a offset 0
      ) a offset 0
    ) a where a.rank is not null order by ${order} limit ${most})`;
}
