import { sql } from "kysely";
import type { VersionState } from "../../../domain/access/key-record.ts";
import type { StoredVersion } from "../../../domain/key/stored/stored-key.ts";
import { MAX_RETIRING, succeededBy } from "../../../domain/key/stored/version-slots.ts";
import { type Author, appendAudit } from "../../audit/audit.ts";
import type { Tx } from "../../database/change.ts";
import { KeyRevokedError, TooManyVersionsError, UnknownKeyError, VersionEndedError } from "../../database/errors.ts";
import { DATABASE_NOW, databaseTimeIn } from "../../database/times.ts";

const LIVING: readonly VersionState[] = ["reserved", "active", "retiring"];

/** Slots of old versions. A unique index lets only one version have each slot. */
const SLOTS = Array.from({ length: MAX_RETIRING }, (_, i) => i + 1);

/** Locks the key's row, so that two writers of one key run one after the other. */
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
 * Records that workloads may read a reserved version from now on, because its Secret is about to be written. No server
 * decides by this mark, so it does not go through the change feed.
 *
 * @returns true if the mark was not set before
 * @throws VersionEndedError
 */
export async function markMayBeRead(tx: Tx, keyId: string, number: number): Promise<boolean> {
  const { rows } = await sql<{ before: boolean }>`
    update key_versions v set may_be_read = true
    from (select may_be_read from key_versions where key_id = ${keyId} and number = ${number}) old
    where v.key_id = ${keyId} and v.number = ${number} and v.state = 'reserved'
    returning old.may_be_read as before`.execute(tx);
  const [row] = rows;
  if (row === undefined) throw new VersionEndedError(`key ${keyId}: version ${number} is not a reserved one`);
  return !row.before;
}

/**
 * Takes back the mark of {@link markMayBeRead}: the cluster refused the first write of the Secret, or stored something
 * else.
 */
export async function unmarkMayBeRead(tx: Tx, keyId: string, number: number): Promise<void> {
  await tx
    .updateTable("key_versions")
    .set({ may_be_read: false })
    .where("key_id", "=", keyId)
    .where("number", "=", number)
    .where("state", "=", "reserved")
    .execute();
}

/** Reservation that another reservation replaces. */
export type SupersededVersion = {
  readonly number: number;
  /** Milliseconds for which the version keeps working; 0 or less voids it. */
  readonly overlapMs: number;
};

/**
 * Ends a reservation, or begins its overlap. The caller has locked the key's row. It is no error if the version is no
 * longer reserved.
 *
 * @throws TooManyVersionsError if it would be one old version too many
 */
export async function supersedeReservation(
  tx: Tx,
  { id, teamId }: { readonly id: string; readonly teamId: string },
  { number, overlapMs }: SupersededVersion,
): Promise<void> {
  if (overlapMs <= 0) return voidReservation(tx, id, number);
  const { versions } = await livingVersions(tx, id, teamId);
  const superseded = versions.filter((version) => version.number === number && version.state === "reserved");
  await beginOverlap(tx, id, superseded, versions, overlapMs);
}

async function voidReservation(tx: Tx, keyId: string, number: number): Promise<void> {
  await tx
    .updateTable("key_versions")
    .set({ state: "voided" })
    .where("key_id", "=", keyId)
    .where("number", "=", number)
    .where("state", "=", "reserved")
    .execute();
}

/**
 * Makes a published version the active version. The versions that it succeeds retire with a deadline: the active
 * version, and each reserved version that may have been read. Voids every other reserved version, and fulfils a
 * rotation that was requested before this version was minted. Activating an active version again is no error. A version
 * that is ended here before its deadline loses the deadline.
 *
 * @returns numbers of the old versions that it ends, at their deadline or before it
 * @throws TooManyVersionsError if it succeeds more versions than there are slots for old versions
 * @throws VersionEndedError, KeyRevokedError, UnknownKeyError
 */
