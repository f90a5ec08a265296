import { sql } from "kysely";
import { changedFields } from "../../../domain/audited-fields.ts";
import type { ApiManagedKeySpec } from "../../../domain/key/declaration/api-managed-key.ts";
import type { KeyPolicy } from "../../../domain/key/declaration/key-policy.ts";
import type { KeyIdentity, KeySource, StoredVersion } from "../../../domain/key/stored/stored-key.ts";
import { type Author, appendAudit } from "../../audit/audit.ts";
import type { Tx } from "../../database/change.ts";
import { toDigest } from "../../database/digest.ts";
import {
  DigestTakenError,
  OwnerTakenError,
  PrefixTakenError,
  StaleDeclarationError,
  VersionEndedError,
  VersionTakenError,
  violatedConstraint,
} from "../../database/errors.ts";
import { DATABASE_NOW, databaseTimeIn, toDate } from "../../database/times.ts";
import { policyColumns, rowsOfKeys, saveKeyLibraries } from "../rows/key-policy.ts";
import { ENDED_VERSION_STATES } from "../rows/key-records.ts";
import { isPrefixTaken } from "./key-prefixes.ts";
import { lockLivingKey, type SupersededVersion, supersedeReservation } from "./key-versions.ts";

const ENDED: ReadonlySet<string> = new Set(ENDED_VERSION_STATES);

export type Reservation = {
  readonly key: KeyIdentity & {
    readonly source: KeySource;
    readonly generation: number;
    /** Specification of a key that the management API makes. */
    readonly spec?: ApiManagedKeySpec | null;
    readonly managedBy?: string | null;
  };
  /** Policy of the key, stored with its first reservation. Later reservations leave the stored policy as it is. */
  readonly policy: KeyPolicy;
  readonly number: number;
  /** SHA-256 of the full key, 32 latin1 characters. */
  readonly digest: string;
  readonly prefix: string;
  /** Milliseconds from the mint until the version ends; null if it never ends. */
  readonly expiresAfter: number | null;
  readonly rotationTrigger: string | null;
  /** Fault of the Secret that this version repairs: it was lost or edited. Left out for any other reason. */
  readonly heals?: StoredVersion["heals"];
  /** Reservation that this one replaces. */
  readonly supersedes?: SupersededVersion | null;
  /** True if the secret was not minted here. Default: true for the first version of a key with an imported source. */
  readonly imported?: boolean;
  readonly by?: Author;
};

/**
 * Reserves a version for a secret that is about to be published, and inserts the key row if it is the first version
 * (architecture §2). The version is minted at the database's present time. Repeating the same reservation is no error,
 * so that a lost reply makes no second version (threats c3).
 *
 * @throws VersionTakenError if the number belongs to another secret
 * @throws DigestTakenError if the secret belongs to another version or key
 * @throws PrefixTakenError if an imported secret's prefix identifies another key
 * @throws OwnerTakenError if the declaration owns another living key
 * @throws VersionEndedError if the version was reserved before and has ended since
 * @throws TooManyVersionsError if the replaced reservation would be one old version too many
 * @throws KeyRevokedError, StaleDeclarationError
 */
