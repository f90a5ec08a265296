import type { RateLimit } from "./rate-limit.ts";

/** What a replica asks of the cell that all replicas share for a limit. */
export type LimitDraw = {
  readonly limitId: string;
  readonly limit: RateLimit;
  /** Requests that it expects; negative for those that it drew and gives back. */
  readonly wanted: number;
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
  /** Until it would grant one; 0 while it would. */
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
export function drawRequests(limit: RateLimit, paidAt: number, now: number, wanted: number): DrawnRequests {
  const cost = requestCost(limit);
  if (wanted < 0) return { granted: wanted, paidAt: paidAt + wanted * cost, now };
  const base = now + owedOf(limit, paidAt, now);
  const granted = Math.min(wanted, Math.floor((limit.burst * cost - (base - now)) / cost));
  return { granted, paidAt: base + granted * cost, now };
}

/** What a cell would give at a moment. */
export function cellState(limit: RateLimit, paidAt: number, now: number): CellState {
  const cost = requestCost(limit);
  const owed = owedOf(limit, paidAt, now);
  const remaining = Math.max(0, Math.floor((limit.burst * cost - owed) / cost));
  return { remaining, retryAfter: remaining > 0 ? 0 : owed + cost - limit.burst * cost, resetAfter: owed };
}

/** Never more than a burst: a clock that was set back, or a larger limit of before, holds up no one for longer. */
function owedOf(limit: RateLimit, paidAt: number, now: number): number {
  return Math.min(Math.max(paidAt - now, 0), limit.burst * requestCost(limit));
}
