import { MOST_OWED_MINUTES, type RateLimit } from "./rate-limit.ts";

/** What a replica asks of the cell that all replicas share for a limit. */
export type LimitDraw = {
  readonly limitId: string;
  readonly limit: RateLimit;
  /** Requests that it expects; negative for those that it drew and gives back. */
  readonly wanted: number;
  /** Whether they have been made already: they are granted as far as so much may be owed. */
  readonly areUsed?: boolean;
};

/** What the cell gives. Times are microseconds. */
export type DrawnRequests = {
  /** Of the requests that were wanted: none, some, or all; never more. What is given back is granted as it is. */
  readonly granted: number;
  /** When all that was ever granted is paid off. */
  readonly paidAt: number;
  /** The cell's time at the draw. */
  readonly now: number;
};

/** What is left in a cell. Times are microseconds. */
export type CellState = {
  /** How many more it would grant now. */
  readonly remaining: number;
  /** Until it would grant so many; 0 while it would. */
  readonly retryAfter: number;
  /** Until the whole burst is there again. */
  readonly resetAfter: number;
};

const MINUTE = 60e6;

/** What a request costs, in microseconds. Rounded up: never more than what is declared. */
export function requestCost({ requestsPerMinute }: RateLimit): number {
  return Math.ceil(MINUTE / requestsPerMinute);
}

/**
 * Draws from a cell by the generic cell rate algorithm, as `judgeRate` judges one request.
 *
 * @param paidAt of the draw before; anything before `now` where there is nothing to pay
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
 * What a cell would give at a moment.
 *
 * @param amount how many requests are to be had together
 */
export function cellState(limit: RateLimit, paidAt: number, now: number, amount = 1): CellState {
  const cost = requestCost(limit);
  const owed = owedOf(limit, paidAt, now);
  const remaining = Math.max(0, Math.floor((limit.burst * cost - owed) / cost));
  return { remaining, retryAfter: Math.max(0, owed + (amount - limit.burst) * cost), resetAfter: owed };
}

/** What may be owed beyond a burst, in requests: only what counts tokens charges after the call. */
export function mostOwed({ requestsPerMinute, unit }: RateLimit): number {
  return unit === undefined ? 0 : Math.ceil(requestsPerMinute * MOST_OWED_MINUTES);
}

/** Never more than may be owed: a clock that was set back, or a larger limit of before, holds up no one for longer. */
function owedOf(limit: RateLimit, paidAt: number, now: number): number {
  return Math.min(Math.max(paidAt - now, 0), (limit.burst + mostOwed(limit)) * requestCost(limit));
}
