import { sql } from "kysely";
import type { Db } from "../database/change.ts";

/** Milliseconds of silence beyond its lease after which a replica counts as serving no more. */
const SILENCE_MS = 5_000;

/**
 * SQL condition that a replica may serve, on a row of `replicas`. It uses the database's clock, so only for what a
 * person looks at or asks for.
 */
export const MAY_SERVE = sql<boolean>`seen_at > clock_timestamp()
  - make_interval(secs => (lease_ms + ${sql.lit(SILENCE_MS)}) / 1000.0)`;

/** Health of a replica by its row. */
export type ReplicaHealth = {
  readonly id: string;
  /** Milliseconds since its last sign of life, by the database's clock. */
  readonly silentMs: number;
  readonly mayServe: boolean;
  /** Lease, in milliseconds. */
  readonly leaseMs: number;
  /** Number of the feed's changes that it has not acknowledged. */
  readonly behind: number;
  /** Fingerprint of the current encryption key, if the replica does not have that key; null if it has. */
  readonly lacksKey: string | null;
  /** Milliseconds by which its clock is ahead of the database's; null if it has not reported its time. */
  readonly clockAheadMs: number | null;
};

/** Reads the health of every registered replica, the longest silent first. */
export async function replicaHealth(db: Db): Promise<ReplicaHealth[]> {
  const { rows } = await sql<ReplicaHealth>`
    select id, (extract(epoch from clock_timestamp() - seen_at) * 1000)::float8 as "silentMs",
      ${MAY_SERVE} as "mayServe", lease_ms as "leaseMs", greatest((select head from feed) - acked_seq, 0)::integer as behind,
      (select fingerprint from encryption_key where not fingerprint = any(coalesce(encryption_keys, '{}'))) as "lacksKey",
      (extract(epoch from own_time - seen_at) * 1000)::float8 as "clockAheadMs"
    from replicas order by seen_at, id`.execute(db);
  return rows;
}
