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

/** Filter of a search: which of a reach's atoms it is for. */
export type SearchFilter = AtomFilter & {
  /** Library that is searched; null for every library of the reach. */
  readonly libraryId: string | null;
};

/** Scope of a search: the query as PostgreSQL prints it, the active libraries of the reach, and the filter. */
export type SearchScope = {
  readonly reach: Reach;
  readonly libraryIds: readonly string[];
  readonly query: string;
  readonly filter: AtomFilter;
  /** Lexeme of each word of the search in the index; of a word that it leaves out, as frequent English ones, null. */
  readonly lexemes: ReadonlyMap<string, string | null>;
  /** True if any atom of the libraries replaces another one. */
  readonly hasReplacing: boolean;
};

/**
 * Resolves a search: the active libraries of a reach, the query as PostgreSQL prints it, and the words that its
 * configuration for English leaves out.
 *
 * @throws SearchTextError if the text has more negations in a row than PostgreSQL reads
 */
export async function resolveScope(
  db: Db,
  reach: Reach,
  { query, words }: { readonly query: RawBuilder<unknown>; readonly words: readonly Word[] },
  { libraryId, ...filter }: SearchFilter,
): Promise<SearchScope> {
  const { rows } = await sql<{
    query: string;
    lexemes: (string | null)[];
    ids: string[];
    hasReplacing: boolean;
  }>`${preparedStatement}
    select (${query})::text as query, array(
      select (tsvector_to_array(to_tsvector('english', word)))[1]
      from unnest(${words.map(({ text }) => text)}::text[]) with ordinality asked (word, at) order by at) as lexemes, array(
      select l.id from libraries l where ${isAskedFor(reach, libraryId)} order by ${ownFirst(reach)}) as ids, exists (
      select from libraries l cross join lateral (
        select from atoms a where a.library_id = l.id and ${IS_REPLACING} limit 1) a
      where ${isAskedFor(reach, libraryId)}) as "hasReplacing"`
    .execute(db)
    .catch(throwSearchTextError);
  const [{ query: printed, ids, lexemes, hasReplacing } = { query: "", ids: [], lexemes: [], hasReplacing: false }] =
    rows;
  const lexemeOf = new Map(words.map(({ text }, at) => [text, lexemes[at] ?? null]));
  return { reach, libraryIds: ids, query: printed, lexemes: lexemeOf, hasReplacing, filter };
}

/** Returns the order of libraries, a subject's own parts first: of many libraries the last are not walked. */
function ownFirst({ subject }: Reach): RawBuilder<unknown> {
  return subject === undefined ? sql`l.id` : sql`l.parent_id is null, l.id`;
}

/**
 * Throws an error again, as a SearchTextError if the query has more than 32 operators that wait for their word:
 * PostgreSQL's parser has space for no more, and has no error code for this.
 */
function throwSearchTextError(error: unknown): never {
  if (error instanceof Error && error.message.includes("tsquery stack too small")) {
    throw new SearchTextError("The search has too many minus signs in a row: leave some out.");
  }
  throw error;
}

/** Returns the query with the tags that the index has beside the words; undefined for a search that finds nothing. */
export function queryOf({ query, libraryIds, filter }: SearchScope): TextQuery | undefined {
  const words = parseTextQuery(query);
  if (words === undefined || libraryIds.length === 0) return undefined;
  const tags = indexedTags(filter);
  return tags.length === 0 ? words : { kind: "and", of: [words, ...tags] };
}

/** Returns the condition of a candidate beside its words: it is in the reach and passes the filter. */
export function candidateCondition({ reach, libraryIds, filter }: SearchScope): RawBuilder<unknown> {
  return sql`a.team_id = ${reach.teamId} and a.library_id = any(${[...libraryIds]}::text[])
    and (${isOpen(filter)}::boolean or (${passes(filter)})) and ${UNEXPIRED}`;
}
