import { sql } from "kysely";
import type { Db } from "../database/change.ts";

/** What a replica's row says of its health. */
export type ReplicaHealth = {
  readonly id: string;
  /** Since its last sign of life, by the database's clock, in milliseconds. */
  readonly silentMs: number;
  /** How long it may be without an answer of the database. */
  readonly leaseMs: number;
  /** The fingerprint of the encryption key that is sealed under, where it does not have that; null where it does. */
  readonly lacksKey: string | null;
};

/** Every replica that is registered, the longest silent first. */
export async function replicaHealth(db: Db): Promise<ReplicaHealth[]> {
  const { rows } = await sql<ReplicaHealth>`
    select id, (extract(epoch from clock_timestamp() - seen_at) * 1000)::float8 as "silentMs",
      lease_ms as "leaseMs",
      (select fingerprint from encryption_key where not fingerprint = any(coalesce(encryption_keys, '{}'))) as "lacksKey"
    from replicas order by seen_at, id`.execute(db);
  return rows;
}
