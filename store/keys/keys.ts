/** Longer than most files: every question to the `keys` table, and every transition of a key as a whole. */
import { type RawBuilder, sql } from "kysely";
import { type AuditedFields, changedFields } from "../../domain/audited-fields.ts";
import type { ApiManagedKeySpec } from "../../domain/key/declaration/api-managed-key.ts";
import type { KeyPolicy, RevocationReason } from "../../domain/key/stored/stored-key.ts";
import type { KeptEnd } from "../../domain/key/stored/version-end.ts";
import { rfc3339Millis } from "../../domain/rfc3339.ts";
import { type Author, appendAudit } from "../audit/audit.ts";
import type { Db, Tx } from "../database/change.ts";
import { toDigest } from "../database/digest.ts";
import { StaleDeclarationError } from "../database/errors.ts";
import { DATABASE_NOW } from "../database/times.ts";
import { policyColumns, saveKeyLibraries } from "./key-policy.ts";
import { ENDED_VERSION_STATES } from "./key-records.ts";
import { type LoadedKey, loadKeysById } from "./key-rows.ts";

/**
 * Which key a declaration owns: the one that lives, else the newest revoked one. One that was revoked because its
 * namespace moved is history, and hides none that was revoked for good.
 */
export function ownedBy(cluster: string, ownerUid: string): RawBuilder<unknown> {
  return sql`where k.cluster = ${cluster} and k.owner_uid = ${ownerUid}
    order by (k.state = 'revoked'), (k.revocation_reason = 'Moved'), k.created_at desc limit 1`;
}

/** The key of this id. */
export async function findKey(db: Db, keyId: string): Promise<LoadedKey | undefined> {
  const [key] = await loadKeysById(db, [keyId]);
  return key;
}

/** The key that a secret belongs to, be it by a version that ended long ago: a secret is one key's for ever. */
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

/** The names of the declared keys of a cluster that live, by namespace. */
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

/** What one key may do from now on, as its declaration says. */
export type PolicyUpdate = {
  readonly keyId: string;
  readonly policy: KeyPolicy;
  readonly generation: number;
  /** When a version ends, in milliseconds from its mint; null for never. */
  readonly expiresAfter: number | null;
  /** Ends of versions that are others than that. */
  readonly keptEnds?: readonly KeptEnd[];
  /** Of a key that the management API made. */
  readonly spec?: ApiManagedKeySpec;
  /** What manages it, which stays as it is where this is left out. */
  readonly managedBy?: string | null | undefined;
  readonly by?: Author;
};

/** As {@link updateKeyPolicies}, of one key. */
export async function updateKeyPolicy(tx: Tx, update: PolicyUpdate): Promise<void> {
  await updateKeyPolicies(tx, [update]);
}

/**
 * Applies the policies of declarations, each of another key. Changes nothing of a revoked key.
 *
 * @throws StaleDeclarationError when a later generation of one of them has been applied
 */
export async function updateKeyPolicies(tx: Tx, updates: readonly PolicyUpdate[]): Promise<void> {
  if (updates.length === 0) return;
  const ids = updates.map(({ keyId }) => keyId);
  await sql`select from keys where id = any(${ids}::text[]) order by id for update`.execute(tx);
  const before = await findKeys(tx, ids);
  const due = updates.flatMap((update) => {
    const key = before.get(update.keyId);
    return key === undefined || key.state === "revoked" ? [] : [{ update, key }];
  });
  const stale = due.find(({ update, key }) => update.generation < key.generation);
  if (stale !== undefined) {
    const { update, key } = stale;
    throw new StaleDeclarationError(
      `key ${key.id}: generation ${update.generation} of its declaration is older than ${key.generation}, which was applied`,
    );
  }
  if (due.length === 0) return;
  const rows = due.map(({ update, key }) => ({
    id: key.id,
    ...policyColumns(update.policy),
    // The rows are one JSON text: a text within it would be stored as a text.
    budgets: update.policy.budgets,
    generation: update.generation,
    spec: update.spec ?? key.spec,
    managed_by: update.managedBy === undefined ? key.managedBy : update.managedBy,
  }));
  const columns = Object.keys(rows[0] ?? {}).filter((name) => name !== "id");
  await sql`update keys set ${sql.join(columns.map((name) => sql`${sql.ref(name)} = given.${sql.ref(name)}`))}
    from jsonb_populate_recordset(null::keys, ${JSON.stringify(rows)}::jsonb) given
    where keys.id = given.id`.execute(tx);
  await saveKeyLibraries(
    tx,
    due.map(({ key, update }) => ({ keyId: key.id, libraryIds: update.policy.libraryIds })),
  );
  await sql`update key_versions set expires_at = minted_at + given.lifetime
    from (select id, ms * interval '1 millisecond' as lifetime from unnest(
      ${due.map(({ key }) => key.id)}::text[], ${due.map(({ update }) => update.expiresAfter)}::float8[]) as listed (id, ms)
    ) given
    where key_id = given.id and state <> all(${ENDED_VERSION_STATES}::text[])
      and expires_at is distinct from minted_at + given.lifetime`.execute(tx);
  await saveKeptEnds(
    tx,
    due.flatMap(({ key, update: { keptEnds = [] } }) => keptEnds.map((end) => ({ keyId: key.id, ...end }))),
  );
  const after = await findKeys(tx, ids);
  await appendAudit(
    tx,
    due.map(({ update: { generation, by }, key }) => {
      const { id: keyId, namespace, name, teamId } = key;
      const changed = changedFields(auditedKey(key), auditedKey(after.get(keyId)));
      return {
        at: null,
        kind: "key.policy_updated",
        keyId,
        teamId,
        by,
        detail: { namespace, name, generation, changed },
      };
    }),
  );
}

