import { type RawBuilder, type Selectable, sql } from "kysely";
import type { KeyState, VersionState } from "../../../domain/access/key-record.ts";
import type { ApiManagedKeySpec } from "../../../domain/key/declaration/api-managed-key.ts";
import type { AppliedParts } from "../../../domain/key/declaration/declared-key.ts";
import { declareDelivery, declareRotation } from "../../../domain/key/fields/declare-key.ts";
import { isTemplate } from "../../../domain/key/secret/secret-template.ts";
import type {
  HealReason,
  KeySource,
  RevocationReason,
  StoredKey,
  StoredVersion,
} from "../../../domain/key/stored/stored-key.ts";
import { MAX_RETIRING } from "../../../domain/key/stored/version-slots.ts";
import type { Spec } from "../../../domain/kinds/kinds.ts";
import type { Labels } from "../../../domain/manifest/document/labels.ts";
import type { Db } from "../../database/change.ts";
import { fromDigest } from "../../database/digest.ts";
import { preparedStatement } from "../../database/prepared-statement.ts";
import type { Database } from "../../database/schema.ts";
import { toMs } from "../../database/times.ts";
import type { KeyDeclaration } from "./key-declarations.ts";
import { POLICY_COLUMNS, toPolicy } from "./key-policy.ts";
import type { KeySecret } from "./key-secrets.ts";

/** Key with its versions, newest first: all living versions, and the last five that were not voided. */
export type LoadedKey = StoredKey & {
  /** Secret of the key as it was last found to be as declared. */
  readonly secretFound: KeySecret | null;
  /** Declaration of the key that was last recorded. Only an applied declaration is recorded. */
  readonly declarationFound: Omit<KeyDeclaration, "spec"> | null;
  /** True if conditions are recorded of the key, be they current or old. */
  readonly hasConditions: boolean;
  /** Parts of the recorded declaration; null if none is recorded, it is not applied, or it cannot be read. */
  readonly applied: AppliedParts | null;
  /** False if the key's team is gone or has lost the namespace; the key is refused then. */
  readonly teamHoldsNamespace: boolean;
  /** Specification of a key that the management API made; null for a declared key. */
  readonly spec: ApiManagedKeySpec | null;
  /** Tool that manages a key of the management API, such as the URN of a Pulumi resource; null for none. */
  readonly managedBy: string | null;
};

/**
 * True if the team of a row `k` of `keys` holds its namespace. A key without a namespace belongs to its team alone, which
 * may be deleted.
 */
export const TEAM_HOLDS_NAMESPACE = sql<boolean>`(case when k.namespace = ''
  then exists (select from teams t where t.id = k.team_id and t.state = 'active')
  else exists (select from team_namespaces n
    where n.cluster = k.cluster and n.namespace = k.namespace and n.team_id = k.team_id) end)`;

/** Number of versions that a key shows at least, however long ago they ended (spec §5). */
const SHOWN_VERSIONS = MAX_RETIRING + 1;

/**
 * Loads keys with their versions in one statement, so that they are consistent.
 *
 * @param which SQL that follows `from keys k`: conditions, order, limit
 */
export async function loadKeys(db: Db, which: RawBuilder<unknown>): Promise<LoadedKey[]> {
  const { rows } = await sql<Row>`with ${keyRows(which)} select * from key_rows order by id, number desc`.execute(db);
  return toKeys(rows);
}

/** Loads the keys with these ids, in no order. Pages use it, and it takes as long to plan as to run: it is prepared. */
export async function loadKeysById(db: Db, ids: readonly string[]): Promise<LoadedKey[]> {
  const [id, ...others] = ids;
  // Of one id: a kept plan for any number of ids looks dearer than one for these, so that each would be planned.
  const which = others.length === 0 ? sql`where k.id = ${id ?? null}` : sql`where k.id = any(${ids}::text[])`;
  const { rows } = await sql<Row>`${preparedStatement} with ${keyRows(which)}
    select ${KEY_ROW_COLUMNS} from key_rows order by id, number desc`.execute(db);
  return toKeys(rows);
}

