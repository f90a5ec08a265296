import { type RawBuilder, sql } from "kysely";

/**
 * Returns the SQL condition that a row `r` belongs to a team, for a walk in an order that begins with `r.team_id`. Only
 * an index of the team and that order has its rows in this order. With an equality, the team would be no part of the
 * order: a planner whose statistics know only one team would then walk the index of the order, past the rows of all
 * teams, for each team without rows (threats b224).
 */
export function isOfTeam(teamId: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`r.team_id = any(array[${teamId}])`;
}
