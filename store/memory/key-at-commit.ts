import { sql } from "kysely";
import type { KeyRecord } from "../../domain/access/key-record.ts";
import type { Tx } from "../database/change.ts";
import { preparedStatement } from "../database/impatient-client.ts";
import type { Store } from "../database/store.ts";
import { RECORD_COLUMNS, type RecordRow, recordOfRow } from "../keys/key-records.ts";

/** How long a transaction may stand still between the last look at its key and its COMMIT: well within a lease. */
const IDLE_LIMIT = "2s";

/**
 * One version of a key as it is to this statement, and what time it is; undefined where there is none. For whoever is
 * about to commit what the key was presented for: a transaction that then stands still is ended by the database, so
 * that its row cannot come long after the key has ended.
 */
export async function findKeyAtCommit(
  { engine }: Pick<Store, "engine">,
  tx: Tx,
  keyId: string,
  version: number,
): Promise<{ readonly key: KeyRecord; readonly now: number } | undefined> {
  const limit = sql`, set_config('idle_in_transaction_session_timeout', ${IDLE_LIMIT}, true)`;
  const { rows } = await sql<RecordRow & { now_ms: number }>`${preparedStatement} select ${sql.raw(RECORD_COLUMNS)},
      (extract(epoch from clock_timestamp()) * 1000)::float8 as now_ms ${engine === "postgres" ? limit : sql``}
    from key_records where key_id = ${keyId} and version = ${version}`.execute(tx);
  const [row] = rows;
  return row && { key: recordOfRow(row), now: row.now_ms };
}
