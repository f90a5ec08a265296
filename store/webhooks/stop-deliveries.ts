import { type RawBuilder, sql } from "kysely";
import type { Tx } from "../database/change.ts";

/** Has deliveries that wait be told no more. Whoever tries one of them now finds that it is over. */
export async function stopDeliveries(tx: Tx, which: RawBuilder<unknown>, why: string): Promise<void> {
  await sql`update webhook_deliveries set state = 'stopped', due_at = null, claim = null, error = ${why}
    where state = 'pending' and ${which}`.execute(tx);
}
