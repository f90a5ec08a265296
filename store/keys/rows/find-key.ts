import { type RawBuilder, sql } from "kysely";
import type { Db } from "../../database/change.ts";
import { toDigest } from "../../database/digest.ts";
import { type LoadedKey, loadKeysById } from "./key-rows.ts";

/**
 * Selects the key that a declaration owns: the living key, else the newest revoked key. A key that was revoked because
 * its namespace moved counts as history, and never hides a key that was revoked for another reason.
 */
export function ownedBy(cluster: string, ownerUid: string): RawBuilder<unknown> {
  return sql`where k.cluster = ${cluster} and k.owner_uid = ${ownerUid}
    order by (k.state = 'revoked'), (k.revocation_reason = 'Moved'), k.created_at desc limit 1`;
}

/** Finds the key with this id. */
export async function findKey(db: Db, keyId: string): Promise<LoadedKey | undefined> {
  const [key] = await loadKeysById(db, [keyId]);
  return key;
}

/** Finds the key of a secret, even if the secret's version ended long ago: a secret belongs to one key for ever. */
export async function findKeyOfDigest(
  db: Db,
  digest: string,
): Promise<{ cluster: string; namespace: string; name: string; ownerUid: string | null; state: string } | undefined> {
  return db
    .selectFrom("key_versions")
    .innerJoin("keys", "keys.id", "key_versions.key_id")
    .select(["keys.cluster", "keys.namespace", "keys.name", "keys.owner_uid as ownerUid", "keys.state"])
    .where("key_versions.digest", "=", toDigest(digest))
    .executeTakeFirst();
}

/** Lists the names of a cluster's living declared keys, by namespace. */
export async function livingKeysByNamespace(
  db: Db,
  cluster: string,
): Promise<{ readonly namespace: string; readonly names: readonly string[] }[]> {
  const { rows } = await sql<{ namespace: string; names: string[] }>`
    select namespace, array_agg(name order by name) as names from keys
    where cluster = ${cluster} and owner_uid is not null and state <> 'revoked'
    group by namespace order by namespace`.execute(db);
  return rows;
}
