import { sql } from "kysely";
import type { Tx } from "./database/change.ts";
import { toDigest } from "./database/digest.ts";

/** Creation that a client may repeat. Digests are SHA-256, 32 latin1 characters. */
export type Creation = {
  /** Caller that sent the idempotency key: the keys of different callers are independent. */
  readonly caller: string;
  /** Digest of the idempotency key. */
  readonly key: string;
  /** Digest of what the request asks for. */
  readonly request: string;
};

/** Time for which a repetition is recognised. */
const KEPT = sql`interval '24 hours'`;
/** Number of old records that each creation deletes: more than it adds, so that none pile up. */
const FORGOTTEN_AT_ONCE = 10;

/**
 * Begins a creation, or finds that it was made before. If two have the same key at once, the second waits for the
 * first.
 *
 * @returns undefined if the object is to be made now: {@link endCreation} follows in the same transaction; without an
 * object's id if it was made before and has been deleted
 */
export async function beginCreation(
  tx: Tx,
  { caller, key, request }: Creation,
): Promise<{ objectId: string | undefined; isSameRequest: boolean } | undefined> {
  const begun = await sql`insert into idempotency_keys (caller, key, request)
    values (${caller}, ${toDigest(key)}, ${toDigest(request)})
    on conflict (caller, key) do update set request = excluded.request, object_id = null, made_at = excluded.made_at
    where idempotency_keys.made_at < clock_timestamp() - ${KEPT} returning 1`.execute(tx);
  if (begun.rows.length > 0) return undefined;
  const made = await tx
    .selectFrom("idempotency_keys")
    .select(["object_id", "request"])
    .where("caller", "=", caller)
    .where("key", "=", toDigest(key))
    .executeTakeFirstOrThrow();
  return { objectId: made.object_id ?? undefined, isSameRequest: toDigest(request).equals(made.request) };
}

/** True if a creation with this caller and key is recorded, whatever it asked for. */
export async function isCreationKnown(tx: Tx, { caller, key }: Pick<Creation, "caller" | "key">): Promise<boolean> {
  const known = await tx
    .selectFrom("idempotency_keys")
    .select("key")
    .where("caller", "=", caller)
    .where("key", "=", toDigest(key))
    .executeTakeFirst();
  return known !== undefined;
}

/** Records the object that a creation has made, and deletes some old records. */
export async function endCreation(tx: Tx, { caller, key }: Creation, objectId: string): Promise<void> {
  await tx
    .updateTable("idempotency_keys")
    .set({ object_id: objectId })
    .where("caller", "=", caller)
    .where("key", "=", toDigest(key))
    .execute();
  await sql`delete from idempotency_keys where (caller, key) in (
    select caller, key from idempotency_keys where made_at < clock_timestamp() - ${KEPT}
    limit ${FORGOTTEN_AT_ONCE} for update skip locked)`.execute(tx);
}

/**
 * Records that an object is deleted: no repetition of its creations finds another that is made again by its name, and so
 * has its id.
 */
export async function spendCreations(tx: Tx, objectId: string): Promise<void> {
  await sql`update idempotency_keys set object_id = null
    where object_id = ${objectId} and made_at >= clock_timestamp() - ${KEPT}`.execute(tx);
}
