import { type BudgetStanding, budgetConditions, nextBegin } from "../../domain/budget/budget-condition.ts";
import { mergeConditions } from "../cluster/merge-conditions.ts";
import type { DeclaredObject, ObjectStatus } from "../cluster/port.ts";

/**
 * Adds to a status what budgets say of its object. This is no part of Ready: the object is as declared, even if all
 * that it may use is used.
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

/** Returns the milliseconds until one of these budgets that is used resets; undefined if none does. */
export function beginsInMs(standings: readonly BudgetStanding[], now: number): number | undefined {
  const beginsAt = nextBegin(standings);
  return Number.isFinite(beginsAt) ? beginsAt - now : undefined;
}
