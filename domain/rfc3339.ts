/** Times as text, in UTC. Arguments are milliseconds since the epoch. */

/** Formats a time in whole seconds, as Kubernetes and people write times: for statuses, messages and output. */
export function rfc3339(ms: number): string {
  return rfc3339Millis(ms).replace(/\.\d+Z$/, "Z");
}

/** Formats a time to the millisecond, for programs: in answers of the API and in the audit log. */
export function rfc3339Millis(ms: number): string {
  return new Date(ms).toISOString();
}

/**
 * True if a time that RFC 3339 has the form of is on a day of the calendar: `Date` takes 30 February for a day of
 * March.
 */
export function isOnCalendarDay(text: string): boolean {
  return new Date(text.slice(0, 10)).getUTCDate() === Number(text.slice(8, 10));
}
