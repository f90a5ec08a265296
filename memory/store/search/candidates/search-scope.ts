import { type RawBuilder, sql } from "kysely";
import type { Reach } from "../../../../domain/access/reach.ts";
import type { Db } from "../../../../store/database/change.ts";
import { SearchTextError } from "../../../../store/database/errors.ts";
import { preparedStatement } from "../../../../store/database/prepared-statement.ts";
import { isAskedFor } from "../../../../store/libraries/reachable-libraries.ts";
import { type AtomFilter, indexedTags, isOpen, passes } from "../../rows/atom-filter.ts";
import { UNEXPIRED } from "../../rows/expired-atoms.ts";
import { IS_REPLACING } from "../../rows/replaced-atoms.ts";
import { parseTextQuery, type TextQuery } from "../../rows/text-query.ts";
import type { Word } from "../words/folded-text.ts";

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

/** What is asked for, with the tags that the index has beside the words; undefined for what finds nothing. */
export function queryOf({ query, libraryIds, filter }: SearchScope): TextQuery | undefined {
  const words = parseTextQuery(query);
  if (words === undefined || libraryIds.length === 0) return undefined;
  const tags = indexedTags(filter);
  return tags.length === 0 ? words : { kind: "and", of: [words, ...tags] };
}

/** The condition of a candidate beside its words: within the reach, and what the search is for. */
export function candidateCondition({ reach, libraryIds, filter }: SearchScope): RawBuilder<unknown> {
  return sql`a.team_id = ${reach.teamId} and a.library_id = any(${[...libraryIds]}::text[])
    and (${isOpen(filter)}::boolean or (${passes(filter)})) and ${UNEXPIRED}`;
}