/**
 * Returns the tables `picked`, with the keys, and `key_rows`, with one row for each of their versions. A key without a
 * version has one row.
 */
export function keyRows(which: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`picked as (select k.* from keys k ${which}), key_rows as (
    select k.*, (select max(number) from key_versions where key_id = k.id) as last_number,
      case when k.library_mode <> 'all' then array(
        select library_id from key_libraries where key_id = k.id order by library_id) end as library_ids,
      ${TEAM_HOLDS_NAMESPACE} as team_holds_namespace,
      v.number, v.digest, v.prefix, v.state as version_state, v.minted_at, v.activated_at, v.retire_at,
      v.expires_at as version_expires_at, v.may_be_read, v.rotation_trigger, v.heals, v.heals_at, v.source_kind, u.last_used_at,
      l.first_reported_at as leaked_at,
      s.resource_version as secret_version, s.number as secret_number, s.content as secret_content,
      s.marks as secret_marks, d.owner_uid as recorded_uid, d.generation as recorded_generation, d.labels as recorded_labels,
      d.conditions is not null as has_conditions,
      case when d.spec is not null then jsonb_strip_nulls(jsonb_build_object('rotation', d.spec -> 'rotation',
        'secret', d.spec -> 'secret', 'restartTargets', d.spec -> 'restartTargets')) end as recorded_parts
    from picked k
    left join lateral (
      select *, row_number() over (order by number desc) as place
      from key_versions where key_id = k.id and state <> 'voided'
    ) v on v.state not in ('retired', 'revoked') or v.place <= ${SHOWN_VERSIONS}
    left join ${oneOf("key_usage", sql`key_id = k.id and version = v.number`)} u on true
    left join ${oneOf("key_leaks", sql`key_id = k.id and version = v.number`)} l on true
    left join ${oneOf("key_secrets", sql`key_id = k.id`)} s on true
    left join ${oneOf("key_declarations", sql`key_id = k.id`)} d on true)`;
}

/**
 * Reads a row by its primary key. The limit makes the database look it up for each key: in a join with a table that has
 * no statistics, as PGlite's tables are for long, every row of that table was read and sorted for a page of 50 keys.
 */
function oneOf(table: string, isIt: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`lateral (select * from ${sql.table(table)} where ${isIt} limit 1)`;
}

/** Converts rows of `key_rows` to keys. The rows of one key stand together, the newest version first. */
export function toKeys(rows: readonly Row[]): LoadedKey[] {
  const keys: LoadedKey[] = [];
  let versions: StoredVersion[] = [];
  for (const row of rows) {
    if (keys.at(-1)?.id !== row.id) {
      versions = [];
      keys.push(toKey(row, versions));
    }
    if (row.number !== null) versions.push(toVersion(row));
  }
  return keys;
}

/** Row of `key_rows`: a key, the columns that the statement adds to it, and one version of the key. */
export type Row = Omit<Selectable<Database["keys"]>, "library_mode"> & {
  library_ids: string[] | null;
  team_holds_namespace: boolean;
  secret_version: string | null;
  secret_number: number | null;
  secret_content: string | null;
  secret_marks: string[] | null;
  recorded_uid: string | null;
  recorded_generation: number | null;
  recorded_labels: Labels | null;
  has_conditions: boolean;
  recorded_parts: Pick<Spec<"PlatformKey">, "rotation" | "secret" | "restartTargets"> | null;
  /** Highest version number; null for a key without a version. */
  last_number: number | null;
} & VersionColumns;