export async function reserveVersion(tx: Tx, reservation: Reservation): Promise<void> {
  const { key, number } = reservation;
  const digest = toDigest(reservation.digest);
  const isNew = await insertKey(tx, reservation);
  if (isNew) {
    const { libraryIds } = reservation.policy;
    if (libraryIds !== null) await saveKeyLibraries(tx, [{ keyId: key.id, libraryIds }]);
  } else {
    await lockForReservation(tx, reservation);
    if (await isReserved(tx, key.id, number, digest)) return;
  }
  if (reservation.supersedes != null) await supersedeReservation(tx, key, reservation.supersedes);
  const imported = reservation.imported ?? (key.source !== "Generate" && number === 1);
  const { prefix } = reservation;
  if (imported && (await isPrefixTaken(tx, { ...reservation, source: key.source, keyId: key.id }))) {
    throw new PrefixTakenError(`key ${key.id}: the prefix ${prefix} identifies another key`);
  }
  // Not before the request that it fulfils: it would be asked for again.
  const mintedAt = sql<Date>`greatest(${DATABASE_NOW}, (select rotation_requested_at from keys where id = ${key.id}))`;
  try {
    await tx
      .insertInto("key_versions")
      .values({
        key_id: key.id,
        number,
        digest,
        prefix,
        state: "reserved",
        may_be_read: false,
        source_kind: imported ? "imported" : "minted",
        minted_at: mintedAt,
        expires_at: databaseTimeIn(reservation.expiresAfter, mintedAt),
        rotation_trigger: reservation.rotationTrigger,
        heals: reservation.heals?.reason ?? null,
        heals_at: toDate(reservation.heals?.at ?? null),
        made_by: reservation.by?.actor ?? null,
        activated_at: null,
        retire_at: null,
        retiring_slot: null,
      })
      .execute();
  } catch (error) {
    if (violatedConstraint(error) !== "key_versions_digest") throw error;
    throw new DigestTakenError(`key ${key.id}: the secret of version ${number} already belongs to another version`);
  }
  const audited = { ...reservation.policy, ...(key.managedBy != null && { managedBy: key.managedBy }) };
  await appendAudit(tx, [
    {
      at: null,
      kind: "key.reserved",
      keyId: key.id,
      teamId: key.teamId,
      by: reservation.by,
      detail: {
        ...{ version: number, prefix, source: key.source, namespace: key.namespace, name: key.name },
        ...(isNew ? { changed: changedFields(undefined, audited) } : {}),
      },
    },
  ]);
}

/**
 * True if this same reservation was made before.
 *
 * @throws VersionTakenError, VersionEndedError
 */
async function isReserved(tx: Tx, keyId: string, number: number, digest: Buffer): Promise<boolean> {
  const taken = await tx
    .selectFrom("key_versions")
    .select(["digest", "state"])
    .where("key_id", "=", keyId)
    .where("number", "=", number)
    .executeTakeFirst();
  if (taken === undefined) return false;
  if (!digest.equals(taken.digest)) {
    throw new VersionTakenError(`key ${keyId}: version ${number} belongs to another secret`);
  }
  if (ENDED.has(taken.state)) throw new VersionEndedError(`key ${keyId}: version ${number} is ${taken.state}`);
  return true;
}

/** Inserts the key row. Returns true if it was not there before. */
async function insertKey(tx: Tx, { key, policy }: Reservation): Promise<boolean> {
  const row = {
    id: key.id,
    cluster: key.cluster,
    namespace: key.namespace,
    name: key.name,
    owner_uid: key.ownerUid,
    team_id: key.teamId,
    source: key.source,
    generation: key.generation,
    ...policyColumns(policy),
    managed_by: key.managedBy ?? null,
    spec: key.spec ?? null,
  };
  const { columns, given } = rowsOfKeys([row]);
  try {
    const { rows } = await sql`insert into keys (${sql.join(columns.map((name) => sql.ref(name)))})
      select ${sql.join(columns.map((name) => sql.ref(name)))} from ${given}
      on conflict (id) do nothing returning id`.execute(tx);
    return rows.length > 0;
  } catch (error) {
    if (violatedConstraint(error) !== "keys_owner") throw error;
    throw new OwnerTakenError(`${key.namespace}/${key.name}: its declaration already owns a key; read it again`);
  }
}

async function lockForReservation(tx: Tx, { key }: Reservation): Promise<void> {
  const stored = await lockLivingKey(tx, key.id);
  if (key.generation < stored.generation) {
    throw new StaleDeclarationError(`key ${key.id}`, { generation: key.generation, applied: stored.generation });
  }
}
