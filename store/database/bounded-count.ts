import { type RawBuilder, sql } from "kysely";
import type { BoundedPage } from "./bounded-page.ts";
import type { Db } from "./change.ts";
import { withOrderedPlans } from "./ordered-plans.ts";

/** As far as matches are counted. */
export const MAX_COUNT = 1_000;

/** How many rows a search finds on all its pages. */
export type BoundedCount = {
  readonly count: number;
  /** `more` than that, by an unknown number; or `at least`, where looking through them all would take too long. */
  readonly is: "exact" | "more" | "at least";
};

/** What the page of {@link MAX_COUNT} rows that a search begins with says of how many there are. */
export function countOfPage({ positions, next, isPartial }: BoundedPage<unknown>): BoundedCount {
  return { count: positions.length, is: next === null ? "exact" : isPartial ? "at least" : "more" };
}

/** Rows to be counted, one more than {@link MAX_COUNT} at most, as a column of a statement. */
export function upToMostRows(rows: RawBuilder<unknown>): RawBuilder<number> {
  return sql`(select count(*)::integer from (select ${rows} limit ${sql.lit(MAX_COUNT + 1)}) one)`;
}

/** @param count of rows of which all were counted, or more than {@link MAX_COUNT} */
export function countOfRows(count: number): BoundedCount {
  return count > MAX_COUNT ? { count: MAX_COUNT, is: "more" } : { count, is: "exact" };
}

/** Counts rows that are all wanted, and reads one more than {@link MAX_COUNT} at most. */
export async function countRows(db: Db, rows: RawBuilder<unknown>): Promise<BoundedCount> {
  const counted = await withOrderedPlans(db, (tx) =>
    sql<{ count: number }>`select ${upToMostRows(rows)} as count`.execute(tx),
  );
  return countOfRows(counted.rows[0]?.count ?? 0);
}
