import { sql } from "kysely";
import type { Db } from "../database/change.ts";

/** How much longer than its lease a replica has been silent that is taken to serve no more. Milliseconds. */
const SILENCE_MS = 5_000;

/** Of a row of `replicas`: whether it may serve. By the database's clock: only for what a person looks at or asks for. */
export const MAY_SERVE = sql<boolean>`seen_at > clock_timestamp()
  - make_interval(secs => (lease_ms + ${sql.lit(SILENCE_MS)}) / 1000.0)`;

/** What a replica's row says of its health. */
export type ReplicaHealth = {
  readonly id: string;
  /** Since its last sign of life, by the database's clock, in milliseconds. */
  readonly silentMs: number;
  readonly mayServe: boolean;
  /** How many changes of the feed it has not acknowledged. */
  readonly behind: number;
  /** The fingerprint of the encryption key that is sealed under, where it does not have that; null where it does. */
  readonly lacksKey: string | null;
  /** How far its clock is ahead of the database's, in milliseconds; null where it has not said. */
  readonly clockAheadMs: number | null;
};

/** Every replica that is registered, the longest silent first. */
export async function replicaHealth(db: Db): Promise<ReplicaHealth[]> {
  const { rows } = await sql<ReplicaHealth>`
    select id, (extract(epoch from clock_timestamp() - seen_at) * 1000)::float8 as "silentMs",
      ${MAY_SERVE} as "mayServe", greatest((select head from feed) - acked_seq, 0)::integer as behind,
      (select fingerprint from encryption_key where not fingerprint = any(coalesce(encryption_keys, '{}'))) as "lacksKey",
      (extract(epoch from own_time - seen_at) * 1000)::float8 as "clockAheadMs"
    from replicas order by seen_at, id`.execute(db);
  return rows;
}
