import { type RawBuilder, sql } from "kysely";

/**
 * Whether a row `r` is of a team, for a walk in an order that begins with `r.team_id`: nothing but an index of the team
 * and that order has its rows in it. By an equality the team is no part of the order, and a planner whose statistics know
 * one team alone walks along the index of the order, past the rows of all teams, for each that has none (threats b224).
 */
export function isOfTeam(teamId: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`r.team_id = any(array[${teamId}])`;
}