/** Columns of `key_rows`, for a statement that has to name them. */
export const KEY_ROW_COLUMNS: RawBuilder<unknown> = sql.raw(
  `id cluster namespace name owner_uid team_id source ${POLICY_COLUMNS.join(" ")} team_holds_namespace generation
  rotation_requested_at rotation_revoke_old revocation_reason revoked_at revoked_seq created_at spec managed_by secret_version
  secret_number secret_content secret_marks recorded_uid recorded_generation recorded_labels has_conditions recorded_parts last_number number digest prefix version_state minted_at activated_at
  retire_at version_expires_at may_be_read rotation_trigger heals heals_at source_kind last_used_at
  leaked_at`
    .split(/\s+/)
    .map((column) => `key_rows.${column}`)
    .join(", "),
);

/** Columns of a version. All are null, `number` too, for a key without a version. */
type VersionColumns = Omit<
  Selectable<Database["key_versions"]>,
  "key_id" | "state" | "expires_at" | "retiring_slot" | "changed_tx"
> & {
  version_state: string;
  version_expires_at: Date | null;
  last_used_at: Date | null;
  leaked_at: Date | null;
};

/** Converts a row to a key. Casts: values are kept as they are, so that a later build's state is refused, not lost. */
function toKey(row: Row, versions: StoredVersion[]): LoadedKey {
  return {
    id: row.id,
    cluster: row.cluster,
    namespace: row.namespace,
    name: row.name,
    ownerUid: row.owner_uid,
    teamId: row.team_id,
    source: row.source as KeySource,
    state: row.state as KeyState,
    policy: toPolicy(row),
    generation: row.generation,
    createdAt: toMs(row.created_at),
    spec: row.spec,
    managedBy: row.managed_by,
    teamHoldsNamespace: row.team_holds_namespace,
    secretFound:
      row.secret_version === null || row.secret_number === null || row.secret_content === null
        ? null
        : {
            resourceVersion: row.secret_version,
            number: row.secret_number,
            content: row.secret_content,
            marks: row.secret_marks ?? [],
          },
    declarationFound:
      row.recorded_uid === null || row.recorded_generation === null
        ? null
        : { ownerUid: row.recorded_uid, generation: row.recorded_generation, labels: row.recorded_labels ?? {} },
    hasConditions: row.has_conditions,
    applied: appliedParts(row),
    revocation:
      row.revoked_at === null
        ? null
        : {
            reason: row.revocation_reason as RevocationReason,
            at: toMs(row.revoked_at),
            seq: row.revoked_seq,
          },
    rotationRequest:
      row.rotation_requested_at === null
        ? null
        : { at: toMs(row.rotation_requested_at), revokeOld: row.rotation_revoke_old },
    lastNumber: row.last_number ?? 0,
    versions,
  };
}

/**
 * Reads parts of the recorded declaration, if it is applied: earlier builds also recorded declarations that were not
 * applied. A later build may have recorded what this build cannot read, which must not hide the key.
 */
function appliedParts({ name, recorded_parts, recorded_generation, generation }: Row): AppliedParts | null {
  const isApplied = recorded_generation !== null && recorded_generation <= generation;
  if (!isApplied || recorded_parts === null) return null;
  try {
    const parts = { ...declareRotation(recorded_parts.rotation), ...declareDelivery(name, recorded_parts) };
    return parts.secret.template === null || isTemplate(parts.secret.template) ? parts : null;
  } catch {
    return null;
  }
}

function toVersion(row: VersionColumns): StoredVersion {
  return {
    number: row.number,
    digest: fromDigest(row.digest),
    prefix: row.prefix,
    state: row.version_state as VersionState,
    mayBeRead: row.may_be_read,
    mintedAt: toMs(row.minted_at),
    activatedAt: toMs(row.activated_at),
    retireAt: toMs(row.retire_at),
    expiresAt: toMs(row.version_expires_at),
    imported: row.source_kind !== "minted",
    rotationTrigger: row.rotation_trigger,
    heals:
      row.heals === null || row.heals_at === null ? null : { reason: row.heals as HealReason, at: toMs(row.heals_at) },
    lastUsedAt: toMs(row.last_used_at),
    leakedAt: toMs(row.leaked_at),
  };
}
