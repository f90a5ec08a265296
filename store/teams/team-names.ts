import { type RawBuilder, sql } from "kysely";
import type { Db } from "../database/change.ts";

/** Maximum number of team names that a page offers; any other can be typed. */
const OFFERED = 200;

/** Team with its id. */
export type TeamName = { readonly id: string; readonly name: string };

/** Returns a query for teams with their names, including deleted teams, which may be part of a statement. */
export function teamNameRows(ids: readonly string[]): RawBuilder<TeamName> {
  return sql`select id, name from teams where id = any(${ids}::text[])`;
}

/** Reads the names of teams by their ids, including deleted teams. */
export async function teamNames(db: Db, ids: readonly string[]): Promise<Map<string, string>> {
  if (ids.length === 0) return new Map();
  return namesById((await teamNameRows(ids).execute(db)).rows);
}

/** Converts rows of {@link teamNameRows} to a map. */
export function namesById(rows: readonly TeamName[]): Map<string, string> {
  return new Map(rows.map(({ id, name }) => [id, name]));
}

/**
 * Returns a query for teams in service whose names a page offers: some of them, if there are very many.
 *
 * @param teamIds teams that may be offered; undefined for every team
 */
export function offeredTeamRows(teamIds: readonly string[] | undefined): RawBuilder<Pick<TeamName, "name">> {
  return sql`select name from teams where state = 'active'
    ${teamIds === undefined ? sql`` : sql`and id = any(${teamIds}::text[])`} order by id limit ${sql.lit(OFFERED)}`;
}

/** Returns the names in rows of {@link offeredTeamRows}, sorted. */
export function offeredNames(rows: readonly Pick<TeamName, "name">[]): string[] {
  return rows.map(({ name }) => name).sort();
}
