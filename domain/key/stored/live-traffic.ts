/** Traffic that ends with a key, for plans and for the page that revokes several keys. */

import type { CallerNetwork } from "../../access/caller-network.ts";
import { counted } from "../../counted.ts";
import { DAY_MS, HOUR_MS } from "../../duration.ts";
import { rfc3339 } from "../../rfc3339.ts";

/** Recent traffic of a key. Times are milliseconds since the epoch. */
export type LiveTraffic = {
  /** Time of the last use: null for never, undefined if no server that knows it was asked. */
  readonly lastUsedAt: number | null | undefined;
  /** Networks that called with the key, the most recent first; empty if they are not known. */
  readonly callers: readonly CallerNetwork[];
  /** Number of requests accepted in the last day, and the time from which they count; undefined if not asked for. */
  readonly lastDay?: { readonly requests: number; readonly since: number } | undefined;
};

/** Maximum number of networks that the text names. */
const NAMED_CALLERS = 3;
const MINUTE_MS = 60_000;
const SPANS: readonly (readonly [unit: string, length: number])[] = [
  ["day", DAY_MS],
  ["hour", HOUR_MS],
  ["minute", MINUTE_MS],
];

/** True if a key was used within the last day. */
export function isInUse({ lastUsedAt, lastDay }: LiveTraffic, now: number): boolean {
  return (lastDay?.requests ?? 0) > 0 || now - (lastUsedAt ?? Number.NEGATIVE_INFINITY) < DAY_MS;
}

/** Returns when a key was last used, from where, and how often within the last day, as the end of a sentence. */
export function liveTrafficText({ lastUsedAt, callers, lastDay }: LiveTraffic, now: number): string {
  if (lastUsedAt === undefined) return "when it was last used is known to a running server alone";
  const often = lastDay === undefined || lastDay.requests === 0 ? [] : [requestsText(lastDay)];
  // Requests are counted before a first use is written.
  if (lastUsedAt === null) return often.length === 0 ? "never used" : ["used just now", ...often].join("; ");
  return [`last used ${agoText(now - lastUsedAt)}, at ${rfc3339(lastUsedAt)}${callersText(callers)}`, ...often].join(
    "; ",
  );
}

function requestsText({ requests, since }: NonNullable<LiveTraffic["lastDay"]>): string {
  return `${counted(requests, "request")} since ${rfc3339(since)}`;
}

function agoText(ms: number): string {
  const [unit, length] = SPANS.find(([, span]) => ms >= span) ?? ["", 0];
  if (length === 0) return "less than a minute ago";
  return `${counted(Math.floor(ms / length), unit)} ago`;
}

function callersText(callers: readonly CallerNetwork[]): string {
  if (callers.length === 0) return "";
  const named = callers.slice(0, NAMED_CALLERS).map(({ network }) => network);
  const others = callers.length - named.length;
  return `, of late from ${named.join(", ")}${others === 0 ? "" : ` and ${others} more`}`;
}
