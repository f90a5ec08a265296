import { type RawBuilder, sql } from "kysely";
import type { BoundedPage } from "./bounded-page.ts";
import type { Db } from "./change.ts";
import { withOrderedPlans } from "./ordered-plans.ts";

/** Number of matches up to which a search counts exactly. */
export const MAX_COUNT = 1_000;

/** Number of rows that a search finds on all its pages. */
export type BoundedCount = {
  readonly count: number;
  /** `exact`, `more` by an unknown number, or `at least`, if looking through all rows would take too long. */
  readonly is: "exact" | "more" | "at least";
};

/** Returns the count that follows from the first page of a search, read with a limit of {@link MAX_COUNT} rows. */
export function countOfPage({ positions, next, isPartial }: BoundedPage<unknown>): BoundedCount {
  return { count: positions.length, is: next === null ? "exact" : isPartial ? "at least" : "more" };
}

/** Returns SQL for a column that counts rows, up to one more than {@link MAX_COUNT}. */
export function upToMostRows(rows: RawBuilder<unknown>): RawBuilder<number> {
  return sql`(select count(*)::integer from (select ${rows} limit ${sql.lit(MAX_COUNT + 1)}) one)`;
}

/** @param count number of rows, if all were counted; else a number above {@link MAX_COUNT} */
export function countOfRows(count: number): BoundedCount {
  return count > MAX_COUNT ? { count: MAX_COUNT, is: "more" } : { count, is: "exact" };
}

/** Counts rows that all match, and reads one more than {@link MAX_COUNT} at most. */
export async function countRows(db: Db, rows: RawBuilder<unknown>): Promise<BoundedCount> {
  const counted = await withOrderedPlans(db, (tx) =>
    sql<{ count: number }>`select ${upToMostRows(rows)} as count`.execute(tx),
  );
  return countOfRows(counted.rows[0]?.count ?? 0);
}
