import { rfc3339Millis } from "../../domain/rfc3339.ts";
import type { BudgetRefusal } from "../budgets/budget-grants.ts";
import { type Problem, problem } from "../http/errors.ts";

/** No answer asks for a longer wait, in seconds: a budget may be raised meanwhile. */
const LONGEST_WAIT = 3_600;
/** Until what calls under way do not use is there again, in seconds. */
const SHORT_WAIT = 2;
const OWNERS = { key: "This key's", team: "The team's" } as const;

/**
 * What answers a call that a budget has no room for: which budget, and when it begins anew.
 *
 * @param now milliseconds since the epoch
 */
export function budgetProblem(refusal: BudgetRefusal, now: number): Problem {
  const { of, tokens: most, period, timeZone } = refusal.budget;
  const every = period === "Total" ? "in all" : `a ${period.toLowerCase()}`;
  const which = `${OWNERS[of]} budget of ${most} tokens ${every}`;
  if (refusal.kind === "away") {
    return problem("unavailable", `${which} cannot be asked for room while the database does not answer: try again.`);
  }
  const { spent, silent, tokens, endsAt } = refusal;
  const found = `${which} has no room for this call, which may use ${tokens}: ${spent} are used${silent > 0 ? `, and servers that ended hold ${silent} more` : ""}`;
  if (spent + silent + tokens <= most) {
    const detail = `${found}, and calls under way may use the rest: try again in ${SHORT_WAIT} s.`;
    return problem("budget_exceeded", detail, { "retry-after": String(SHORT_WAIT) });
  }
  const less = spent + silent < most ? " A call that may use less fits: lower the most that its answer may have." : "";
  if (!Number.isFinite(endsAt)) {
    return problem("budget_exceeded", `${found}. It does not begin anew: have it raised.${less}`, NO_RETRY);
  }
  const seconds = Math.min(LONGEST_WAIT, Math.max(1, Math.ceil((endsAt - now) / 1_000)));
  const begins = `${rfc3339Millis(endsAt)} (${timeZone})`;
  return problem("budget_exceeded", `${found}. It begins anew at ${begins}.${less}`, {
    "retry-after": String(seconds),
    ...(seconds > SDK_WAITS ? NO_RETRY : {}),
  });
}

/** The providers' SDKs wait no longer for a Retry-After, and try again at once. */
const SDK_WAITS = 60;
const NO_RETRY = { "x-should-retry": "false" };
