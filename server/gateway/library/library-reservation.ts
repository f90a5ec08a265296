import { GATEWAY_OPERATIONS, reportsUsage } from "../../../domain/access/gateway-operations.ts";
import type { Dialect } from "../../../domain/access/key-record.ts";
import { hasBudget } from "../../../domain/budget/budget.ts";
import { type CallEnd, UNUSED, usedTokens } from "../../../domain/usage/token-reservation.ts";
import { chargeRates, countsTokens, refundRates, refusingRate } from "../../auth/charge-rate.ts";
import { settleTokens } from "../../auth/settle-tokens.ts";
import type { ServerDeps } from "../../product/deps.ts";
import { expectedTokens } from "../tokens/expected-tokens.ts";
import type { CallFormat } from "./call-format.ts";
import { budgetFailure, type FailedCall, rateFailure } from "./failed-call.ts";
import type { LibraryTarget } from "./library-target.ts";

/**
 * Amounts that a call has drawn from its limits and reserved of its budgets. One of the two functions is called, once.
 */
export type LibraryReservation = {
  /** Gives everything back, for a call that is not made. */
  takeBack(): void;
  /**
   * Charges what the call has used.
   *
   * @param dialect of the upstream that was asked
   */
  settle(dialect: Dialect, end: CallEnd): void;
};

/**
 * Draws a call from the limits of its key and route, and reserves what it may use of the key's budgets.
 *
 * @param body returns the body that is to be sent, from which tokens are estimated if they count
 */
export async function reserveForLibrary(
  deps: Pick<ServerDeps, "index" | "installationLimits" | "budgets" | "clock">,
  { key, limits, model, format: { operation } }: LibraryTarget<CallFormat>,
  body: () => string,
): Promise<LibraryReservation | FailedCall> {
  const { budgets, clock } = deps;
  const isCounted = reportsUsage(GATEWAY_OPERATIONS[operation]) && (countsTokens(key, limits) || hasBudget(key));
  const expected = isCounted ? await expectedTokens(operation, Buffer.from(body())) : undefined;
  const rates = await chargeRates(deps, key, limits, expected && expected.input + expected.output);
  const refusing = refusingRate(rates);
  if (refusing !== undefined) return rateFailure(refusing);
  const isBudgeted = expected !== undefined && hasBudget(key);
  const reserved = isBudgeted ? await budgets.reserve(key, { tokens: expected, models: [model] }) : undefined;
  if (reserved !== undefined && "kind" in reserved) {
    refundRates(deps, rates);
    return budgetFailure(reserved, clock.now());
  }
  return {
    takeBack() {
      refundRates(deps, rates);
      if (reserved !== undefined) budgets.settle(reserved, UNUSED);
    },
    settle(dialect, end) {
      if (expected === undefined) return;
      const used = usedTokens(dialect, expected, end);
      settleTokens(deps, rates, used);
      if (reserved !== undefined) budgets.settle(reserved, used);
    },
  };
}
