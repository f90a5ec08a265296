/** Milliseconds since the epoch, as all our times are, to what a `timestamptz` takes. */
export function toDate(ms: number): Date;
export function toDate(ms: number | null): Date | null;
export function toDate(ms: number | null): Date | null {
  return ms === null ? null : new Date(ms);
}

/** A `timestamptz` as either driver gives it, to milliseconds since the epoch. */
export function toMs(date: Date): number;
export function toMs(date: Date | null): number | null;
export function toMs(date: Date | null): number | null {
  return date === null ? null : date.getTime();
}
