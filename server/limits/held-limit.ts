import { cellState, type DrawnRequests, requestCost } from "../../domain/access/limit-draw.ts";
import { judgeRate, type RateLimit, type RateVerdict } from "../../domain/access/rate-limit.ts";

/** Milliseconds for which requests are drawn at a time: what is not used by then is given back. */
export const PERIOD_MS = 1_000;
/**
 * Milliseconds after which a cell that had too little is asked again, at the earliest; sooner if half of its burst is
 * there again.
 */
export const AGAIN_MS = 100;
const MINUTE_MS = 60_000;
/** Microseconds, and below nanoseconds, in a millisecond. */
const MICROSECONDS = 1e3;
const NANOSECONDS = 1e6;

/** A limit whose cell all replicas share. */
export type DrawnLimit = {
  readonly limitId: string;
  /** Team in whose queue the cell is drawn from. */
  readonly teamId: string;
  readonly limit: RateLimit;
};

/** State of a limit on this thread. Times are milliseconds by its own clock, but for what `last` says. */
export type HeldLimit = DrawnLimit & {
  limit: RateLimit;
  /** Requests that were drawn and not made yet. */
  requests: number;
  /** Number of requests that wait for the cell's answer; below, as how many they count. */
  waiting: number;
  waitingFor: number;
  /** Amount to charge after the calls, or to give back if it is negative; below, true while that is on its way. */
  toSettle: number;
  isSettling: boolean;
  /** Number of requests in this period, refused ones too; below, how many a period is expected to have. */
  asked: number;
  expected: number;
  last: { readonly drawn: DrawnRequests; readonly at: number } | undefined;
  /** Time until which the cell has nothing, and is not asked. */
  emptyUntil: number;
  /** Time until which another transaction has the cell locked, and this thread's share applies. */
  lockedUntil: number;
  /** State of this thread's share: nanoseconds, as `judgeRate` has it. */
  paidAt: number;
  drawing: Promise<void> | undefined;
  /** Last question to the cell, until it is answered: a statement has each cell once. */
  sent: Promise<void> | undefined;
};

/** Returns the state of a limit of which nothing is known yet. */
export function unaskedLimit({ limitId, teamId, limit }: DrawnLimit): HeldLimit {
  return {
    limitId,
    teamId,
    limit,
    requests: 0,
    waiting: 0,
    waitingFor: 0,
    toSettle: 0,
    isSettling: false,
    asked: 0,
    expected: 0,
    last: undefined,
    emptyUntil: 0,
    lockedUntil: 0,
    paidAt: 0,
    drawing: undefined,
    sent: undefined,
  };
}

/**
 * Returns how many requests are to be drawn: for those that wait, and for those that are expected within a period.
 * Nothing is drawn ahead if the limit admits less than one request a second and thread: others would be refused for
 * long what this thread only expects.
 */
export function requestsWanted({ limit, requests, waitingFor, asked, expected }: HeldLimit, threads: number): number {
  const isFrequent = (limit.requestsPerMinute * PERIOD_MS) / MINUTE_MS >= threads;
  const ahead = isFrequent ? Math.max(expected, asked) - requests : 0;
  return Math.max(1, waitingFor - requests, ahead);
}

/**
 * Takes in what the cell gave.
 *
 * @param wanted requests that it was asked for
 * @param now milliseconds by the thread's clock
 */
export function takeDrawn(
  held: HeldLimit,
  { drawn, wanted, now, threads }: { drawn: DrawnRequests; wanted: number; now: number; threads: number },
): void {
  const { limit } = held;
  held.last = { drawn, at: now };
  // The cell has the burst: of the part, only what comes while it is not asked is to be had.
  const part = threadShare(limit, threads);
  const burstMs = (requestCost(part) * part.burst) / MICROSECONDS;
  held.paidAt = (now + Math.min(burstMs, MINUTE_MS)) * NANOSECONDS;
  held.requests += drawn.granted;
  if (drawn.granted === wanted) return;
  const { retryAfter } = cellState(limit, drawn.paidAt, drawn.now);
  if (limit.unit !== undefined) {
    // Whenever a call has ended there may be more.
    held.emptyUntil = now + AGAIN_MS;
    return;
  }
  const halfBurst = (limit.burst * requestCost(limit)) / 2;
  held.emptyUntil = now + Math.max(retryAfter, Math.min(AGAIN_MS * MICROSECONDS, halfBurst)) / MICROSECONDS;
}

/** Judges a request by what this thread may admit by itself, and counts it there. */
export function judgePart(held: HeldLimit, amount: number, now: number, threads: number): RateVerdict {
  const part = threadShare(held.limit, threads);
  const verdict = judgeRate(part, held.paidAt, now * NANOSECONDS, Math.min(amount, part.burst));
  held.paidAt = verdict.paidAt;
  return verdict;
}

/** Returns what a thread may admit by itself while the cell is not asked. */
function threadShare({ requestsPerMinute, burst, ...counted }: RateLimit, threads: number): RateLimit {
  return {
    ...counted,
    requestsPerMinute: requestsPerMinute / threads,
    burst: Math.max(1, Math.floor(burst / threads)),
  };
}

/**
 * Returns the time, in milliseconds of the thread's clock, until which something is known of a limit that nothing asks
 * for.
 */
export function knownUntil({ emptyUntil, lockedUntil, paidAt }: HeldLimit): number {
  return Math.max(emptyUntil, lockedUntil, paidAt / NANOSECONDS);
}

/** Returns a verdict by what the cell had when it was last asked, and what is held. */
export function verdictOf(
  { limit, last, requests, emptyUntil }: HeldLimit,
  admitted: boolean,
  now: number,
  amount = 1,
): RateVerdict {
  if (last === undefined) {
    return { admitted, paidAt: 0, remaining: requests, retryAfter: AGAIN_MS * NANOSECONDS, resetAfter: 0 };
  }
  const cellNow = last.drawn.now + (now - last.at) * MICROSECONDS;
  const missing = Math.max(1, amount - requests);
  const { remaining, retryAfter, resetAfter } = cellState(limit, last.drawn.paidAt, cellNow, missing);
  const wait = limit.unit === undefined ? emptyUntil - now : retryAfter / MICROSECONDS;
  return {
    admitted,
    paidAt: 0,
    remaining: admitted ? remaining + requests : 0,
    retryAfter: admitted ? 0 : Math.max(wait, AGAIN_MS) * NANOSECONDS,
    resetAfter: resetAfter * MICROSECONDS,
  };
}
