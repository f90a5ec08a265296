import { sql } from "kysely";
import type { KeyRecord } from "../../../domain/access/key-record.ts";
import type { Db } from "../../database/change.ts";
import { RECORD_COLUMNS, type RecordRow, recordOfRow } from "./key-records.ts";

/**
 * Reads the record by which requests are decided, for the active version of a key or else its last version, and the
 * database's time. undefined if there is no such key, or none of its versions was minted.
 */
export async function findKeyInUse(
  db: Db,
  keyId: string,
): Promise<{ readonly key: KeyRecord; readonly now: number } | undefined> {
  const { rows } = await sql<RecordRow & { now_ms: number }>`
    select ${sql.raw(RECORD_COLUMNS)}, (extract(epoch from clock_timestamp()) * 1000)::float8 as now_ms
    from key_records where key_id = ${keyId}
    order by version_state = 'active' desc, version desc limit 1`.execute(db);
  const [row] = rows;
  return row && { key: recordOfRow(row), now: row.now_ms };
}
