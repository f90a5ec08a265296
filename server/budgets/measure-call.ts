import type { Unit } from "../../domain/access/gateway-operations.ts";
import type { OwnedBudget } from "../../domain/budget/budget.ts";
import { budgetUnit } from "../../domain/budget/budget-size.ts";
import { type CallPrices, expectedCost, reportedCost } from "../../domain/usage/call-cost.ts";
import type { ExpectedTokens, UsedTokens } from "../../domain/usage/token-reservation.ts";
import type { Tokens } from "../../domain/usage/tokens.ts";
import type { ListedPrices } from "../usage/call-pricer.ts";

/** A call as a budget sees it before it is made. */
export type BudgetedCall = {
  /** Most tokens that it is expected to use. */
  readonly tokens: ExpectedTokens;
  /** Models that may answer it, as their upstreams name them; undefined for a model that is not known. */
  readonly models: readonly (string | undefined)[];
};

/** A call in parts of a budget's unit. */
export type MeasuredCall = {
  /** Most that it is expected to use; undefined if that is not known. */
  readonly expected: number | undefined;
  /** Returns what it has used in the end. */
  usedBy(used: UsedTokens): number;
};

/** True if something that an answer has reported of a call that is counted in a unit has a price. */
function hasPrice({ isByTokens, isByUnit }: CallPrices, tokens: Tokens, unit: Unit): boolean {
  return (isByUnit && tokens[unit] > 0) || (isByTokens && tokens.input + tokens.output > 0);
}

/**
 * Measures a call as a budget counts it: in tokens, or in what they cost by the prices of the model that answers, or,
 * if it has none, of the models that were asked. It is settled by the prices that it was measured by.
 */
export function measureCall(budget: OwnedBudget, { tokens, models }: BudgetedCall, listed: ListedPrices): MeasuredCall {
  if ("tokens" in budget) {
    const expected = tokens.input + tokens.output;
    return {
      expected,
      usedBy: ({ reported, estimated, givenUp }) =>
        Math.max(reported, Math.min(estimated, expected)) + givenUp * expected,
    };
  }
  const unit = tokens.units?.unit;
  const isListed = listed.currency === budgetUnit(budget);
  const asked = isListed ? listed.of(models, unit) : undefined;
  const expected = asked && expectedCost(asked, tokens);
  const most = expected ?? 0;
  return {
    expected,
    usedBy({ answer, unreported, givenUp }) {
      const answering = isListed && answer?.model !== undefined ? listed.of([answer.model], unit) : undefined;
      const prices = answering ?? asked;
      if (prices === undefined) return 0;
      const reported = answer === undefined ? 0 : reportedCost(prices, answer.tokens);
      const estimated = reported + (expectedCost(asked ?? prices, unreported) ?? 0);
      const isPriced = answer === undefined || unit === undefined || hasPrice(prices, answer.tokens, unit);
      return Math.max(reported, isPriced ? Math.min(estimated, most) : most) + givenUp * most;
    },
  };
}
