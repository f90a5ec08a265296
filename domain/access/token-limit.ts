import type { DeclaredRate, TokenLimit } from "./rate-limit.ts";

/** Maximum number of units in a minute's tokens: rounding changes a unit's time by at most a thousandth. */
const UNITS_A_MINUTE = 60_000;

/** Token limit as a rate. It counts units of tokens, each so large that its time can be measured. */
export type TokenRate = DeclaredRate & { readonly unit: number };

/** Returns the rate by which a token limit is enforced: a minute's worth at once. */
export function tokenRate({ tokensPerMinute, scope }: TokenLimit): TokenRate {
  const unit = Math.ceil(tokensPerMinute / UNITS_A_MINUTE);
  return { requestsPerMinute: tokensPerMinute / unit, burst: Math.floor(tokensPerMinute / unit), scope, unit };
}

/** Returns the id under which an owner's tokens are counted, beside its requests. No owner's id begins like this. */
export function tokensId(ownerId: string): string {
  return `tokens:${ownerId}`;
}

/** Converts a number of tokens to the units of a rate. */
export function tokenUnits({ unit }: TokenRate, tokens: number): number {
  return Math.ceil(tokens / unit);
}

/**
 * Returns the units that a call is charged before it is made, for the tokens that it is expected to use. A call that is
 * expected to use more than the burst is charged the burst: it passes while nothing else is owed, and the rest is
 * charged
 * after it.
 */
export function reservedUnits(rate: TokenRate, tokens: number): number {
  return Math.min(tokenUnits(rate, tokens), rate.burst);
}
