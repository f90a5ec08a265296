import { sql } from "kysely";
import type { Db } from "../../../../store/database/change.ts";
import { preparedStatement } from "../../../../store/database/prepared-statement.ts";
import { indexedTags } from "../../rows/atom-filter.ts";
import { lexemesOf } from "../../rows/text-query.ts";
import type { ShareOfLexeme } from "../words/index-condition.ts";
import { atRandom } from "./candidate-sources.ts";
import { type AtomSearchBounds, fewBytes } from "./search-bounds.ts";
import { candidateCondition, queryOf, type SearchScope } from "./search-scope.ts";

/** Frequencies of a query's words in the libraries that are searched, by a sample. */
export type Frequencies = {
  /** Share of the atoms that has a lexeme of the query, 0 to 1. */
  readonly share: ShareOfLexeme;
  /** Share of the atoms that the whole query matches, 0 to 1. */
  readonly matching: number;
  /** True if each atom of the sample has few words. */
  readonly isShort: boolean;
};

/** Columns that are read of an atom of the sample: its words, and the columns of {@link candidateCondition}. */
const SAMPLED_COLUMNS = sql`a.id, a.team_id, a.library_id, a.search, a.tags, a.source, a.importance, a.updated_at,
  a.expires_at, a.valid_from, a.valid_to, a.metadata`;

/** Counts the words of a query in a random sample of atoms. */
export async function readFrequencies(db: Db, scope: SearchScope, bounds: AtomSearchBounds): Promise<Frequencies> {
  const query = queryOf(scope);
  if (query === undefined) return { share: () => 0, matching: 0, isShort: true };
  const lexemes = lexemesOf(query);
  const { tags, anyTags } = scope.filter;
  const isAskedByTag = indexedTags(scope.filter).length > 0;
  const asked = sql`${candidateCondition({ ...scope, filter: { tags, anyTags } })} and a.words @@ ${scope.query}::tsquery`;
  // The few that are asked for are marked and kept: to compare each word of 250 atoms with them takes longer.
  const kept = sql`ts_filter(setweight(a.search, 'A', ${lexemes}::text[]), '{a}')`;
  const words = sql`tsvector_to_array(a.words)`;
  const present = isAskedByTag ? sql`${words} || array(select 'tag ' || tag from unnest(a.tags) tag)` : words;
  // For a single word, its share is that of the whole query.
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
      select a.*, ${kept} as words from (
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