export async function activateVersion(
  tx: Tx,
  activation: {
    readonly keyId: string;
    readonly number: number;
    /** Milliseconds for which the succeeded versions keep working; 0 or less ends all earlier versions at once. */
    readonly overlapMs: number;
    /** True to end the succeeded versions at once, while versions that already retire go on to their deadlines. */
    readonly replacesUnseen?: boolean | undefined;
    readonly by?: Author;
  },
): Promise<number[]> {
  const { keyId, number, overlapMs, replacesUnseen = false, by } = activation;
  const key = await lockLivingKey(tx, keyId);
  const { versions, over } = await livingVersions(tx, keyId, key.team_id);
  const own = versions.find((version) => version.number === number);
  if (own?.state === "active") return over;
  if (own?.state !== "reserved") throw new VersionEndedError(`key ${keyId}: version ${number} is not a reserved one`);

  const predecessor = versions.find(({ state }) => state === "active");
  const succeeded = succeededBy(number, versions);
  const overlaps = overlapMs > 0 && !replacesUnseen;
  const ended = overlapMs <= 0 && !replacesUnseen ? versions.filter(({ state }) => state === "retiring") : [];
  if (!overlaps) ended.push(...succeeded);
  const voided = versions.filter((version) => version.state === "reserved" && !version.mayBeRead && version !== own);
  await endVersions(tx, keyId, ended, { state: "retired", retire_at: null });
  await endVersions(tx, keyId, voided, { state: "voided" });
  const retireOldAt = overlaps ? await beginOverlap(tx, keyId, succeeded, versions, overlapMs) : null;
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

type LivingVersion = Pick<StoredVersion, "number" | "state" | "mayBeRead"> & { readonly slot: number | null };

/**
 * Reads the living versions of a key, oldest first, after it has retired those whose time is over. The caller has
 * locked the key's row.
 *
 * @returns `over`: the numbers of the versions that were retired
 */
async function livingVersions(
  tx: Tx,
  keyId: string,
  teamId: string,
): Promise<{ versions: LivingVersion[]; over: number[] }> {
  const rows = await tx
    .selectFrom("key_versions")
    .select(["number", "state", "may_be_read", "retiring_slot"])
    .where("key_id", "=", keyId)
    .where("state", "in", LIVING)
    .orderBy("number")
    .execute();
  // A new key has none, and is spared the statement.
  const over = rows.some(({ state }) => state === "retiring") ? await retireDue(tx, keyId, teamId) : [];
  const versions = rows.map(({ number, state, may_be_read: mayBeRead, retiring_slot: slot }) => ({
    ...{ number, state: state as VersionState, mayBeRead, slot },
  }));
  return { versions: versions.filter(({ number }) => !over.includes(number)), over };
}

/**
 * Begins the overlap of old versions, each in a slot of its own.
 *
 * @param living all living versions of the key
 * @returns end of the overlap; null if `old` is empty
 * @throws TooManyVersionsError if there are too few free slots
 */
async function beginOverlap(
  tx: Tx,
  keyId: string,
  old: readonly LivingVersion[],
  living: readonly LivingVersion[],
  overlapMs: number,
): Promise<Date | null> {
  if (old.length === 0) return null;
  const free = SLOTS.filter((one) => !living.some(({ state, slot }) => state === "retiring" && slot === one));
  if (free.length < old.length) {
    throw new TooManyVersionsError(`key ${keyId}: at most ${MAX_RETIRING} old versions go on beside the active one`);
  }
  const { rows } = await sql<{ retire_at: Date }>`
    update key_versions v set state = 'retiring', retire_at = ${databaseTimeIn(overlapMs)}, retiring_slot = old.slot
    from unnest(${old.map(({ number }) => number)}::integer[], ${free.slice(0, old.length)}::smallint[]) old (number, slot)
    where v.key_id = ${keyId} and v.number = old.number
    returning v.retire_at`.execute(tx);
  return rows[0]?.retire_at ?? null;
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
 * Marks retiring versions as retired once their deadline or their own end has passed. Servers already refuse them: this
 * is bookkeeping.
 *
 * @returns numbers of those versions
 */
export async function retireVersions(tx: Tx, keyId: string): Promise<number[]> {
  const key = await lockKeyRow(tx, keyId);
  return retireDue(tx, keyId, key?.team_id ?? null);
}

/** Retires the versions whose time is over. The caller has locked the key's row. */
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

/**
 * Ends a retiring version before its deadline.
 *
 * @param leakedBy who reported its secret as leaked; undefined if its successor has been adopted (spec §5, overlap
 *   Adoption)
 */
export async function endRetiring(tx: Tx, keyId: string, number: number, leakedBy?: Author): Promise<void> {
  const key = await lockKeyRow(tx, keyId);
  const retired = await tx
    .updateTable("key_versions")
    .set({ state: "retired", retire_at: DATABASE_NOW })
    .where("key_id", "=", keyId)
    .where("number", "=", number)
    .where("state", "=", "retiring")
    .returning("number")
    .execute();
  await auditRetired(tx, keyId, key?.team_id ?? null, retired, leakedBy);
}

function lockKeyRow(tx: Tx, keyId: string): Promise<{ team_id: string } | undefined> {
  return tx.selectFrom("keys").select("team_id").where("id", "=", keyId).forUpdate().executeTakeFirst();
}

async function auditRetired(
  tx: Tx,
  keyId: string,
  teamId: string | null,
  retired: readonly { number: number }[],
  leakedBy?: Author,
): Promise<void> {
  await appendAudit(
    tx,
    retired.map(({ number }) => ({
      ...{ at: null, kind: "key.retired", keyId, teamId, by: leakedBy },
      detail: { version: number, ...(leakedBy && { reason: "Leaked" }) },
    })),
  );
}
