/** Times as text, in UTC. Arguments are milliseconds since the epoch. */

/** Formats a time in whole seconds, as Kubernetes and people write times: for statuses, messages and output. */
export function rfc3339(ms: number): string {
  return rfc3339Millis(ms).replace(/\.\d+Z$/, "Z");
}

/** Formats a time to the millisecond, for programs: in answers of the API and in the audit log. */
export function rfc3339Millis(ms: number): string {
  return new Date(ms).toISOString();
}
