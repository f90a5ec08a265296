import { sql } from "kysely";
import type { Tx } from "./change.ts";
import { unansweredStatement } from "./unanswered.ts";

/**
 * Has what follows in a transaction find its rows by bitmaps alone, and so by an index of what it asks for: to walk another
 * index, or the table, until enough are found would read every row, and a plan that is made for a small table may do so.
 */
export async function askByBitmaps(tx: Tx): Promise<void> {
  await sql`${unansweredStatement} select set_config('enable_indexscan', 'off', true),
    set_config('enable_indexonlyscan', 'off', true), set_config('enable_seqscan', 'off', true)`.execute(tx);
}
