import { sql } from "kysely";
import type { Db, Tx } from "./change.ts";
import { unansweredStatement } from "./unanswered.ts";

/**
 * Runs a query in a transaction whose plans never sort rows that an index gives in order, and never read a whole table.
 * Without statistics, as on a fresh table and for long on PGlite's tables, the planner takes 100,000 atoms for a few
 * hundred and sorts them all for the first twenty. Plans are made without the values that are asked for: planning takes
 * longer than running most of these statements, and a plan that is kept is made once. The settings are not waited for.
 *
 * @param accessMode "read write" if the query changes something too
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
