import { sql } from "kysely";
import type { Db } from "../change.ts";
import type { Store } from "../store.ts";

/** Index of a table that may be large by the time the index is made. */
export type LargeIndex = {
  readonly name: string;
  /** SQL that follows `on` in the statement that makes the index. */
  readonly on: string;
  /** Statement that is run once the index is made. */
  readonly afterwards?: string;
  /** Name of an index that serves until this one is made, and is dropped then. */
  readonly replaces?: string;
};

/**
 * Makes an index while others read and write its table. An existing index is left as it is; an index whose creation was
 * interrupted is made anew. Must not be called in a transaction.
 *
 * @returns true if the index was made now
 */
export async function makeLargeIndex(db: Db, engine: Store["engine"], index: LargeIndex): Promise<boolean> {
  const { name, on, afterwards, replaces } = index;
  const { rows } = await sql<{ usable: boolean }>`
    select indisvalid as usable from pg_index where indexrelid = to_regclass(${name})`.execute(db);
  const [found] = rows;
  const isMissing = found?.usable !== true;
  // PGlite has one connection: nothing else reads or writes meanwhile.
  const concurrently = engine === "postgres" ? "concurrently" : "";
  if (isMissing) {
    if (found !== undefined) await sql.raw(`drop index ${concurrently} ${name}`).execute(db);
    await sql.raw(`create index ${concurrently} ${name} on ${on}`).execute(db);
    if (afterwards !== undefined) await sql.raw(afterwards).execute(db);
  }
  if (replaces !== undefined) await sql.raw(`drop index ${concurrently} if exists ${replaces}`).execute(db);
  return isMissing;
}
