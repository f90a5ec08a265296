import type { Budget, SharedBudgets } from "../budget/budget.ts";

/** A rate limit: so many requests a minute in the long run, and so many at once; or of tokens so many units of them. */
export type RateLimit = {
  readonly requestsPerMinute: number;
  readonly burst: number;
  /** How many tokens are counted as one request; undefined where requests are counted. */
  readonly unit?: number;
};

/** Who counts together for a limit: each replica for itself, or all of an installation. */
export type LimitScope = "Replica" | "Installation";

/** A rate limit as it is declared. */
export type DeclaredRate = RateLimit & { readonly scope: LimitScope };

/** A limit of the tokens that calls of models use, as it is declared: a minute's worth may be used at once. */
export type TokenLimit = { readonly tokensPerMinute: number; readonly scope: LimitScope };

/** The calls that a key may have under way where it declares nothing (spec §4). */
export const UNDECLARED_CONCURRENT = 256;

/** Whose calls a limit bounds together. */
export type LimitOwner = "key" | "team" | "route";

/** What is declared of the calls that an owner makes together. */
export type DeclaredLimits = {
  readonly rate: DeclaredRate | null;
  /** Calls under way at once; null where none is declared. */
  readonly concurrent: number | null;
  /** Undefined where none is declared. */
  readonly tokens?: TokenLimit;
  /** Of what its calls of models may use by period. Undefined where none is declared, and for a route. */
  readonly budgets?: readonly Budget[];
  /** What a team's calls share with those of others, by the policies that say so. Undefined for nothing. */
  readonly shared?: readonly SharedBudgets[];
};

/** `rateLimit` as it is written. */
export type LimitSpec = {
  readonly requestsPerMinute?: number;
  readonly burst?: number;
  readonly concurrent?: number;
  readonly tokensPerMinute?: number;
  readonly scope?: LimitScope;
};

/** What a request meets at a rate limit. Times are nanoseconds. */
export type RateVerdict = {
  readonly admitted: boolean;
  /** When the last request that was charged is paid off: what the next one is judged by. */
  readonly paidAt: number;
  /** How many more would be admitted now. */
  readonly remaining: number;
  /** Until one is admitted, or of a request that was refused until it is; 0 while any is. */
  readonly retryAfter: number;
  /** Until the whole burst is there again. */
  readonly resetAfter: number;
};

/** A limit, and when the last request that was charged to it is paid off. */
type RateState = { readonly limit: RateLimit; readonly paidAt: number; readonly amount?: number | undefined };

const MINUTE = 60e9;
/** What may be owed beyond a burst, in minutes of the rate: what is reported after a call holds others up no longer. */
export const MOST_OWED_MINUTES = 60;

/** What a request costs, in nanoseconds. Rounded up: never more than what is declared. */
export function rateCost({ requestsPerMinute }: RateLimit): number {
  return Math.ceil(MINUTE / requestsPerMinute);
}

/**
 * Judges one request by the generic cell rate algorithm, which needs one number of state: each request costs the time
 * that the rate takes for one, and may be paid later by as much as a burst of them costs.
 *
 * @param paidAt of the verdict before; 0, or anything before `now`, when there is nothing to pay
 * @param now nanoseconds on a clock that never goes back
 * @param amount as how many requests it counts
 */
export function judgeRate(limit: RateLimit, paidAt: number, now: number, amount = 1): RateVerdict {
  const cost = rateCost(limit);
  const due = Math.max(paidAt, now) + amount * cost;
  const isAdmitted = due - now <= limit.burst * cost;
  return isAdmitted ? verdictOf(limit, due, now, true) : verdictOf(limit, paidAt, now, false, amount);
}

/**
 * Charges what was used already, also where nothing is left: later requests wait until it is paid. Beyond a burst no
 * more than {@link MOST_OWED_MINUTES} of the rate is owed.
 *
 * @returns when all of it is paid, in nanoseconds
 */
export function chargeUsed(limit: RateLimit, paidAt: number, now: number, amount: number): number {
  const cost = rateCost(limit);
  const most = now + limit.burst * cost + MOST_OWED_MINUTES * MINUTE;
  return Math.max(paidAt, Math.min(Math.max(paidAt, now) + amount * cost, most));
}

/**
 * Judges one request by several limits, each of which has to admit it. Where one refuses it, it costs none of them
 * anything.
 *
 * @param now as of {@link judgeRate}
 * @returns what it meets at each of them, in their order
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
 * What of a charge that was made before is to be paid yet, in nanoseconds: no more can be taken back, since time has paid
 * the rest, and who comes later has had it. The least that it may be, whatever was charged since.
 */
export function unpaidOf(limit: RateLimit, { paidAt }: Pick<RateVerdict, "paidAt">, now: number, amount = 1): number {
  return Math.min(amount * rateCost(limit), Math.max(paidAt - now, 0));
}

/** What a limit has left that is paid off at a moment, for a request that it has admitted. */
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
