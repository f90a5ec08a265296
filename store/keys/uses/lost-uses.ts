import { type RawBuilder, sql } from "kysely";
import type { Store } from "../../database/store.ts";

/** Time until which uses of keys may be missing; null if none were ever lost. */
export const LOST_USES_UNTIL: RawBuilder<Date | null> = sql`(select until from usage_lost)`;

/** Records that uses of keys were lost until now: nothing may be concluded from a use that is missing before. */
export async function noteLostUses({ db }: Store): Promise<void> {
  await sql`update usage_lost set until = clock_timestamp()`.execute(db);
}
