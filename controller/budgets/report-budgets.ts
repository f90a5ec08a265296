import { type BudgetStanding, budgetConditions, budgetNews, nextBegin } from "../../domain/budget/budget-condition.ts";
import { findCondition } from "../../domain/conditions.ts";
import { mergeConditions } from "../cluster/merge-conditions.ts";
import type { DeclaredObject, ObjectStatus } from "../cluster/port.ts";
import type { ControllerDeps } from "../context/deps.ts";
import { recordEvent } from "../context/record-event.ts";

/**
 * Records an event for each threshold that a budget has reached, before the status says so for the first time: once, and
 * not at every look. A status that is left to another controller never has it: it has no event either.
 */
export async function reportBudgets(
  deps: ControllerDeps,
  object: DeclaredObject,
  status: ObjectStatus,
  standings: readonly BudgetStanding[],
): Promise<void> {
  if (object.deleting || deps.cluster.leavesStatus(object, status)) return;
  const before = findCondition(object.status?.conditions, "BudgetExhausted")?.message;
  for (const event of budgetNews(standings, before)) await recordEvent(deps, object, event);
}

/**
 * A status with what budgets say of its object, which is no part of Ready: the object is as declared, also where what it
 * may use is used.
 *
 * @param now milliseconds since the epoch
 */
export function withBudgetConditions<Status extends ObjectStatus>(
  object: DeclaredObject,
  status: Status,
  standings: readonly BudgetStanding[],
  now: number,
): Status {
  const conditions = [...(status.conditions ?? []), ...mergeConditions(object, budgetConditions(standings), now)];
  return { ...status, conditions };
}

/** When one of these that is used begins anew, in milliseconds from now; undefined where none does. */
export function beginsInMs(standings: readonly BudgetStanding[], now: number): number | undefined {
  const beginsAt = nextBegin(standings);
  return Number.isFinite(beginsAt) ? beginsAt - now : undefined;
}
