import { type RawBuilder, sql } from "kysely";
import type { Tx } from "../database/change.ts";

/** Cancels pending deliveries. The outcome of a try that is under way is not recorded any more. */
export async function stopDeliveries(tx: Tx, which: RawBuilder<unknown>, why: string): Promise<void> {
  await sql`update webhook_deliveries set state = 'stopped', due_at = null, claim = null, error = ${why}
    where state = 'pending' and ${which}`.execute(tx);
}
