import { sql } from "kysely";
import type { Db, Tx } from "./change.ts";
import { unansweredStatement } from "./unanswered.ts";

/**
 * Runs a question in a transaction in which rows that an index gives in order are never sorted instead, and no table is
 * read whole: without statistics, as a fresh table is and one of PGlite's long after, the planner takes 100,000 atoms
 * for a few hundred and sorts them all for the first twenty. Nor is a plan made for the values that are asked for: for
 * most of these statements that takes longer than to run them, and one that is kept is planned once. The settings are not
 * waited for.
 *
 * @param accessMode "read write" for one that changes something too
 */
export async function withOrderedPlans<T>(
  db: Db,
  question: (tx: Tx) => Promise<T>,
  accessMode: "read only" | "read write" = "read only",
): Promise<T> {
  return db
    .transaction()
    .setAccessMode(accessMode)
    .execute(async (tx) => {
      await sql`${unansweredStatement} select set_config('enable_sort', 'off', true),
        set_config('enable_incremental_sort', 'off', true), set_config('enable_seqscan', 'off', true),
        set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true),
        set_config('plan_cache_mode', 'force_generic_plan', true), set_config('jit', 'off', true),
        set_config('max_parallel_workers_per_gather', '0', true)`.execute(tx);
      return question(tx);
    });
}
