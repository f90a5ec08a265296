import { condition, type Reason, type StatedCondition } from "../conditions.ts";
import { rfc3339 } from "../rfc3339.ts";
import { type Budget, budgetSize } from "./budget.ts";
import { higherThreshold, type Threshold } from "./threshold.ts";

/** How far a budget is used in its present period. */
export type BudgetStanding = {
  readonly budget: Budget;
  /** The highest threshold that is reached; undefined below the first. */
  readonly reached: Threshold | undefined;
  /** Milliseconds since the epoch; Infinity for what never resets. */
  readonly endsAt: number;
};

const REASON_OF = {
  50: "BudgetHalfUsed",
  80: "BudgetNearlyExhausted",
  100: "BudgetExhausted",
} as const satisfies Record<Threshold, Reason>;

/** That a budget has reached a threshold, in the words of its condition. */
type BudgetNews = { readonly type: "Normal" | "Warning"; readonly reason: Reason; readonly message: string };

/**
 * What a status says of budgets, by the one that is used the most; nothing where there are none. The words change with a
 * threshold and a period alone, and not with each call.
 */
export function budgetConditions(standings: readonly BudgetStanding[]): StatedCondition[] {
  if (standings.length === 0) return [];
  const reached = standings.map((standing) => standing.reached).reduce(higherThreshold);
  if (reached === undefined) return [condition("BudgetExhausted", "False", "BudgetLeft", "No budget is half used.")];
  const said = standings.map(sentenceOf).filter((sentence) => sentence !== "");
  return [condition("BudgetExhausted", reached === 100 ? "True" : "False", REASON_OF[reached], said.join(" "))];
}

/**
 * What an event is to say: of each budget the threshold that it has reached and that its condition did not have yet.
 *
 * @param before the message of the condition until now; undefined where there was none
 */
export function budgetNews(standings: readonly BudgetStanding[], before: string | undefined): BudgetNews[] {
  return standings.flatMap((standing) => {
    const { reached } = standing;
    const message = sentenceOf(standing);
    if (reached === undefined || before?.includes(message) === true) return [];
    return [{ type: reached === 50 ? "Normal" : "Warning", reason: REASON_OF[reached], message }];
  });
}

/** When a budget that has reached a threshold resets, the next of them; Infinity where none does. */
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
