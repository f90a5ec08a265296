import { type RawBuilder, sql } from "kysely";
import type { Store } from "../../database/store.ts";

/** Until when uses of keys may be missing: null where none ever were. */
export const LOST_USES_UNTIL: RawBuilder<Date | null> = sql`(select until from usage_lost)`;

/** Stores that uses of keys were lost until now: of what lacks before, nothing is to be concluded. */
export async function noteLostUses({ db }: Store): Promise<void> {
  await sql`update usage_lost set until = clock_timestamp()`.execute(db);
}
