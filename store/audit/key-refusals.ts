import { sql } from "kysely";
import type { Db } from "../database/change.ts";

/** Refusals of requests with a key, for one cause. */
export type KeyRefusals = {
  readonly cause: string;
  readonly count: number;
  /** Time of the last of them that has a row, in milliseconds since the epoch. */
  readonly lastAt: number;
  /** Milliseconds since the epoch at which a token limit admits the last refused request; null for other causes. */
  readonly until: number | null;
};

/** Number of a key's latest events that are read, so that no key's history makes its page slow. */
const LOOKED_THROUGH = 1_000;

/**
 * Reads the refused requests with a key in the audit log since a moment, by cause, the most frequent first. Under a
 * flood the log is a sample: there were at least as many.
 *
 * @param since milliseconds since the epoch
 */
export async function readKeyRefusals(db: Db, keyId: string, since: number): Promise<KeyRefusals[]> {
  const { rows } = await sql<KeyRefusals>`
    select detail->>'reason' as cause, sum(coalesce((detail->>'count')::bigint, 1))::float8 as count,
      (extract(epoch from max(at)) * 1000)::float8 as "lastAt",
      (extract(epoch from max((detail->>'until')::timestamptz)) * 1000)::float8 as until
    from (select kind, at, detail from audit_events where key_id = ${keyId} order by id desc limit ${LOOKED_THROUGH}) latest
    where kind = 'request.refused' and at >= ${new Date(since)} and detail->>'reason' is not null
    group by 1 order by count desc, cause`.execute(db);
  return rows;
}
