import { type RawBuilder, sql } from "kysely";
import type { Db } from "../database/change.ts";

/** Names of teams that a page offers; any other can be written. */
const OFFERED = 200;

/** A team by its id. */
export type TeamName = { readonly id: string; readonly name: string };

/** Teams with their names, deleted ones too, as a question that may be part of a statement. */
export function teamNameRows(ids: readonly string[]): RawBuilder<TeamName> {
  return sql`select id, name from teams where id = any(${ids}::text[])`;
}

/** The names of teams, deleted ones too, by their ids. */
export async function teamNames(db: Db, ids: readonly string[]): Promise<Map<string, string>> {
  if (ids.length === 0) return new Map();
  return namesById((await teamNameRows(ids).execute(db)).rows);
}

/** Rows of {@link teamNameRows} as a map. */
export function namesById(rows: readonly TeamName[]): Map<string, string> {
  return new Map(rows.map(({ id, name }) => [id, name]));
}

/**
 * Teams in service whose names a page offers: some of them, where there are very many.
 *
 * @param teamIds those of these; undefined for every team
 */
export function offeredTeamRows(teamIds: readonly string[] | undefined): RawBuilder<Pick<TeamName, "name">> {
  return sql`select name from teams where state = 'active'
    ${teamIds === undefined ? sql`` : sql`and id = any(${teamIds}::text[])`} order by id limit ${sql.lit(OFFERED)}`;
}

/** Rows of {@link offeredTeamRows} in the order of their names. */
export function offeredNames(rows: readonly Pick<TeamName, "name">[]): string[] {
  return rows.map(({ name }) => name).sort();
}
