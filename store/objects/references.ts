import { type RawBuilder, sql } from "kysely";
import type { NamedRef } from "../../domain/key/declaration/declared-key.ts";
import type { ResolvedReference } from "../../domain/key/observed/resolve-references.ts";
import type { Db } from "../database/change.ts";

/**
 * Resolves references among the objects that a team has in service. A reference without a namespace matches the only
 * object of its name, in any namespace (as in `findLibraryByName`).
 *
 * @param cluster cluster of the declarations; all if left out
 * @returns results in the order of `refs`
 */
export async function findInTeam(
  db: Db,
  table: "gateways" | "libraries",
  teamId: string,
  refs: readonly NamedRef[],
  cluster?: string,
): Promise<ResolvedReference[]> {
  if (refs.length === 0) return [];
  const rows = await db
    .selectFrom(table)
    .select(["id", "namespace", "name"])
    .where("team_id", "=", teamId)
    .where("state", "=", "active")
    .where("name", "in", [...new Set(refs.map(({ name }) => name))])
    .$if(cluster !== undefined, (query) => query.where("cluster", "=", cluster ?? ""))
    .execute();
  const named = Map.groupBy(rows, ({ name }) => name);
  return refs.map(({ namespace, name }) => {
    const found = named.get(name) ?? [];
    const [first, ...more] = found.filter((row) => namespace === "" || row.namespace === namespace);
    return first === undefined ? "absent" : more.length > 0 ? "ambiguous" : { id: first.id };
  });
}

/** Gateway or library with its id. */
export type NamedRow = NamedRef & { readonly id: string };

/**
 * Returns a query for gateways or libraries by their ids, which may be part of a statement.
 *
 * @param teamIds teams whose objects may be named; left out for all
 */
export function namedRows(
  table: "gateways" | "libraries",
  ids: readonly string[],
  teamIds?: readonly string[],
): RawBuilder<NamedRow> {
  return sql`select id, namespace, name from ${sql.table(table)} where id = any(${ids}::text[])
    ${teamIds === undefined ? sql`` : sql`and team_id = any(${teamIds}::text[])`}`;
}

/**
 * Reads the names of gateways or libraries by their ids.
 *
 * @param teamIds teams whose objects may be named; left out for all
 */
export async function namesOf(
  db: Db,
  table: "gateways" | "libraries",
  ids: readonly string[],
  teamIds?: readonly string[],
): Promise<Map<string, NamedRef>> {
  if (ids.length === 0) return new Map();
  return refsById((await namedRows(table, ids, teamIds).execute(db)).rows);
}

/** Converts rows of {@link namedRows} to a map. */
export function refsById(rows: readonly NamedRow[]): Map<string, NamedRef> {
  return new Map(rows.map(({ id, namespace, name }) => [id, { namespace, name }]));
}
