import type { OwnedBudget } from "../../domain/budget/budget.ts";
import { budgetUnit, mostOf, partsText, sizeText } from "../../domain/budget/budget-size.ts";
import { rfc3339Millis } from "../../domain/rfc3339.ts";
import type { BudgetRefusal } from "../budgets/budget-grants.ts";
import { type Problem, problem } from "../http/problems/problem.ts";
import { ELSEWHERE } from "../http/problems/problem-of.ts";

/** Seconds that an answer asks to wait at most: a budget may be raised meanwhile. */
const LONGEST_WAIT = 3_600;
/** Seconds until what calls under way do not use is there again. */
const SHORT_WAIT = 2;

/**
 * Returns the answer to a call that a budget refuses: which budget, and when it resets.
 *
 * @param now milliseconds since the epoch
 */
export function budgetProblem(refusal: BudgetRefusal, now: number): Problem {
  const { budget } = refusal;
  const { period, timeZone } = budget;
  const every = period === "Total" ? "in all" : `a ${period.toLowerCase()}`;
  const which = `${whose(budget)} budget of ${sizeText(budget)} ${every}`;
  if (refusal.kind === "away") {
    const detail = `${which} cannot be asked for room while the database does not answer: try again.`;
    return problem("unavailable", detail, ELSEWHERE);
  }
  if (refusal.kind === "busy") {
    return problem(
      "unavailable",
      `${which} cannot be asked for room yet, since others are before this call: try again.`,
    );
  }
  if (refusal.kind === "crowded") {
    const detail = `${which} cannot be asked for room yet, since calls of its own team wait before this one: try again in 1 s.`;
    return problem("rate_limited", detail, { "retry-after": "1" });
  }
  if (refusal.kind === "unpriced")
    return problem("forbidden", `${which} cannot be held: ${lackOf(refusal)}.`, NO_RETRY);
  const { spent, silent, expected, endsAt } = refusal;
  const unit = budgetUnit(budget);
  const parts = (amount: number) => partsText(unit, amount);
  const [use, used] = "cost" in budget ? ["cost", "spent"] : ["use", "used"];
  const found = `${which} has no room for this call, which may ${use} ${parts(Math.ceil(expected))}: ${parts(spent)} are ${used}${silent > 0 ? `, and servers that ended hold ${parts(silent)} more` : ""}`;
  if (spent + silent + expected <= mostOf(budget)) {
    const detail = `${found}, and calls under way may ${use} the rest: try again in ${SHORT_WAIT} s.`;
    return problem("budget_exceeded", detail, { "retry-after": String(SHORT_WAIT) });
  }
  const less =
    spent + silent < mostOf(budget)
      ? ` A call that may ${use} less fits: lower the most that its answer may have.`
      : undefined;
  if (!Number.isFinite(endsAt)) {
    return problem("budget_exceeded", `${found}. It does not reset: have it raised.${less ?? ""}`, NO_RETRY);
  }
  const seconds = Math.min(LONGEST_WAIT, Math.max(1, Math.ceil((endsAt - now) / 1_000)));
  const begins = `${rfc3339Millis(endsAt)} (${timeZone})`;
  return problem("budget_exceeded", `${found}. It resets at ${begins}.${less ?? " To go on before, have it raised."}`, {
    "retry-after": String(seconds),
    ...(seconds > SDK_WAITS ? NO_RETRY : {}),
  });
}

/** Seconds that the providers' SDKs wait for a Retry-After at most: for a longer one they try again at once. */
const SDK_WAITS = 60;
const NO_RETRY = { "x-should-retry": "false" };

function whose({ of, policy }: OwnedBudget): string {
  if (policy !== undefined) return `PlatformKeyPolicy ${policy}'s shared`;
  return of === "key" ? "This key's" : "The team's";
}

/** Returns the reason why the cost of a call is not known, and what to do. */
function lackOf({ budget, currency, models }: Extract<BudgetRefusal, { kind: "unpriced" }>): string {
  const unit = budgetUnit(budget);
  if (currency === null) return "the servers have no price list, which --prices gives them";
  if (currency !== unit) return `the servers' price list is in ${currency}`;
  if (models.includes(undefined)) return "the call names no model by which it has a price";
  return "the price list has no prices for this model, or for one that its route leads to: use another, or have it listed";
}
