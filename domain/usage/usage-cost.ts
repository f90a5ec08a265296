import { formatAmount } from "../money.ts";
import type { PriceList } from "./price-list.ts";
import type { TokenFigures } from "./token-count.ts";

/** Cost of counted answers by a price list. */
export type UsageCost = {
  /** Cost of everything that has a price, in trillionths of the currency's unit. */
  readonly trillionths: bigint;
  /** Number of tokens, of tool calls, and of images, seconds and characters, that have no price. */
  readonly unpricedTokens: number;
  readonly unpricedToolCalls: number;
  readonly unpricedUnits: number;
};

/** Cost of no answer. */
export const NO_COST: UsageCost = Object.freeze({
  ...{ trillionths: 0n, unpricedTokens: 0, unpricedToolCalls: 0, unpricedUnits: 0 },
});

/** A cost as it is shown: null is unknown, never zero. */
export type ShownCost = {
  readonly currency: string | null;
  /** Cost in the currency's unit, with six decimals; null if a part of it is not known. */
  readonly cost: string | null;
  /** Cost of everything that has a known price: a lower bound of the whole cost. */
  readonly knownCost: string | null;
  readonly unpricedTokens: number | null;
  readonly unpricedToolCalls: number | null;
  readonly unpricedUnits: number | null;
  /** Version of the price list. */
  readonly priceList: string | null;
};

/** True if the whole cost is known: everything used has a price, and every answer has reported its usage to the end. */
export function isWholeCost(cost: UsageCost, figures: TokenFigures): boolean {
  const { unpricedTokens, unpricedToolCalls, unpricedUnits } = cost;
  const { cut, unreported, unread, doubtful } = figures;
  return unpricedTokens + unpricedToolCalls + unpricedUnits + cut + unreported + unread + doubtful === 0;
}

/**
 * Returns a cost as it is shown.
 *
 * @param prices null for an installation without prices
 */
export function showCost(prices: PriceList | null, cost: UsageCost | undefined, figures: TokenFigures): ShownCost {
  if (prices === null || cost === undefined) {
    return {
      ...{ currency: null, cost: null, knownCost: null, priceList: null },
      ...{ unpricedTokens: null, unpricedToolCalls: null, unpricedUnits: null },
    };
  }
  const { trillionths, unpricedTokens, unpricedToolCalls, unpricedUnits } = cost;
  const knownCost = formatAmount(trillionths);
  return {
    currency: prices.currency,
    cost: isWholeCost(cost, figures) ? knownCost : null,
    ...{ knownCost, unpricedTokens, unpricedToolCalls, unpricedUnits },
    priceList: prices.version,
  };
}
