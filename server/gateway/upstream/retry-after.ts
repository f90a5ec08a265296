import type { IncomingHttpHeaders } from "node:http";

/** Pattern of the three forms of a date of RFC 9110; the last form names no zone. */
const HTTP_DATE = /^[A-Z][a-z]{2,8},? [\w -]+ \d\d:\d\d:\d\d (?:GMT|\d{4})$/;

/**
 * Returns how long an answer asks to wait by its `Retry-After`, in seconds or as a date (RFC 9110); undefined if it
 * asks for nothing that can be read. A date is compared with the answer's own `Date`, so that no clock but the sender's
 * counts.
 *
 * @param now milliseconds since the epoch, for an answer without a `Date`
 * @returns milliseconds: 0 for a date that has passed
 */
export function retryAfterMs({ "retry-after": value, date }: IncomingHttpHeaders, now: number): number | undefined {
  // Of several lines the dispatcher makes a list, whatever its type says.
  const text = String(value);
  if (/^\d+(?:\.\d+)?$/.test(text)) return Number(text) * 1_000;
  const at = parseHttpDate(text);
  return at === undefined ? undefined : Math.max(0, at - (parseHttpDate(String(date)) ?? now));
}

/** Parses a date to milliseconds since the epoch; undefined if it is none. */
function parseHttpDate(text: string): number | undefined {
  if (!HTTP_DATE.test(text)) return undefined;
  const at = Date.parse(text.endsWith("GMT") ? text : `${text} GMT`);
  return Number.isNaN(at) ? undefined : at;
}
