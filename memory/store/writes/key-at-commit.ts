import { sql } from "kysely";
import type { KeyRecord } from "../../../domain/access/key-record.ts";
import { memberRecord } from "../../../domain/access/member-access.ts";
import type { Membership } from "../../../domain/access/membership.ts";
import type { Tx } from "../../../store/database/change.ts";
import { preparedStatement } from "../../../store/database/prepared-statement.ts";
import type { Store } from "../../../store/database/store.ts";
import { RECORD_COLUMNS, type RecordRow, recordOfRow } from "../../../store/keys/rows/key-records.ts";
import { readTeams } from "../../../store/teams/team-records.ts";

/** Longest time that a transaction may idle between the last look at its key and its COMMIT: well within a lease. */
const IDLE_LIMIT = "2s";

/** Returns a column with the time as a statement sees it; from then on PostgreSQL ends a transaction that idles. */
function commitMoment({ engine }: Pick<Store, "engine">) {
  const limit = sql`, set_config('idle_in_transaction_session_timeout', ${IDLE_LIMIT}, true)`;
  return sql`(extract(epoch from clock_timestamp()) * 1000)::float8 as now_ms ${engine === "postgres" ? limit : sql``}`;
}

/**
 * Returns a version of a key, and the time, as this statement sees them; undefined if there is no such version. For a
 * caller that is about to commit what the key was presented for: the database ends a transaction that idles after it,
 * so that no row is committed long after the key has ended.
 */
export async function findKeyAtCommit(
  store: Pick<Store, "engine">,
  tx: Tx,
  keyId: string,
  version: number,
): Promise<{ readonly key: KeyRecord; readonly now: number } | undefined> {
  const { rows } = await sql<RecordRow & { now_ms: number }>`${preparedStatement} select ${sql.raw(RECORD_COLUMNS)},
      ${commitMoment(store)} from key_records where key_id = ${keyId} and version = ${version}`.execute(tx);
  const [row] = rows;
  return row && { key: recordOfRow(row), now: row.now_ms };
}

/**
 * Returns the access of a token's bearer in a team, and the time, likewise; undefined if they are no longer a member of
 * the team.
 */
export async function findMemberAtCommit(
  store: Pick<Store, "engine">,
  tx: Tx,
  { token, team: { teamId } }: Membership,
): Promise<{ readonly key: KeyRecord; readonly now: number } | undefined> {
  const { rows } = await sql<{ now_ms: number }>`select ${commitMoment(store)}`.execute(tx);
  const [team] = await readTeams(tx, [teamId]);
  const key = team && memberRecord(token, team);
  return key && { key, now: rows[0]?.now_ms ?? Number.POSITIVE_INFINITY };
}
