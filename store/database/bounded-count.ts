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

/** Counts rows that are all wanted, and reads one more than {@link MAX_COUNT} at most. */
export async function countRows(db: Db, rows: RawBuilder<unknown>): Promise<BoundedCount> {
  const count = await withOrderedPlans(db, async (tx) => {
    const counted = await sql<{ count: number }>`select count(*)::integer as count
      from (select ${rows} limit ${sql.lit(MAX_COUNT + 1)}) one`.execute(tx);
    return counted.rows[0]?.count ?? 0;
  });
  return count > MAX_COUNT ? { count: MAX_COUNT, is: "more" } : { count, is: "exact" };
}
