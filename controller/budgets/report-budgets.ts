import { type BudgetStanding, budgetNews } from "../../domain/budget/budget-condition.ts";
import { findCondition } from "../../domain/conditions.ts";
import type { DeclaredObject, ObjectStatus } from "../cluster/port.ts";
import type { ControllerDeps } from "../context/deps.ts";
import { recordEvent } from "../context/record-event.ts";

/**
 * Records an event for each threshold that a budget has reached, before the status says so for the first time: once,
 * and not at every look. A status that is left to another controller never says so, and there is no event either.
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
