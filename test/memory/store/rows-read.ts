import { type Kysely, sql } from "kysely";
import type { Database } from "../../../store/database/schema.ts";

type Db = Kysely<Database>;
type RowsRead = { readonly scans: number; readonly rows: number };

/** How often a table was read whole for a question, and how many rows of it by an index. */
export async function rowsRead(
  db: Db,
  question: (db: Db) => Promise<unknown>,
  table: "atoms" | "libraries" = "atoms",
): Promise<RowsRead> {
  return db.connection().execute(async (connection) => {
    const before = await tally(connection, table);
    await question(connection);
    const after = await tally(connection, table);
    return { scans: after.scans - before.scans, rows: after.rows - before.rows };
  });
}

const CONNECTIONS = 20;

/** Has every connection of a pool note what it has read, which it does by itself seconds later: within another's tally. */
export async function noteRowsRead(db: Db): Promise<void> {
  const note = () => sql`select pg_stat_force_next_flush(), pg_sleep(0.05)`.execute(db);
  await Promise.all(Array.from({ length: CONNECTIONS }, note));
}

async function tally(connection: Db, table: string): Promise<RowsRead> {
  // The first has the database note what this connection has done, the next one's end is when it does.
  await sql`select pg_stat_force_next_flush()`.execute(connection);
  const { rows } = await sql<RowsRead>`
    select seq_scan::integer as scans, idx_tup_fetch::integer as rows
    from pg_stat_user_tables where relname = ${table}`.execute(connection);
  return rows[0] ?? { scans: Number.NaN, rows: Number.NaN };
}
