import type { DeclaredRate, TokenLimit } from "./rate-limit.ts";

/** Of a minute's tokens. The time that one costs is never rounded by more than a thousandth; calls are rounded up to whole ones. */
const UNITS_A_MINUTE = 60_000;

/** A limit of tokens as a rate, which counts in units of so many tokens that the time of one can be measured. */
export type TokenRate = DeclaredRate & { readonly unit: number };

/** The rate that a limit of tokens is kept as: a minute's worth at once. */
export function tokenRate({ tokensPerMinute, scope }: TokenLimit): TokenRate {
  const unit = Math.ceil(tokensPerMinute / UNITS_A_MINUTE);
  return { requestsPerMinute: tokensPerMinute / unit, burst: Math.floor(tokensPerMinute / unit), scope, unit };
}

/** By which id the tokens of an owner are counted, beside its requests. No owner's id begins so. */
export function tokensId(ownerId: string): string {
  return `tokens:${ownerId}`;
}

/** So many tokens in the units of a rate. */
export function tokenUnits({ unit }: TokenRate, tokens: number): number {
  return Math.ceil(tokens / unit);
}

/**
 * What a call that is expected to use so many tokens is charged before it is made, in units. One that is expected to use
 * more than the limit has at once is charged all of that: it passes while nothing else is owed, and the rest is charged
 * after it.
 */
export function reservedUnits(rate: TokenRate, tokens: number): number {
  return Math.min(tokenUnits(rate, tokens), rate.burst);
}
