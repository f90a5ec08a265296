import { sql } from "kysely";
import type { Db } from "./change.ts";

/** The database's clock, in milliseconds since the epoch: what is decided goes by it. */
export async function databaseNow(db: Db): Promise<{ readonly now: number }> {
  const { rows } = await sql<{
    now: number;
  }>`select floor(extract(epoch from clock_timestamp()) * 1000)::float8 as now`.execute(db);
  const [first] = rows;
  if (first === undefined) throw new Error("the database returned no row where there is always one");
  return first;
}
