import { MOST_OWED_MINUTES, type RateLimit } from "./rate-limit.ts";

/** Request of a replica to draw from the cell of a limit, the state that all replicas share. */
export type LimitDraw = {
  readonly limitId: string;
  readonly limit: RateLimit;
  /** Number of requests that the replica expects; negative for requests that it drew and gives back. */
  readonly wanted: number;
  /** True if the requests have been made already: they are then granted up to the amount that may be owed. */
  readonly areUsed?: boolean;
};

/** Result of a draw from a cell. Times are microseconds. */
export type DrawnRequests = {
  /** Number of requests granted, at most as many as were wanted. Requests given back are granted unchanged. */
  readonly granted: number;
  /** Time at which everything ever granted is paid off. */
  readonly paidAt: number;
  /** Time of the draw by the cell's clock. */
  readonly now: number;
};

/** Remaining capacity of a cell. Times are microseconds. */
export type CellState = {
  /** Number of further requests that it would grant now. */
  readonly remaining: number;
  /** Time until it would grant the amount asked for; 0 if it would now. */
  readonly retryAfter: number;
  /** Time until the whole burst is available again. */
  readonly resetAfter: number;
};

const MINUTE = 60e6;

/** Returns the cost of a request, in microseconds. Rounded up, so that no more than the declared rate passes. */
export function requestCost({ requestsPerMinute }: RateLimit): number {
  return Math.ceil(MINUTE / requestsPerMinute);
}

/**
 * Draws from a cell by the generic cell rate algorithm, as `judgeRate` judges one request.
 *
 * @param paidAt that of the draw before; any time before `now` if there is nothing to pay
 */
export function drawRequests(
  limit: RateLimit,
  paidAt: number,
  now: number,
  wanted: number,
  areUsed = false,
): DrawnRequests {
  const cost = requestCost(limit);
  if (wanted < 0) return { granted: wanted, paidAt: paidAt + wanted * cost, now };
  const base = now + owedOf(limit, paidAt, now);
  const most = limit.burst + (areUsed ? mostOwed(limit) : 0);
  const granted = Math.max(0, Math.min(wanted, Math.floor((most * cost - (base - now)) / cost)));
  return { granted, paidAt: base + granted * cost, now };
}

/**
 * Returns the state of a cell at a given time.
 *
 * @param amount how many requests are to be granted together
 */
export function cellState(limit: RateLimit, paidAt: number, now: number, amount = 1): CellState {
  const cost = requestCost(limit);
  const owed = owedOf(limit, paidAt, now);
  const remaining = Math.max(0, Math.floor((limit.burst * cost - owed) / cost));
  return { remaining, retryAfter: Math.max(0, owed + (amount - limit.burst) * cost), resetAfter: owed };
}

/** Returns how much may be owed beyond a burst, in requests: only a limit that counts tokens charges after the call. */
export function mostOwed({ requestsPerMinute, unit }: RateLimit): number {
  return unit === undefined ? 0 : Math.ceil(requestsPerMinute * MOST_OWED_MINUTES);
}

/** Returns the time to be paid, at most what may be owed: a clock set back, or a larger limit before, adds no more. */
function owedOf(limit: RateLimit, paidAt: number, now: number): number {
  return Math.min(Math.max(paidAt - now, 0), (limit.burst + mostOwed(limit)) * requestCost(limit));
}
