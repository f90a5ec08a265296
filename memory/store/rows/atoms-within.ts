import { type QueryExecutorProvider, type RawBuilder, sql } from "kysely";
import type { Reach } from "../../../domain/access/reach.ts";
import { preparedStatement } from "../../../store/database/prepared-statement.ts";
import { PAGE_BYTES, type PageSize } from "../../../store/libraries/page.ts";
import type { Atom } from "./atom.ts";
import { ATOMS_IN_LIBRARIES, type AtomRow, atomOf, isAtomId, reachable, toAtom } from "./atoms.ts";

/** First atoms of an order that fit into a page, and the ids of the atoms behind them that did not fit. */
export type AtomsWithin = { readonly atoms: readonly Atom[]; readonly cut: readonly string[] };

/**
 * Returns the bytes of a row of atoms or revisions `a` as it is stored. Its links are left out, which are few and
 * short: the end of a page must not show how many links a reader may not see (threats b58).
 */
export function storedBytes({ characters }: PageSize): RawBuilder<unknown> {
  const content = sql`octet_length(a.content)`;
  const begun = characters === undefined ? content : sql`least(${content}, ${4 * characters}::integer)`;
  return sql`${begun} + octet_length(a.tags::text) + coalesce(octet_length(a.source), 0) + octet_length(a.metadata::text)`;
}

/** Returns, for rows `a` with their `bytes`, the number of bytes before each in an order. */
export function bytesBefore(order: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`coalesce(sum(a.bytes) over (order by ${order} rows between unbounded preceding and 1 preceding), 0)`;
}

/**
 * Reads atoms up to a number and a size in bytes, but one in any case. What does not fit stays in the database.
 *
 * @param positions a statement of the columns `id`, `place` (the position, from 1 on), and `before` (of
 * {@link bytesBefore})
 */
export async function readWithin(
  db: QueryExecutorProvider,
  reach: Reach,
  positions: RawBuilder<unknown>,
  { limit, characters, bytes = PAGE_BYTES }: PageSize & { readonly limit: number },
): Promise<AtomsWithin> {
  const shown = sql`case when p.place <= ${limit}::bigint and p.before < ${bytes}::bigint then p.id end`;
  const { rows } = await sql<{ found: string } & (AtomRow | { id: null })>`${preparedStatement}
    with p as materialized (${positions})
    select p.id::text as found, a.* from p left join lateral ${atomOf(shown, reach, characters)} a on true
    order by p.place`.execute(db);
  return {
    atoms: rows.flatMap((row) => (row.id === null ? [] : [toAtom(row)])),
    cut: rows.flatMap((row) => (row.id === null ? [row.found] : [])),
  };
}

/** Reads the atoms of these ids that the reach has, each once and in this order, up to the size of the page. */
export async function readInOrder(
  db: QueryExecutorProvider,
  reach: Reach,
  ids: readonly string[],
  size: PageSize = {},
): Promise<AtomsWithin> {
  const known = [...new Set(ids.filter(isAtomId))];
  if (known.length === 0) return { atoms: [], cut: [] };
  const positions = sql`select a.id, a.place, ${bytesBefore(sql`a.place`)} as before
    from unnest(${known}::uuid[]) with ordinality known (id, place) cross join lateral (
      select a.id, known.place, ${storedBytes(size)} as bytes from ${ATOMS_IN_LIBRARIES}
      where a.id = known.id and ${reachable(reach)} offset 0
    ) a`;
  return readWithin(db, reach, positions, { ...size, limit: known.length });
}
