import { sql } from "kysely";
import type { Store } from "./store.ts";

/** Numbers and shares of changed rows after which a table needs upkeep, as PostgreSQL's own settings have them. */
const MIN_ROWS = 50;
const ANALYZE_SHARE = 0.1;
const VACUUM_SHARE = 0.2;
const MIN_INSERTED = 1_000;
/**
 * Number of values kept for each column, for which 300 times as many rows are read. With PostgreSQL's default of 100
 * that would take a second.
 */
const STATISTICS_TARGET = 10;

/** Work that was done on a table. */
type TableUpkeep = { readonly table: string; readonly analyzed: boolean; readonly vacuumed: boolean };

/**
 * Does for the embedded database what PostgreSQL's autovacuum does and PGlite does not: gathers the planner's
 * statistics, and frees the space of deleted rows. Each statement handles one table, so that other queries run in
 * between.
 */
export async function maintainTables({ backgroundDb: db }: Pick<Store, "backgroundDb">): Promise<TableUpkeep[]> {
  // What is counted reaches the view with the end of a later statement.
  await sql`select pg_stat_force_next_flush()`.execute(db);
  const { rows } = await sql<{ name: string; changed: boolean; loose: boolean }>`
    select * from (
      select relname as name, n_mod_since_analyze > ${MIN_ROWS}::integer + ${ANALYZE_SHARE}::float8 * n_live_tup as changed,
        n_dead_tup > ${MIN_ROWS}::integer + ${VACUUM_SHARE}::float8 * n_live_tup
          or n_ins_since_vacuum > ${MIN_INSERTED}::integer + ${VACUUM_SHARE}::float8 * n_live_tup as loose
      from pg_stat_user_tables where schemaname = current_schema()
    ) due where changed or loose order by name`.execute(db);
  for (const { name, changed, loose } of rows) {
    if (loose) await sql`vacuum ${sql.table(name)}`.execute(db);
    if (!changed) continue;
    await db.transaction().execute(async (tx) => {
      await sql`select set_config('default_statistics_target', ${String(STATISTICS_TARGET)}, true)`.execute(tx);
      await sql`analyze ${sql.table(name)}`.execute(tx);
    });
  }
  return rows.map(({ name, changed, loose }) => ({ table: name, analyzed: changed, vacuumed: loose }));
}
