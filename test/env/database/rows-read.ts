import { type Kysely, sql } from "kysely";
import type { Database } from "../../../store/database/schema.ts";

type Db = Kysely<Database>;
type Tally = { readonly scans: number; readonly rows: number };

/** Times that a question is asked before a scan is believed. */
const TRIES = 3;

/**
 * Counts how often a question that changes nothing reads one of the tables whole, and how many rows of them by an index.
 * The database adds up all connections, and others report what they did up to ten seconds later: a scan is the
 * question's if it is there each time.
 */
export async function rowsRead(
  db: Db,
  tables: readonly string[],
  question: (db: Db) => Promise<unknown>,
): Promise<Tally> {
  return db.connection().execute(async (connection) => {
    for (let tries = 1; ; tries++) {
      const before = await tally(connection, tables);
      await question(connection);
      const after = await tally(connection, tables);
      const read = { scans: after.scans - before.scans, rows: after.rows - before.rows };
      if (read.scans === 0 || tries === TRIES) return read;
    }
  });
}

async function tally(connection: Db, tables: readonly string[]): Promise<Tally> {
  // The first has the database note what this connection has done, the next one's end is when it does.
  await sql`select pg_stat_force_next_flush()`.execute(connection);
  const { rows } = await sql<Tally>`
    select sum(seq_scan)::integer as scans, sum(idx_tup_fetch)::integer as rows
    from pg_stat_user_tables where relname = any(${tables}::text[])`.execute(connection);
  return rows[0] ?? { scans: Number.NaN, rows: Number.NaN };
}

/** Rows of the table of atoms and entries of its indexes that this session has read so far. */
export async function atomEntriesRead(connection: Db): Promise<number> {
  await sql`select pg_stat_force_next_flush()`.execute(connection);
  const { rows } = await sql<{ n: number }>`
    select (t.seq_tup_read + (select sum(i.idx_tup_read) from pg_stat_user_indexes i where i.relname = 'atoms'))::integer as n
    from pg_stat_user_tables t where t.relname = 'atoms'`.execute(connection);
  return rows[0]?.n ?? Number.NaN;
}
