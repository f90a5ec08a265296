import type { FastifyRequest } from "fastify";
import type { OwnedLimits } from "../../domain/access/declared-limits.ts";
import { hasBudget } from "../../domain/budget/budget.ts";
import type { UsedTokens } from "../../domain/usage/token-reservation.ts";
import { chargeBody, refundRates, refusingRate } from "../auth/charge-rate.ts";
import { type AccessDeps, grantedOf, refusalOf } from "../auth/key-hook.ts";
import { noteRates } from "../auth/rate-headers.ts";
import { overBudget, rateLimited, tooManyCalls } from "../auth/refused.ts";
import { settleTokens } from "../auth/settle-tokens.ts";
import type { BudgetedCall } from "../budgets/measure-call.ts";
import type { Problem } from "../http/problems/problem.ts";
import type { ServerDeps } from "../product/deps.ts";

/**
 * Applies the limits that depend on a call's body: those of the route that it names; the token limits of its key, its
 * team and its route; and last the budgets of its key and its team. The call counts for the route until it ends, and is
 * charged once, however many upstreams are asked. If it is refused, its key and its team get back what they were
 * charged on its arrival.
 *
 * @param limits limits of the route; undefined for none
 * @param call what the call is expected to use; undefined if no limit counts that
 * @returns a function that takes what the call has used in the end, or the problem to answer if it is refused, which is
 *   then counted and recorded
 */
export async function holdToBody(
  deps: AccessDeps & Pick<ServerDeps, "budgets">,
  request: FastifyRequest,
  limits: OwnedLimits | undefined,
  call: BudgetedCall | undefined,
): Promise<Problem | ((used: UsedTokens) => void)> {
  const { key, rates } = grantedOf(request);
  if (limits !== undefined && limits.concurrent !== null) {
    if (request.openCall?.countFor(limits.id, limits.concurrent) === false) {
      noteRates(request.raw, refundRates(deps, rates));
      return refusalOf(deps, request, tooManyCalls(key, "route"));
    }
  }
  const charged = chargeBody(deps, key, limits, call && call.tokens.input + call.tokens.output);
  const ofBody = charged instanceof Promise ? await charged : charged;
  const isRefused = refusingRate(ofBody) !== undefined;
  const all = [...(isRefused ? refundRates(deps, rates) : rates), ...ofBody];
  noteRates(request.raw, all);
  const refused = rateLimited(key, all);
  if (refused !== undefined) return refusalOf(deps, request, refused);
  if (call === undefined || !hasBudget(key)) return (used) => settleTokens(deps, ofBody, used);
  const reserving = deps.budgets.reserve(key, call);
  const reserved = reserving instanceof Promise ? await reserving : reserving;
  if ("kind" in reserved) {
    noteRates(request.raw, refundRates(deps, all));
    return refusalOf(deps, request, overBudget(key, reserved));
  }
  return (used) => {
    settleTokens(deps, ofBody, used);
    deps.budgets.settle(reserved, used);
  };
}
