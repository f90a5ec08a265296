import { sql } from "kysely";
import type { Db } from "../../store/database/change.ts";

/**
 * Fills a table while some of its indexes are not there, and makes them again, of all rows at once: to sort each row into
 * an index of many terms takes several times as much. What is gathered of an index's columns stays as it was.
 */
export async function withoutIndexes<Filled>(
  db: Db,
  names: readonly string[],
  fill: () => Promise<Filled>,
): Promise<Filled> {
  const { rows } = await sql<{ definition: string; targets: string[] }>`
    select pg_get_indexdef(indexrelid) as definition, array(
        select format('alter index %s alter column %s set statistics %s', indexrelid::regclass, attnum, attstattarget)
        from pg_attribute where attrelid = indexrelid and attstattarget >= 0
      ) as targets
    from pg_index where indexrelid = any(${names}::regclass[])`.execute(db);
  for (const name of names) await sql`drop index ${sql.id(name)}`.execute(db);
  const filled = await fill();
  for (const { definition, targets } of rows) {
    for (const statement of [definition, ...targets]) await sql.raw(statement).execute(db);
  }
  return filled;
}
