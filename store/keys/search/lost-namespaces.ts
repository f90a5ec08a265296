import { type RawBuilder, sql } from "kysely";
import type { Db } from "../../database/change.ts";
import { withOrderedPlans } from "../../database/ordered-plans.ts";
import { TEAM_HOLDS_NAMESPACE } from "../rows/key-rows.ts";

/** Namespace in which keys of a team are declared. */
export type LostNamespace = { readonly teamId: string; readonly cluster: string; readonly namespace: string };

/**
 * Finds the namespaces with keys of these teams that their teams no longer hold. Each namespace is found by a search
 * from the one before it, however many keys it has.
 *
 * @returns undefined if there are more than `bound` namespaces with keys
 */
export async function lostNamespaces(
  db: Db,
  teamIds: readonly string[] | undefined,
  bound: number,
): Promise<readonly LostNamespace[] | undefined> {
  const columns = sql`k.team_id, k.cluster, k.namespace`;
  const next = (where: RawBuilder<unknown>) =>
    sql`select ${columns} from keys k where ${where} order by ${columns} limit 1`;
  const within = teamIds === undefined ? sql`true` : sql`k.team_id = team`;
  const teams = teamIds === undefined ? sql`(select) team` : sql`unnest(${teamIds}::text[]) team`;
  const rows = await withOrderedPlans(db, async (tx) => {
    const { rows } = await sql<LostNamespace & { isHeld: boolean }>`
      with recursive places as (
        select one.* from ${teams} cross join lateral (${next(within)}) one
        union all
        select one.* from places p cross join lateral (
          ${next(sql`(${columns}) > (p.team_id, p.cluster, p.namespace)
            and ${teamIds === undefined ? sql`true` : sql`k.team_id = p.team_id`}`)}) one
      )
      select k.team_id as "teamId", k.cluster, k.namespace, ${TEAM_HOLDS_NAMESPACE} as "isHeld" from places k
      limit ${bound + 1}`.execute(tx);
    return rows;
  });
  return rows.length > bound ? undefined : rows.filter(({ isHeld }) => !isHeld);
}
