import { type RawBuilder, sql } from "kysely";
import type { Db } from "./change.ts";

/**
 * SQL for the time of the database's clock. Only this clock decides when a version was minted and how long it lives: a
 * process's own may be hours off. It is one moment for all that a statement writes, after any lock that an earlier
 * statement took; in whole milliseconds, as all our times are.
 */
export const DATABASE_NOW = sql<Date>`date_trunc('milliseconds', statement_timestamp())`;

/** Reads the database's time, in milliseconds since the epoch. */
export async function databaseTime(db: Db): Promise<number> {
  const { rows } = await sql<{ now: Date }>`select ${DATABASE_NOW} as now`.execute(db);
  const [row] = rows;
  if (row === undefined) throw new Error("the database returned no row where there is always one");
  return toMs(row.now);
}

/** Returns SQL for the time `ms` milliseconds after `from`; null if `ms` is null. */
export function databaseTimeIn(ms: number | null, from = DATABASE_NOW): RawBuilder<Date | null> {
  return sql`${from} + ${ms}::float8 * interval '1 millisecond'`;
}

/** Converts milliseconds since the epoch, the form of all our times, to the value of a `timestamptz`. */
export function toDate(ms: number): Date;
export function toDate(ms: number | null): Date | null;
export function toDate(ms: number | null): Date | null {
  return ms === null ? null : new Date(ms);
}

/** Converts a `timestamptz`, as either driver gives it, to milliseconds since the epoch. */
export function toMs(date: Date): number;
export function toMs(date: Date | null): number | null;
export function toMs(date: Date | null): number | null {
  return date === null ? null : date.getTime();
}
