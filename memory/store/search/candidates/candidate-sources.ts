import { type RawBuilder, sql } from "kysely";
import type { AtomMetadata } from "../../rows/atom.ts";
import { hasFacts, metadataFacts } from "../../rows/atom-facts.ts";
import { madeWithin } from "../../rows/atom-filter.ts";
import { orderOf, type Sort } from "../../rows/atom-order.ts";
import { ATOM_TERMS, owners } from "../../rows/atom-terms.ts";
import { printTextQuery, type TextQuery } from "../../rows/text-query.ts";
import type { AtomSearchBounds } from "./search-bounds.ts";
import type { SearchScope } from "./search-scope.ts";

/** Number of libraries, the first ones, in which atoms are walked and sampled. */
const MAX_LIBRARIES_WALKED = 500;

export type WalkOrder = Extract<Sort, "newest" | "importance">;

/**
 * Returns a relation of the first atoms of each library in the order of an index, about `rows` in all.
 *
 * @param columns of `a`, its team's id among them
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

/** Number of atoms that a sample of several libraries is chosen from. */
const MAX_SAMPLED = 1_000;

/**
 * Returns a relation of `rows` atoms of all the libraries, chosen at random but the same each time. Nothing that is
 * known of an atom decides whether it is chosen: a library's newest atoms do not change the share of a word.
 */
export function atRandom(scope: SearchScope, columns: RawBuilder<unknown>, rows: number): RawBuilder<unknown> {
  const libraryIds = scope.libraryIds.slice(0, MAX_LIBRARIES_WALKED);
  const each = Math.min(rows, Math.max(10, Math.ceil(MAX_SAMPLED / libraryIds.length)));
  return sql`select a.* from unnest(${libraryIds}::text[]) library (id) cross join lateral (
      select ${columns}, ${RANDOM_BITS} as bits from atoms a where a.library_id = library.id
      order by ${RANDOM_BITS} limit ${each}
    ) a where a.team_id = ${scope.reach.teamId} order by a.bits limit ${rows}`;
}

/** Random bits of an atom's id, as the index `atoms_at_random` has them. */
const RANDOM_BITS = sql`substring(uuid_send(a.id) from 9)`;

/**
 * Returns the atoms that the index of words gives. It holds each atom's team, library and tags beside its words: no
 * other team's rows are read.
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

/** Returns the atoms with the metadata that is asked for, whatever their words: if they are few, all of them. */
export function byMetadata(
  { reach, libraryIds }: SearchScope,
  metadata: AtomMetadata,
  columns: RawBuilder<unknown>,
  bounds: AtomSearchBounds,
): RawBuilder<unknown> {
  return sql`select ${columns} from atoms a where ${hasFacts(owners(reach, libraryIds), metadataFacts(metadata))}
    limit ${bounds.indexed}`;
}
