import { sql } from "kysely";
import { type AuditedFields, changedFields } from "../../../domain/audited-fields.ts";
import type { ApiManagedKeySpec } from "../../../domain/key/declaration/api-managed-key.ts";
import type { KeyPolicy } from "../../../domain/key/declaration/key-policy.ts";
import type { KeptEnd } from "../../../domain/key/stored/version-end.ts";
import { rfc3339Millis } from "../../../domain/rfc3339.ts";
import { type Author, appendAudit } from "../../audit/audit.ts";
import type { Db, Tx } from "../../database/change.ts";
import { StaleDeclarationError } from "../../database/errors.ts";
import { policyColumns, rowsOfKeys, saveKeyLibraries } from "../rows/key-policy.ts";
import { ENDED_VERSION_STATES } from "../rows/key-records.ts";
import { type LoadedKey, loadKeysById } from "../rows/key-rows.ts";

/** New policy of a key, as its declaration says. */
export type PolicyUpdate = {
  readonly keyId: string;
  readonly policy: KeyPolicy;
  readonly generation: number;
  /** Milliseconds from the mint of a version until it ends; null if versions never end. */
  readonly expiresAfter: number | null;
  /** Ends of versions that differ from `expiresAfter`. */
  readonly keptEnds?: readonly KeptEnd[];
  /** Specification of a key that the management API made. */
  readonly spec?: ApiManagedKeySpec;
  /** Name of the tool that manages the key. It stays as it is if this is left out. */
  readonly managedBy?: string | null | undefined;
  readonly by?: Author;
};

/** Updates one key as {@link updateKeyPolicies} does. */
export async function updateKeyPolicy(tx: Tx, update: PolicyUpdate): Promise<void> {
  await updateKeyPolicies(tx, [update]);
}

/**
 * Applies the policies of declarations, each to its own key. Leaves revoked keys as they are.
 *
 * @throws StaleDeclarationError if a later generation of one of them has been applied
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
    throw new StaleDeclarationError(`key ${key.id}`, { generation: update.generation, applied: key.generation });
  }
  if (due.length === 0) return;
  const rows = due.map(({ update, key }) => ({
    id: key.id,
    ...policyColumns(update.policy),
    generation: update.generation,
    spec: update.spec ?? key.spec,
    managed_by: update.managedBy === undefined ? key.managedBy : update.managedBy,
  }));
  const { columns, given } = rowsOfKeys(rows);
  await sql`update keys set ${sql.join(columns.map((name) => sql`${sql.ref(name)} = given.${sql.ref(name)}`))}
    from ${given} where keys.id = given.id`.execute(tx);
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

/** Returns the fields that the audit log records of a key: policy, versions with their ends, and manager. */
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
