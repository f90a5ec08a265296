import { sql } from "kysely";
import { MAX_RETIRING } from "../../domain/key/version-room.ts";
import { type Author, appendAudit } from "../audit.ts";
import type { Tx } from "../database/change.ts";
import { KeyRevokedError, NoRoomError, UnknownKeyError, VersionEndedError } from "../database/errors.ts";
import { DATABASE_NOW, databaseTimeIn } from "../database/times.ts";

/** The places of old versions: a unique index has each taken once. */
const SLOTS = Array.from({ length: MAX_RETIRING }, (_, i) => i + 1);

/** Locks the key's row, so that two writers of one key go one after the other. */
export async function lockLivingKey(
  tx: Tx,
  keyId: string,
): Promise<{ team_id: string; generation: number; rotation_requested_at: Date | null }> {
  const key = await tx
    .selectFrom("keys")
    .select(["state", "team_id", "generation", "rotation_requested_at"])
    .where("id", "=", keyId)
    .forUpdate()
    .executeTakeFirst();
  if (key === undefined) throw new UnknownKeyError(`there is no key ${keyId}`);
  if (key.state === "revoked") throw new KeyRevokedError(`key ${keyId} is revoked, which is final`);
  return key;
}

/**
 * Makes a published version the active one; the one it succeeds retires with a deadline. Voids every other reserved
 * version, and fulfils a rotation that was asked for before this one was minted. An active one again is no error. A
 * version that ends here before its deadline ends by somebody's decision: it has no deadline any longer.
 *
 * @returns the numbers of the old versions that it ends, at their deadline or before it
 * @throws NoRoomError where the one it succeeds would be one old version too many
 * @throws VersionEndedError, KeyRevokedError, UnknownKeyError
 */
export async function activateVersion(
  tx: Tx,
  activation: {
    readonly keyId: string;
    readonly number: number;
    /** How long the version that it succeeds goes on, in milliseconds; without, all earlier versions end at once. */
    readonly overlapMs: number;
    /** The one that it succeeds ends at once, and versions that retire already go on to their deadlines. */
    readonly replacesUnseen?: boolean | undefined;
    readonly by?: Author;
  },
): Promise<number[]> {
  const { keyId, number, overlapMs, replacesUnseen = false, by } = activation;
  const key = await lockLivingKey(tx, keyId);
  const living = await tx
    .selectFrom("key_versions")
    .select(["number", "state", "retiring_slot"])
    .where("key_id", "=", keyId)
    .where("state", "in", ["reserved", "active", "retiring"])
    .orderBy("number")
    .execute();
  // A new key has none, and is spared the statement.
  const over = living.some(({ state }) => state === "retiring") ? await retireDue(tx, keyId, key.team_id) : [];
  const versions = living.filter(({ number }) => !over.includes(number));
  const own = versions.find((version) => version.number === number);
  if (own?.state === "active") return over;
  if (own?.state !== "reserved") throw new VersionEndedError(`key ${keyId}: version ${number} is not a reserved one`);

  const predecessor = versions.find(({ state }) => state === "active");
  const retiring = versions.filter(({ state }) => state === "retiring");
  const overlap = predecessor !== undefined && overlapMs > 0 && !replacesUnseen;
  const slot = SLOTS.find((one) => !retiring.some(({ retiring_slot }) => retiring_slot === one));
  if (overlap && slot === undefined) {
    throw new NoRoomError(`key ${keyId}: ${MAX_RETIRING} old versions go on beside version ${predecessor.number}`);
  }
  const ended = overlapMs <= 0 && !replacesUnseen ? retiring : [];
  if (predecessor !== undefined && !overlap) ended.push(predecessor);
  const voided = versions.filter((version) => version.state === "reserved" && version !== own);
  await endVersions(tx, keyId, ended, { state: "retired", retire_at: null });
  await endVersions(tx, keyId, voided, { state: "voided" });
  let retireOldAt: Date | null = null;
  if (overlap) {
    const succeeded = await tx
      .updateTable("key_versions")
      .set({ state: "retiring", retire_at: databaseTimeIn(overlapMs), retiring_slot: slot ?? null })
      .where("key_id", "=", keyId)
      .where("number", "=", predecessor.number)
      .returning("retire_at")
      .executeTakeFirst();
    retireOldAt = succeeded?.retire_at ?? null;
  }
  await tx
    .updateTable("key_versions")
    .set({ state: "active", activated_at: DATABASE_NOW })
    .where("key_id", "=", keyId)
    .where("number", "=", number)
    .execute();
  if (key.rotation_requested_at !== null) {
    await sql`update keys set rotation_requested_at = null, rotation_revoke_old = false
      where id = ${keyId} and rotation_requested_at <= (
        select minted_at from key_versions where key_id = ${keyId} and number = ${number})`.execute(tx);
  }
  await appendAudit(tx, [
    {
      at: null,
      kind: "key.activated",
      keyId,
      teamId: key.team_id,
      by,
      detail: { version: number, succeeds: predecessor?.number ?? null, retireOldAt },
    },
  ]);
  return [...over, ...ended.map((version) => version.number)];
}

async function endVersions(
  tx: Tx,
  keyId: string,
  versions: readonly { number: number }[],
  end: { readonly state: "retired"; readonly retire_at: null } | { readonly state: "voided" },
): Promise<void> {
  if (versions.length === 0) return;
  const numbers = versions.map(({ number }) => number);
  await tx.updateTable("key_versions").set(end).where("key_id", "=", keyId).where("number", "in", numbers).execute();
}

/**
 * Book-keeping: a retiring version past its deadline, or its own end, which no server accepts any longer, is retired.
 *
 * @returns the numbers of those versions
 */
export async function retireVersions(tx: Tx, keyId: string): Promise<number[]> {
  const key = await lockKeyRow(tx, keyId);
  return retireDue(tx, keyId, key?.team_id ?? null);
}

/** Of a key whose row is locked. */
async function retireDue(tx: Tx, keyId: string, teamId: string | null): Promise<number[]> {
  const retired = await tx
    .updateTable("key_versions")
    .set({ state: "retired", retire_at: sql`least(retire_at, expires_at)` })
    .where("key_id", "=", keyId)
    .where("state", "=", "retiring")
    .where(sql<boolean>`least(retire_at, expires_at) <= ${DATABASE_NOW}`)
    .returning("number")
    .execute();
  await auditRetired(tx, keyId, teamId, retired);
  return retired.map(({ number }) => number);
}

/** Ends a retiring version before its deadline: its successor has been adopted (spec §5, overlap Adoption). */
export async function endRetiring(tx: Tx, keyId: string, number: number): Promise<void> {
  const key = await lockKeyRow(tx, keyId);
  const retired = await tx
    .updateTable("key_versions")
    .set({ state: "retired", retire_at: DATABASE_NOW })
    .where("key_id", "=", keyId)
    .where("number", "=", number)
    .where("state", "=", "retiring")
    .returning("number")
    .execute();
  await auditRetired(tx, keyId, key?.team_id ?? null, retired);
}

function lockKeyRow(tx: Tx, keyId: string): Promise<{ team_id: string } | undefined> {
  return tx.selectFrom("keys").select("team_id").where("id", "=", keyId).forUpdate().executeTakeFirst();
}

async function auditRetired(
  tx: Tx,
  keyId: string,
  teamId: string | null,
  retired: readonly { number: number }[],
): Promise<void> {
  await appendAudit(
    tx,
    retired.map(({ number }) => ({ at: null, kind: "key.retired", keyId, teamId, detail: { version: number } })),
  );
}
