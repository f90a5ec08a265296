/** A rate limit: so many requests a minute in the long run, and so many at once. */
export type RateLimit = { readonly requestsPerMinute: number; readonly burst: number };

/** Who counts together for a limit: each replica for itself, or all of an installation. */
export type LimitScope = "Replica" | "Installation";

/** A rate limit as it is declared. */
export type DeclaredRate = RateLimit & { readonly scope: LimitScope };

/** Whose calls a limit bounds together. */
export type LimitOwner = "key" | "team" | "route";

/** What is declared of the calls that an owner makes together. */
export type DeclaredLimits = {
  readonly rate: DeclaredRate | null;
  /** Calls under way at once; null where none is declared. */
  readonly concurrent: number | null;
};

/** `rateLimit` as it is written. */
export type LimitSpec = {
  readonly requestsPerMinute?: number;
  readonly burst?: number;
  readonly concurrent?: number;
  readonly scope?: LimitScope;
};

/** What a request meets at a rate limit. Times are nanoseconds. */
export type RateVerdict = {
  readonly admitted: boolean;
  /** When the last request that was charged is paid off: what the next one is judged by. */
  readonly paidAt: number;
  /** How many more would be admitted now. */
  readonly remaining: number;
  /** Until one is admitted; 0 while any is. */
  readonly retryAfter: number;
  /** Until the whole burst is there again. */
  readonly resetAfter: number;
};

/** A limit, and when the last request that was charged to it is paid off. */
type RateState = { readonly limit: RateLimit; readonly paidAt: number };

const MINUTE = 60e9;

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
 */
export function judgeRate(limit: RateLimit, paidAt: number, now: number): RateVerdict {
  const cost = rateCost(limit);
  const due = Math.max(paidAt, now) + cost;
  return due - now <= limit.burst * cost ? verdictOf(limit, due, now, true) : verdictOf(limit, paidAt, now, false);
}

/**
 * Judges one request by several limits, each of which has to admit it. Where one refuses it, it costs none of them
 * anything.
 *
 * @param now as of {@link judgeRate}
 * @returns what it meets at each of them, in their order
 */
export function judgeRates(states: readonly RateState[], now: number): RateVerdict[] {
  const verdicts = states.map(({ limit, paidAt }) => judgeRate(limit, paidAt, now));
  if (verdicts.every(({ admitted }) => admitted)) return verdicts;
  return states.map(({ limit, paidAt }, i) => verdictOf(limit, paidAt, now, verdicts[i]?.admitted === true));
}

/**
 * What of a charge that was made before is to be paid yet, in nanoseconds: no more can be taken back, since time has paid
 * the rest, and who comes later has had it. The least that it may be, whatever was charged since.
 */
export function unpaidOf(limit: RateLimit, { paidAt }: Pick<RateVerdict, "paidAt">, now: number): number {
  return Math.min(rateCost(limit), Math.max(paidAt - now, 0));
}

/** What a limit has left that is paid off at a moment, for a request that it has admitted. */
export function rateState(limit: RateLimit, paidAt: number, now: number): RateVerdict {
  return verdictOf(limit, paidAt, now, true);
}

function verdictOf(limit: RateLimit, paidAt: number, now: number, admitted: boolean): RateVerdict {
  const cost = rateCost(limit);
  const credit = limit.burst * cost;
  const owed = Math.max(paidAt - now, 0);
  const remaining = Math.max(0, Math.floor((credit - owed) / cost));
  return { admitted, paidAt, remaining, retryAfter: remaining > 0 ? 0 : owed + cost - credit, resetAfter: owed };
}
