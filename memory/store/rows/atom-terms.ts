import { type RawBuilder, sql } from "kysely";
import type { Reach } from "../../../domain/access/reach.ts";
import { isPart } from "../../../store/libraries/reachable-libraries.ts";
import type { TextQuery } from "./text-query.ts";

/** Expression of the index `atoms_terms`. */
export const ATOM_TERMS: RawBuilder<unknown> = sql`(a.search || atom_terms(a.team_id, a.library_id, a.tags))`;

/** Number of libraries up to which a query names each; with more, where they are all of a team, it names the team. */
const MAX_LIBRARIES_IN_INDEX = 16;

/** Returns the terms by which the index knows the owners of a reach's atoms in these libraries. */
export function owners(reach: Reach, libraryIds: readonly string[]): TextQuery {
  const isMany = reach.libraryIds === null && libraryIds.length > MAX_LIBRARIES_IN_INDEX;
  const named = isMany ? libraryIds.filter(isPart) : libraryIds;
  const lexemes = [...(isMany ? [`team ${reach.teamId}`] : []), ...named.map((libraryId) => `library ${libraryId}`)];
  return { kind: "or", of: lexemes.map((lexeme) => ({ kind: "word", lexeme })) };
}
