import type { Budget, SharedBudgets } from "../budget/budget.ts";

/** A rate limit: a long-run number of requests a minute and a burst. A token limit counts units of tokens instead. */
export type RateLimit = {
  readonly requestsPerMinute: number;
  readonly burst: number;
  /** Number of tokens that count as one request; undefined if requests are counted. */
  readonly unit?: number;
};

/** Scope in which calls count together for a limit: each replica by itself, or the whole installation. */
export type LimitScope = "Replica" | "Installation";

/** A rate limit as it is declared. */
export type DeclaredRate = RateLimit & { readonly scope: LimitScope };

/** Declared limit on the tokens that model calls use: a minute's worth may be used at once. */
export type TokenLimit = { readonly tokensPerMinute: number; readonly scope: LimitScope };

/** Number of concurrent calls allowed to a key that declares none (spec §4). */
export const UNDECLARED_CONCURRENT = 256;

/** Kind of owner whose calls a limit bounds together. */
export type LimitOwner = "key" | "team" | "route";

/** Declared limits of the calls that an owner makes together. */
export type DeclaredLimits = {
  readonly rate: DeclaredRate | null;
  /** Maximum number of concurrent calls; null if none is declared. */
  readonly concurrent: number | null;
  /** Token limit; undefined if none is declared. */
  readonly tokens?: TokenLimit;
  /** Budgets for its model calls by period. Undefined if none is declared, and for a route. */
  readonly budgets?: readonly Budget[];
  /** Budgets that a team's calls share with other teams, by policies that say so. Undefined for none. */
  readonly shared?: readonly SharedBudgets[];
};

/** `rateLimit` of a spec. */
export type LimitSpec = {
  readonly requestsPerMinute?: number;
  readonly burst?: number;
  readonly concurrent?: number;
  readonly tokensPerMinute?: number;
  readonly scope?: LimitScope;
};

/** Verdict of a rate limit on a request. Times are nanoseconds. */
export type RateVerdict = {
  readonly admitted: boolean;
  /** Time at which the last charged request is paid off: the state for the next judgement. */
  readonly paidAt: number;
  /** Number of further requests that would be admitted now. */
  readonly remaining: number;
  /** Time until a request is admitted: the refused request, or else a next one; 0 if it would be admitted now. */
  readonly retryAfter: number;
  /** Time until the whole burst is available again. */
  readonly resetAfter: number;
};

/** A limit, and the time at which the last request charged to it is paid off. */
type RateState = { readonly limit: RateLimit; readonly paidAt: number; readonly amount?: number | undefined };

const MINUTE = 60e9;
/** Maximum debt beyond a burst, in minutes of the rate: usage reported after a call delays others no longer. */
export const MOST_OWED_MINUTES = 60;

/** Returns the cost of a request, in nanoseconds. Rounded up, so that no more than the declared rate passes. */
export function rateCost({ requestsPerMinute }: RateLimit): number {
  return Math.ceil(MINUTE / requestsPerMinute);
}

/**
 * Judges one request by the generic cell rate algorithm, whose state is one number: each request costs the time that
 * the
 * rate takes for one, and may be paid later by at most the cost of a burst.
 *
 * @param paidAt that of the verdict before; 0, or any time before `now`, if there is nothing to pay
 * @param now nanoseconds on a clock that never goes back
 * @param amount how many requests it counts as
 */
export function judgeRate(limit: RateLimit, paidAt: number, now: number, amount = 1): RateVerdict {
  const cost = rateCost(limit);
  const due = Math.max(paidAt, now) + amount * cost;
  const isAdmitted = due - now <= limit.burst * cost;
  return isAdmitted ? verdictOf(limit, due, now, true) : verdictOf(limit, paidAt, now, false, amount);
}

/**
 * Charges what was used already, even if nothing is left: later requests wait until it is paid. Beyond a burst at most
 * {@link MOST_OWED_MINUTES} of the rate are owed.
 *
 * @returns when all of it is paid, in nanoseconds
 */
export function chargeUsed(limit: RateLimit, paidAt: number, now: number, amount: number): number {
  const cost = rateCost(limit);
  const most = now + limit.burst * cost + MOST_OWED_MINUTES * MINUTE;
  return Math.max(paidAt, Math.min(Math.max(paidAt, now) + amount * cost, most));
}

/**
 * Judges one request by several limits, each of which has to admit it. If any refuses it, it is charged to none.
 *
 * @param now as in {@link judgeRate}
 * @returns the verdict of each limit, in their order
 */
export function judgeRates(states: readonly RateState[], now: number): RateVerdict[] {
  const verdicts = states.map(({ limit, paidAt, amount }) => judgeRate(limit, paidAt, now, amount));
  if (verdicts.every(({ admitted }) => admitted)) return verdicts;
  return states.map(({ limit, paidAt, amount }, i) => {
    const isAdmitted = verdicts[i]?.admitted === true;
    return verdictOf(limit, paidAt, now, isAdmitted, isAdmitted ? 1 : amount);
  });
}

/**
 * Returns the unpaid part of an earlier charge, in nanoseconds. No more can be refunded, because time has paid the rest
 * and later callers have used it. It is the least that may be unpaid, whatever was charged since.
 */
export function unpaidOf(limit: RateLimit, { paidAt }: Pick<RateVerdict, "paidAt">, now: number, amount = 1): number {
  return Math.min(amount * rateCost(limit), Math.max(paidAt - now, 0));
}

/** Returns the state of a limit that is paid off at a given time, for a request that it has admitted. */
export function rateState(limit: RateLimit, paidAt: number, now: number): RateVerdict {
  return verdictOf(limit, paidAt, now, true);
}

function verdictOf(limit: RateLimit, paidAt: number, now: number, admitted: boolean, amount = 1): RateVerdict {
  const cost = rateCost(limit);
  const credit = limit.burst * cost;
  const owed = Math.max(paidAt - now, 0);
  const remaining = Math.max(0, Math.floor((credit - owed) / cost));
  return { admitted, paidAt, remaining, retryAfter: Math.max(0, owed + amount * cost - credit), resetAfter: owed };
}
