import { type RawBuilder, sql } from "kysely";
import type { AtomMetadata } from "../../rows/atom.ts";
import { hasFacts, metadataFacts } from "../../rows/atom-facts.ts";
import { madeWithin } from "../../rows/atom-filter.ts";
import { orderOf, type Sort } from "../../rows/atom-order.ts";
import { ATOM_TERMS, owners } from "../../rows/atom-terms.ts";
import { printTextQuery, type TextQuery } from "../../rows/text-query.ts";
import type { AtomSearchBounds } from "./search-bounds.ts";
import type { SearchScope } from "./search-scope.ts";

/** Of more libraries than these the newest atoms are looked for in the first alone. */
const MAX_LIBRARIES_WALKED = 500;

export type WalkOrder = Extract<Sort, "newest" | "importance">;

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
export function byTerms(
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
