import { sql } from "kysely";
import type { Db } from "./change.ts";
import { DISK_FULL, sqlState } from "./errors.ts";

/** True if the database's disk has space to write two megabytes, to a table that is dropped with its transaction. */
export async function hasDiskSpace(db: Db): Promise<boolean> {
  try {
    await db.transaction().execute(async (tx) => {
      await sql`create temporary table room (filler text) on commit drop`.execute(tx);
      await sql`insert into room select md5(n::text) from generate_series(1, 30000) as n`.execute(tx);
    });
    return true;
  } catch (error) {
    if (sqlState(error) === DISK_FULL) return false;
    throw error;
  }
}
