import { sql } from "kysely";
import type { Store } from "../../store/database/store.ts";

/**
 * Gathers the planner's statistics of some tables, of all where none is named: of 3,000 rows of each, in place of 30,000,
 * which takes longer than a statement may where an index has many terms of each row.
 */
export async function gatherStatistics({ db }: Store, tables: readonly string[] = []): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await sql`set local default_statistics_target = 10`.execute(tx);
    await sql`analyze ${sql.join(tables.map((table) => sql.table(table)))}`.execute(tx);
  });
}
