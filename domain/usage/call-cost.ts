/** Cost of a model call, in millionths of a currency's unit, unrounded: only sums are rounded. */
import type { Unit } from "../access/gateway-operations.ts";
import type { PriceOrder, Prices } from "./price-list.ts";
import type { ExpectedTokens } from "./token-reservation.ts";
import { KINDS_OF_TOKENS, TOKEN_KINDS, type TokenKind, type Tokens } from "./tokens.ts";

/** Prices of one by kind: a kind of tokens without its own price has the most that it may cost. */
export type CallPrices = {
  readonly of: Readonly<Record<TokenKind, number>>;
  /** Maximum prices of a token that is read, and of a token that is generated; undefined if not known. */
  readonly read: number;
  readonly written: number | undefined;
  /** True if tokens have a price, and if the call's unit has one. */
  readonly isByTokens: boolean;
  readonly isByUnit: boolean;
};

/** Number that a listed price is for. */
const MANY = 1e6;

/**
 * Returns the highest price of each kind among the prices of several models; undefined if any has neither an input price
 * nor one of the call's unit. The tokens that a model with a price of the unit generates cost nothing where they have no
 * price.
 *
 * @param unit unit that the call is counted in beside tokens; undefined for none
 */
export function callPrices(all: readonly Prices[], unit?: Unit): CallPrices | undefined {
  const dearest = (...kinds: readonly TokenKind[]): number | undefined => {
    const known = all.flatMap((prices) => kinds.flatMap((kind) => prices[kind] ?? []));
    return known.length === 0 ? undefined : Number(known.reduce((a, b) => (a > b ? a : b))) / MANY;
  };
  const byTokens = all.filter((prices) => unit === undefined || prices[unit] === null);
  if (all.length === 0 || byTokens.some(({ input }) => input === null)) return undefined;
  const isWrittenKnown = byTokens.every(({ output }) => output !== null);
  const written = isWrittenKnown ? (dearest("output", "reasoning") ?? 0) : undefined;
  const of = Object.fromEntries(
    TOKEN_KINDS.map((kind) => [kind, Math.max(...all.map((prices) => priceOf(prices, kind, unit)))]),
  );
  return {
    of: of as Record<TokenKind, number>,
    read: dearest("input", "cached", "cache_write_5m", "cache_write_1h") ?? 0,
    written,
    isByTokens: all.some((prices) => prices.input !== null),
    isByUnit: byTokens.length < all.length,
  };
}

/** Returns what one of a kind costs with a model: a kind of tokens without its own price costs what its like does. */
function priceOf(prices: Prices, kind: TokenKind, unit: Unit | undefined): number {
  const own = prices[kind];
  if (own !== null) return Number(own) / MANY;
  if (!KINDS_OF_TOKENS.includes(kind)) return 0;
  const input = Number(prices.input ?? 0) / MANY;
  if (kind !== "output" && kind !== "reasoning") return input;
  if (prices.output !== null) return Number(prices.output) / MANY;
  return unit === undefined || prices[unit] === null ? input : 0;
}

/** Returns the maximum cost of a call that uses the expected tokens; undefined if it is not known. */
export function expectedCost(
  { of, read, written }: CallPrices,
  { input, output, units }: ExpectedTokens,
): number | undefined {
  const known = read * input + (units === undefined ? 0 : of[units.unit] * units.count);
  if (output === 0) return known;
  return written === undefined ? undefined : known + written * output;
}

/** Returns the cost of everything that an answer has reported. */
export function reportedCost({ of }: CallPrices, tokens: Tokens): number {
  return TOKEN_KINDS.reduce((sum, kind) => sum + of[kind] * tokens[kind], 0);
}

/** Prices of models at one time. */
export type PricesInForce = {
  /** Returns the prices of a model; undefined for a model without an entry, or before the day of its first entry. */
  of(model: string): Prices | undefined;
  /** Time at which the prices change, in milliseconds since the epoch; Infinity if no later prices are listed. */
  readonly until: number;
};

/**
 * Returns the prices in force.
 *
 * @param at milliseconds since the epoch
 */
export function pricesInForce({ names, days, spans }: PriceOrder, at: number): PricesInForce {
  const begun = days.filter((day) => day <= at).length;
  const inForce = new Map(
    spans.filter(({ first, end }) => first <= begun && begun < end).map(({ name, prices }) => [name, prices]),
  );
  const isFor = (model: string) => (one: PriceOrder["names"][number]) =>
    one.isPrefix ? model.startsWith(one.name) : model === one.name;
  return {
    of: (model) => inForce.get(names.findIndex(isFor(model))),
    until: days[begun] ?? Number.POSITIVE_INFINITY,
  };
}