async function saveKeptEnds(tx: Tx, ends: readonly (KeptEnd & { readonly keyId: string })[]): Promise<void> {
  if (ends.length === 0) return;
  await sql`update key_versions set expires_at = to_timestamp(given.ms / 1000)
    from (select * from unnest(${ends.map(({ keyId }) => keyId)}::text[], ${ends.map((end) => end.number)}::int[],
      ${ends.map(({ expiresAt }) => expiresAt)}::float8[]) as listed (id, number, ms)) given
    where key_id = given.id and key_versions.number = given.number
      and state <> all(${ENDED_VERSION_STATES}::text[])`.execute(tx);
}

async function findKeys(db: Db, ids: readonly string[]): Promise<ReadonlyMap<string, LoadedKey>> {
  const keys = await loadKeysById(db, ids);
  return new Map(keys.map((key) => [key.id, key]));
}

/** What the audit log says of what a key may do, and for how long. */
function auditedKey(key: LoadedKey | undefined): AuditedFields | undefined {
  if (key === undefined) return undefined;
  const { expiresAt, ...policy } = key.policy;
  const ends = key.versions
    .filter(({ state }) => !ENDED_VERSION_STATES.some((ended) => ended === state))
    .map((version) => ({ version: version.number, expiresAt: isoTime(version.expiresAt) }));
  return { ...policy, expiresAt: isoTime(expiresAt), versions: ends, managedBy: key.managedBy };
}

function isoTime(at: number | null): string | null {
  return at === null ? null : rfc3339Millis(at);
}

/**
 * Revokes keys and all their versions, for ever. Repeated, the first reason and time stand.
 *
 * @param by for the audit log
 */
export async function revokeKeys(
  tx: Tx,
  revocations: readonly { readonly keyId: string; readonly reason: RevocationReason }[],
  by?: Author,
): Promise<void> {
  if (revocations.length === 0) return;
  const ids = revocations.map(({ keyId }) => keyId);
  const { rows: revoked } = await sql<{ id: string; team_id: string; reason: RevocationReason }>`
    update keys set state = 'revoked', revocation_reason = given.reason, revoked_at = clock_timestamp()
    from unnest(${ids}::text[], ${revocations.map(({ reason }) => reason)}::text[]) as given (id, reason)
    where keys.id = given.id and keys.state <> 'revoked'
    returning keys.id, keys.team_id, given.reason`.execute(tx);
  await sql`update key_versions set state = 'revoked'
    where key_id = any(${ids}::text[]) and state <> all(${ENDED_VERSION_STATES}::text[])`.execute(tx);
  await appendAudit(
    tx,
    revoked.map(({ id: keyId, team_id: teamId, reason }) => ({
      ...{ at: null, kind: "key.revoked", keyId, teamId, by, detail: { reason } },
    })),
  );
}

/** As {@link revokeKeys}, of one key. */
export async function revokeKey(tx: Tx, keyId: string, reason: RevocationReason, by?: Author): Promise<void> {
  await revokeKeys(tx, [{ keyId, reason }], by);
}

/**
 * Lets go of a key whose declaration is deleted with `deletionPolicy: Retain`: it works on, and nothing owns it. Of its
 * reserved versions those are voided that no Secret can have held.
 */
export async function releaseKey(tx: Tx, keyId: string): Promise<void> {
  const released = await tx
    .updateTable("keys")
    .set({ owner_uid: null })
    .where("id", "=", keyId)
    .where("owner_uid", "is not", null)
    .where("state", "<>", "revoked")
    .returning("team_id")
    .executeTakeFirst();
  if (released === undefined) return;
  await tx
    .updateTable("key_versions")
    .set({ state: "voided" })
    .where("key_id", "=", keyId)
    .where("state", "=", "reserved")
    .where("may_be_read", "=", false)
    .execute();
  await appendAudit(tx, [{ at: null, kind: "key.released", keyId, teamId: released.team_id, detail: {} }]);
}

/**
 * Asks for a new version by hand, that is for one that comes after all there are. The activation of one that was minted
 * later fulfils it. Of several requests the latest time stands, and that one of them wants the old version to end: they
 * may come at once.
 *
 * @param revokeOld whether the present version shall end at that moment, with no overlap
 */
export async function requestRotation(tx: Tx, keyId: string, revokeOld: boolean, by?: Author): Promise<void> {
  await sql`select from keys where id = ${keyId} for update`.execute(tx);
  const asked = await tx
    .updateTable("keys")
    .set({
      rotation_requested_at: sql`greatest(rotation_requested_at, ${DATABASE_NOW},
        (select max(minted_at) + interval '1 millisecond' from key_versions where key_id = ${keyId}))`,
      rotation_revoke_old: sql`rotation_revoke_old or ${revokeOld}::boolean`,
    })
    .where("id", "=", keyId)
    .where("state", "<>", "revoked")
    .returning("team_id")
    .executeTakeFirst();
  if (asked === undefined) return;
  await appendAudit(tx, [
    { at: null, kind: "key.rotation_requested", keyId, teamId: asked.team_id, by, detail: { revokeOld } },
  ]);
}
