import { type RawBuilder, sql } from "kysely";
import type { NamedRef } from "../../domain/key/declaration/declared-key.ts";
import type { ResolvedReference } from "../../domain/key/observed/resolve-references.ts";
import type { Db } from "../database/change.ts";

/**
 * Looks references up among what a team has in service. One without a namespace is of the only one of its name,
 * wherever that is (as in `findLibraryByName`).
 *
 * @param cluster whose declarations are meant; all there is, where it is left out
 * @returns in the order of `refs`
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

/** A gateway or a library in service, by its id. */
export type NamedRow = NamedRef & { readonly id: string };

/**
 * Gateways or libraries by their ids, as a question that may be part of a statement.
 *
 * @param teamIds whose may be named; left out for all
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
 * The names of gateways or libraries by their ids, where they are in service.
 *
 * @param teamIds whose may be named; left out for all
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

/** Rows of {@link namedRows} as a map. */
export function refsById(rows: readonly NamedRow[]): Map<string, NamedRef> {
  return new Map(rows.map(({ id, namespace, name }) => [id, { namespace, name }]));
}
