import { type RawBuilder, sql } from "kysely";
import type { Reach } from "../../../domain/access/reach.ts";
import { isPart } from "../../../store/libraries/reachable-libraries.ts";
import type { TextQuery } from "./text-query.ts";

/** As the index `atoms_terms` has it. */
export const ATOM_TERMS: RawBuilder<unknown> = sql`(a.search || atom_terms(a.team_id, a.library_id, a.tags))`;

/** Beyond so many libraries their atoms are looked for in the team's. */
const MAX_LIBRARIES_IN_INDEX = 16;

/** What the index has of the owners of a reach's atoms in these libraries. */
export function owners(reach: Reach, libraryIds: readonly string[]): TextQuery {
  const isMany = libraryIds.length > MAX_LIBRARIES_IN_INDEX;
  const named = isMany ? libraryIds.filter(isPart) : libraryIds;
  const lexemes = [...(isMany ? [`team ${reach.teamId}`] : []), ...named.map((libraryId) => `library ${libraryId}`)];
  return { kind: "or", of: lexemes.map((lexeme) => ({ kind: "word", lexeme })) };
}
