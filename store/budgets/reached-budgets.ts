import { sql } from "kysely";
import { ownerOfBudget } from "../../domain/budget/budget-owner.ts";
import type { Db } from "../database/change.ts";
import { toDate } from "../database/times.ts";

/** Owner of a budget that has reached a threshold, as its cluster names it. */
type ReachedOwner = { readonly of: "key" | "team" | "policy"; readonly namespace: string; readonly name: string };

/**
 * Finds the declared keys, teams and policies of a cluster with a budget that was reported to have reached a threshold
 * since a moment.
 *
 * @param since milliseconds since the epoch; null to find none
 * @returns the owners, and the database's time of the query
 */
export async function reachedBudgets(
  db: Db,
  cluster: string,
  since: number | null,
): Promise<{ readonly now: number; readonly owners: readonly ReachedOwner[] }> {
  const { rows } = await sql<{ now: number; budget: string | null; team: string | null }>`
    select floor(extract(epoch from statement_timestamp()) * 1000)::float8 as now, n.budget,
      case when t.cluster = ${cluster} then t.name end as team
    from (select) one
    left join (select distinct budget from budget_notices where at > ${toDate(since)}::timestamptz) n on true
    left join teams t on n.budget like 'team %' and t.id = split_part(n.budget, ' ', 2)`.execute(db);
  const [first] = rows;
  if (first === undefined) throw new Error("the database returned no row where there is always one");
  const owners = rows.flatMap(({ budget, team }): ReachedOwner[] => {
    if (team !== null) return [{ of: "team", namespace: "", name: team }];
    const owner = ownerOfBudget(budget ?? "");
    if (owner === undefined || owner.of === "team" || owner.cluster !== cluster) return [];
    return [{ of: owner.of, namespace: owner.of === "key" ? owner.namespace : "", name: owner.name }];
  });
  return { now: first.now, owners };
}
