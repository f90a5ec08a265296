import { REQUEST_SCOPES, REQUEST_SLOT_MS, type RequestScope } from "../../../../domain/access/request-scope.ts";
import { HOUR_MS } from "../../../../domain/duration.ts";
import type { RequestCount } from "../../../../store/keys/uses/request-counts.ts";

/** Requests that were let through within one interval, by scope. */
export type RequestBar = {
  /** Milliseconds since the epoch. */
  readonly from: number;
  readonly counts: ReadonlyMap<RequestScope, number>;
  readonly sum: number;
};

/** Requests that a key's page shows. */
export type Requests = {
  /** Requests of the last hour in intervals of five minutes, the last interval still under way. */
  readonly hour: readonly RequestBar[];
  /** Requests of the last day in intervals of an hour, the last interval still under way. */
  readonly day: readonly RequestBar[];
};

/** Returns the start of the time that {@link requestsOf} covers, in milliseconds since the epoch. */
export function requestsSince(now: number): number {
  return beginOf(now, HOUR_MS, 24);
}

/** Sorts counts of requests into intervals. @param now milliseconds since the epoch */
export function requestsOf(counts: readonly RequestCount[], now: number): Requests {
  return { hour: bars(counts, now, REQUEST_SLOT_MS, 12), day: bars(counts, now, HOUR_MS, 24) };
}

/** Sums up requests by scope, without scopes that had none. */
export function sumsOf(bars: readonly RequestBar[]): Map<RequestScope, number> {
  const sums = REQUEST_SCOPES.map(
    (scope) => [scope, bars.reduce((sum, { counts }) => sum + (counts.get(scope) ?? 0), 0)] as const,
  );
  return new Map(sums.filter(([, sum]) => sum > 0));
}

export function sumOf(bars: readonly RequestBar[]): number {
  return bars.reduce((all, { sum }) => all + sum, 0);
}

function bars(counts: readonly RequestCount[], now: number, lengthMs: number, number: number): RequestBar[] {
  const begin = beginOf(now, lengthMs, number);
  return Array.from({ length: number }, (_, i) => {
    const from = begin + i * lengthMs;
    const within = counts.filter(({ slot }) => slot >= from && slot < from + lengthMs);
    const of = (scope: RequestScope) =>
      within.reduce((sum, counted) => (counted.scope === scope ? sum + counted.count : sum), 0);
    const byScope = REQUEST_SCOPES.map((scope) => [scope, of(scope)] as const).filter(([, count]) => count > 0);
    return { from, counts: new Map(byScope), sum: byScope.reduce((sum, [, count]) => sum + count, 0) };
  });
}

function beginOf(now: number, lengthMs: number, number: number): number {
  return (Math.floor(now / lengthMs) - number + 1) * lengthMs;
}
