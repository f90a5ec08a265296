/** A key's rate limit: so many requests a minute in the long run, and so many at once. */
export type RateLimit = { readonly requestsPerMinute: number; readonly burst: number };

/** Who counts together for a limit: each replica for itself, or all of an installation. */
export type LimitScope = "Replica" | "Installation";

/** A rate limit as it is declared. */
export type DeclaredRate = RateLimit & { readonly scope: LimitScope };

/** What a request meets at a rate limit. Times are nanoseconds. */
export type RateVerdict = {
  readonly admitted: boolean;
  /**
   * When the last admitted request is paid off: what the next one is judged by. As it was where this one is refused.
   */
  readonly paidAt: number;
  /** How many more would be admitted now. */
  readonly remaining: number;
  /** Until one is admitted; 0 while any is. */
  readonly retryAfter: number;
  /** Until the whole burst is there again. */
  readonly resetAfter: number;
};

const MINUTE = 60e9;

/**
 * Judges one request by the generic cell rate algorithm, which needs one number of state: each request costs the time
 * that the rate takes for one, and may be paid later by as much as a burst of them costs.
 *
 * @param paidAt of the verdict before; 0, or anything before `now`, when there is nothing to pay
 * @param now nanoseconds on a clock that never goes back
 */
export function judgeRate({ requestsPerMinute, burst }: RateLimit, paidAt: number, now: number): RateVerdict {
  // Rounded up: never more than what is declared.
  const cost = Math.ceil(MINUTE / requestsPerMinute);
  const credit = burst * cost;
  const due = Math.max(paidAt, now) + cost;
  const admitted = due - now <= credit;
  const owed = admitted ? due - now : Math.max(paidAt - now, 0);
  const remaining = Math.max(0, Math.floor((credit - owed) / cost));
  return {
    admitted,
    paidAt: admitted ? due : paidAt,
    remaining,
    retryAfter: remaining > 0 ? 0 : owed + cost - credit,
    resetAfter: owed,
  };
}
