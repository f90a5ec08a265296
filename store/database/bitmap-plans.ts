import { sql } from "kysely";
import type { Tx } from "./change.ts";
import { unansweredStatement } from "./unanswered.ts";

/**
 * Makes the following statements of a transaction find rows by bitmap scans alone, and so by an index of what they ask
 * for. A plan that is made for a small table may instead walk another index, or the table, until it has found enough,
 * and so read every row.
 */
export async function askByBitmaps(tx: Tx): Promise<void> {
  await sql`${unansweredStatement} select set_config('enable_indexscan', 'off', true),
    set_config('enable_indexonlyscan', 'off', true), set_config('enable_seqscan', 'off', true)`.execute(tx);
}
