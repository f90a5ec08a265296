import { condition, type Reason, type StatedCondition } from "../conditions.ts";
import { rfc3339 } from "../rfc3339.ts";
import { type Budget, budgetSize } from "./budget.ts";
import { higherThreshold, type Threshold } from "./threshold.ts";

/** Use of a budget in its present period. */
export type BudgetStanding = {
  readonly budget: Budget;
  /** Highest threshold that is reached; undefined below the first. */
  readonly reached: Threshold | undefined;
  /** End of the period in milliseconds since the epoch; Infinity for a budget that never resets. */
  readonly endsAt: number;
};

const REASON_OF = {
  50: "BudgetHalfUsed",
  80: "BudgetNearlyExhausted",
  100: "BudgetExhausted",
} as const satisfies Record<Threshold, Reason>;

/** Event that a budget has reached a threshold, in the words of its condition. */
type BudgetNews = { readonly type: "Normal" | "Warning"; readonly reason: Reason; readonly message: string };

/**
 * Returns the condition about budgets, with the reason of the most used one; none without budgets. The message changes
 * only with a threshold or a period, not with each call.
 */
export function budgetConditions(standings: readonly BudgetStanding[]): StatedCondition[] {
  if (standings.length === 0) return [];
  const reached = standings.map((standing) => standing.reached).reduce(higherThreshold);
  if (reached === undefined) return [condition("BudgetExhausted", "False", "BudgetLeft", "No budget is half used.")];
  const said = standings.map(sentenceOf).filter((sentence) => sentence !== "");
  return [condition("BudgetExhausted", reached === 100 ? "True" : "False", REASON_OF[reached], said.join(" "))];
}

/**
 * Returns the events to report: for each budget the reached threshold, if its condition did not have it yet.
 *
 * @param before the message of the condition until now; undefined if there was none
 */
export function budgetNews(standings: readonly BudgetStanding[], before: string | undefined): BudgetNews[] {
  return standings.flatMap((standing) => {
    const { reached } = standing;
    const message = sentenceOf(standing);
    if (reached === undefined || before?.includes(message) === true) return [];
    return [{ type: reached === 50 ? "Normal" : "Warning", reason: REASON_OF[reached], message }];
  });
}

/** Returns when the next budget that has reached a threshold resets; Infinity if none does. */
export function nextBegin(standings: readonly BudgetStanding[]): number {
  return Math.min(Number.POSITIVE_INFINITY, ...standings.flatMap(({ reached, endsAt }) => (reached ? endsAt : [])));
}

function sentenceOf({ budget, reached, endsAt }: BudgetStanding): string {
  if (reached === undefined) return "";
  const anew = Number.isFinite(endsAt) ? `it resets at ${rfc3339(endsAt)}` : "it does not reset";
  if (reached < 100) return `At least ${reached} % of the budget of ${budgetSize(budget)} are used; ${anew}.`;
  const meanwhile =
    budget.onExhausted === "Refuse" ? "calls of models that it has no room for are refused" : "calls of models go on";
  return `The budget of ${budgetSize(budget)} is used up, and ${meanwhile}; ${anew}.`;
}
