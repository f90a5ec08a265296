import { sql } from "kysely";
import { policyOwner } from "../../domain/budget/budget.ts";
import { ownerOfBudget } from "../../domain/budget/budget-owner.ts";
import { inUnit } from "../../domain/budget/budget-size.ts";
import { type Threshold, thresholdsUpTo } from "../../domain/budget/threshold.ts";
import { rfc3339 } from "../../domain/rfc3339.ts";
import { appendAudit } from "../audit/audit.ts";
import type { Db, Tx } from "../database/change.ts";
import { toDate } from "../database/times.ts";

/** Report that a budget's use has reached a threshold. */
export type BudgetNotice = {
  /** Id of the budget, and name of the period. */
  readonly budget: string;
  readonly period: string;
  /** Size of the budget and the amount used, in parts of its unit. */
  readonly most: number;
  readonly used: number;
  readonly percent: Threshold;
  /** Milliseconds since the epoch; Infinity for a budget that never resets. */
  readonly endsAt: number;
};

/**
 * Records in the audit log, and for the webhooks of the team, that a budget's use has reached a threshold. Does nothing
 * if any process recorded it before in the period, or if the budget's owner is gone. Lower thresholds count as recorded
 * with it, so that a call that passes several is reported once.
 *
 * @returns true if it was recorded now
 */
export async function recordBudgetNotice(tx: Tx, notice: BudgetNotice): Promise<boolean> {
  const { budget, period, most, used, percent, endsAt } = notice;
  const owner = ownerOfBudget(budget);
  if (owner === undefined) return false;
  const beginsAnew = Number.isFinite(endsAt) ? endsAt : null;
  const { rows } = await sql<{ percent: number }>`
    insert into budget_notices (budget, period, most, percent, used, ends_at, at)
    select ${budget}, ${period}, ${most}, percent, ${used}, ${toDate(beginsAnew)}::timestamptz,
      clock_timestamp()
    from unnest(${thresholdsUpTo(percent)}::int[]) as reached (percent)
    on conflict do nothing returning percent`.execute(tx);
  if (!rows.some((row) => row.percent === percent)) return false;
  const detail = {
    ...{ percent, limit: inUnit(owner.unit, most), used: inUnit(owner.unit, used) },
    ...{ unit: owner.unit, period: owner.period },
    beginsAnewAt: beginsAnew === null ? null : rfc3339(beginsAnew),
  };
  const by = { actor: "server" };
  if (owner.of === "policy") {
    const policy = owner.name;
    const events = (await teamsThatShare(tx, owner)).map((teamId) => ({
      ...{ at: null, teamId, by, kind: "team.budget_reached", detail: { ...detail, policy } },
    }));
    await appendAudit(tx, events);
    return events.length > 0;
  }
  const event = { at: null, teamId: owner.teamId, detail, by };
  if (owner.of === "team") {
    await appendAudit(tx, [{ ...event, kind: "team.budget_reached" }]);
    return true;
  }
  const keyId = await findOwner(tx, owner);
  if (keyId === undefined) return false;
  await appendAudit(tx, [{ ...event, kind: "key.budget_reached", keyId }]);
  return true;
}

/** Maximum number of teams that are notified of a budget that they share. */
const MOST_NOTIFIED = 1_000;

async function teamsThatShare(
  db: Db,
  { cluster, name }: Readonly<Record<"cluster" | "name", string>>,
): Promise<string[]> {
  const owner = JSON.stringify([{ owner: policyOwner(cluster, name) }]);
  const { rows } = await sql<{ id: string }>`select id from teams
    where state = 'active' and shared_budgets @> ${owner}::jsonb order by id limit ${MOST_NOTIFIED}`.execute(db);
  return rows.map(({ id }) => id);
}

/** Finds the key that has this name now, or had it last. */
async function findOwner(
  db: Db,
  { teamId, cluster, namespace, name }: Readonly<Record<"teamId" | "cluster" | "namespace" | "name", string>>,
): Promise<string | undefined> {
  const { rows } = await sql<{ id: string }>`select id from keys
    where team_id = ${teamId} and cluster = ${cluster} and namespace = ${namespace} and name = ${name}
    order by state = 'revoked', created_at desc limit 1`.execute(db);
  return rows[0]?.id;
}
