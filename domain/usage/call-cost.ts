/** What a call of a model costs, in millionths of a currency's unit, with a fraction: what is summed up is rounded. */
import type { PriceOrder, Prices } from "./price-list.ts";
import type { ExpectedTokens } from "./token-reservation.ts";
import { TOKEN_KINDS, type TokenKind, type Tokens } from "./tokens.ts";

/** What a token, or a call of a tool, costs; for each kind as much as it may at most, where it has no price of its own. */
export type CallPrices = {
  readonly of: Readonly<Record<TokenKind, number>>;
  /** The most that a token costs that is read, and one that is written; undefined where that is not known. */
  readonly read: number;
  readonly written: number | undefined;
};

/** Prices are for so many. */
const MANY = 1e6;

/** The most that each kind costs by any of several models' prices; undefined where reading has no price. */
export function callPrices(all: readonly Prices[]): CallPrices | undefined {
  const dearest = (...kinds: readonly TokenKind[]): number | undefined => {
    const known = all.flatMap((prices) => kinds.flatMap((kind) => prices[kind] ?? []));
    return known.length === 0 ? undefined : Number(known.reduce((a, b) => (a > b ? a : b))) / MANY;
  };
  if (all.length === 0 || all.some(({ input }) => input === null)) return undefined;
  const input = dearest("input") ?? 0;
  const written = all.some(({ output }) => output === null) ? undefined : dearest("output", "reasoning");
  const otherwise = (kind: TokenKind): number => {
    if (kind === "tool_calls") return 0;
    return kind === "output" || kind === "reasoning" ? (dearest("output") ?? input) : input;
  };
  const of = Object.fromEntries(TOKEN_KINDS.map((kind) => [kind, dearest(kind) ?? otherwise(kind)]));
  return {
    of: of as Record<TokenKind, number>,
    read: dearest("input", "cached", "cache_write_5m", "cache_write_1h") ?? input,
    written,
  };
}

/** The most that a call costs that uses what is expected; undefined where that is not known. */
export function expectedCost({ read, written }: CallPrices, { input, output }: ExpectedTokens): number | undefined {
  if (output === 0) return read * input;
  return written === undefined ? undefined : read * input + written * output;
}

/** What the tokens and calls of tools cost that an answer has reported. */
export function reportedCost({ of }: CallPrices, tokens: Tokens): number {
  return TOKEN_KINDS.reduce((sum, kind) => sum + of[kind] * tokens[kind], 0);
}

/** The prices of models at one time. */
export type PricesInForce = {
  /** Undefined for a model that no entry is for, or none yet. */
  of(model: string): Prices | undefined;
  /** When they are others, in milliseconds since the epoch; Infinity where no later ones are listed. */
  readonly until: number;
};

/** @param at milliseconds since the epoch */
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
