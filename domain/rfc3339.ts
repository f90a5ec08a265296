/** Times as text, in UTC. What is given counts milliseconds from the epoch. */

/** In whole seconds, as Kubernetes writes times and people read them: in statuses, messages and what is printed. */
export function rfc3339(ms: number): string {
  return rfc3339Millis(ms).replace(/\.\d+Z$/, "Z");
}

/** To the millisecond, for programs: in answers of the API and in the audit log. */
export function rfc3339Millis(ms: number): string {
  return new Date(ms).toISOString();
}
