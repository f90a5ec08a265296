import { sql } from "kysely";
import type { Db } from "../../store/database/change.ts";

/**
 * Fills a table while some of its indexes are not there, and makes them again, of all rows at once: to sort each row into
 * an index of many terms takes several times as much.
 */
export async function withoutIndexes(db: Db, names: readonly string[], fill: () => Promise<void>): Promise<void> {
  const { rows } = await sql<{ definition: string }>`select pg_get_indexdef(indexrelid) as definition from pg_index
    where indexrelid = any(${names}::regclass[])`.execute(db);
  for (const name of names) await sql`drop index ${sql.id(name)}`.execute(db);
  await fill();
  for (const { definition } of rows) await sql.raw(definition).execute(db);
}
