/** A time as Kubernetes writes it: RFC 3339 in whole seconds. `ms` counts from the epoch. */
export function rfc3339(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+Z$/, "Z");
}
