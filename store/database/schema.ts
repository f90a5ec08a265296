import type { ColumnType, Generated, JSONColumnType } from "kysely";
import type { OperationKind, RouteRecord } from "../../domain/access/key-record.ts";
import type { Budget } from "../../domain/budget/budget.ts";
import type { ApiManagedKeySpec } from "../../domain/key/declaration/api-managed-key.ts";
import type { Spec } from "../../domain/kinds/kinds.ts";
import type { Labels } from "../../domain/manifest/document/labels.ts";
import type { TokenFigures } from "../../domain/usage/token-count.ts";

/**
 * Tables as Kysely sees them; `migrations/` creates them. Both drivers return `timestamptz` as Date, `bigint` as number
 * and `bytea` as Uint8Array. States are plain text here: a newer build may have written a state that this build does
 * not know, and it must reach the decision, which refuses it.
 */
export type Database = {
  teams: TeamsTable;
  team_namespaces: { cluster: string; namespace: string; team_id: string };
  team_members: { team_id: string; role: string; kind: string; value: string };
  revoked_subjects: { team_id: string; subject: string; revoked_at: Generated<Date> };
  team_webhooks: TeamWebhooksTable;
  webhook_deliveries: WebhookDeliveriesTable;
  key_notices: { key_id: string; kind: string; mark: number };
  libraries: LibrariesTable;
  gateways: GatewaysTable;
  gateway_upstreams: GatewayUpstreamsTable;
  kept_objects: KeptObjectsTable;
  keys: KeysTable;
  key_libraries: { key_id: string; library_id: string };
  key_versions: KeyVersionsTable;
  key_usage: KeyUsageTable;
  key_leaks: KeyLeaksTable;
  key_requests: { key_id: string; slot: Date; scope: string; count: number };
  key_tokens: KeyTokensTable;
  key_declarations: KeyDeclarationsTable;
  key_policies: { cluster: string; uid: string; name: string; spec: unknown };
  key_secrets: { key_id: string; resource_version: string; number: number; content: string; marks: string[] };
  feed: { head: number; audit_head: Generated<number> };
  audit_feed: { seq: number; event_id: number; mark: Generated<number> };
  audit_outputs: { name: string; seq: Generated<number>; holder: string; held_until: Generated<Date> };
  changes: ChangesTable;
  encryption_key: { fingerprint: string; since: Generated<Date> };
  replicas: ReplicasTable;
  usage_lost: { until: Date | null };
  networks_known: { since: Generated<Date> };
  /** `seen` has the last day of each network, such as `2026-11-25`. */
  key_networks: { key_id: string; seen: JSONColumnType<Record<string, string>>; oldest: Date };
  libraries_known: { since: Generated<Date> };
  /** `seen` has the last day of each library by its id, such as `2026-11-25`. */
  key_libraries_used: { key_id: string; seen: JSONColumnType<Record<string, string>>; oldest: Date };
  leaders: { cluster: string; epoch: number; term: Generated<string> };
  cluster_names: { cluster: string; name: string };
  audit_events: AuditEventsTable;
  idempotency_keys: IdempotencyKeysTable;
  repeatable_saves: RepeatableSavesTable;
  sessions: SessionsTable;
  sign_in_links: { digest: Uint8Array; expires_at: Date } & MadeIn;
  logout_tokens: { issuer: string; jti: string; expires_at: Date };
  schema_migrations: { version: number; name: string; applied_at: Generated<Date> };
};

type KeyTokensTable = TokenFigures & {
  key_id: string;
  slot: Date;
  gateway_id: string;
  route_id: string;
  model: string;
  team_id: string;
};

type TeamsTable = {
  id: string;
  cluster: string;
  name: string;
  owner_uid: string | null;
  display_name: string;
  state: string;
  default_library_namespace: string | null;
  default_library_name: string | null;
  generation: number;
  created_at: Generated<Date>;
  leak_action: Generated<string>;
  allowed_cidrs: Generated<string[] | null>;
  limits: Generated<unknown>;
  shared_budgets: Generated<unknown>;
  labels: Generated<unknown>;
  conditions: Generated<unknown>;
};

type TeamWebhooksTable = {
  id: string;
  team_id: string;
  url: string;
  events: string[];
  /** Encrypted by the keyring and bound to the id. */
  secret: Uint8Array | null;
};

type WebhookDeliveriesTable = {
  id: string;
  webhook_id: string;
  team_id: string;
  url: string;
  event: string;
  key_id: string | null;
  at: Generated<Date>;
  data: ColumnType<Record<string, unknown>, string, string>;
  state: Generated<string>;
  tries: Generated<number>;
  due_at: ColumnType<Date | null, Date | undefined, Date | null>;
  claim: string | null;
  tried_at: Date | null;
  status: number | null;
  error: string | null;
};

type LibrariesTable = {
  id: string;
  cluster: string;
  namespace: string;
  name: string;
  team_id: string;
  owner_uid: string | null;
  display_name: string;
  description: string;
  deletion_policy: string;
  state: string;
  /** Number of atoms that were deleted since the library's deletion began. */
  deleted_atoms: Generated<number>;
  created_at: Generated<Date>;
  /** Library that a part belongs to; `subject` is the subject whose atoms it holds, or null once it is erased. */
  parent_id: Generated<string | null>;
  subject: Generated<string | null>;
  conditions: Generated<unknown>;
};

type GatewaysTable = {
  id: string;
  cluster: string;
  namespace: string;
  name: string;
  owner_uid: string | null;
  team_id: string;
  public_id: string;
  routes_only: boolean;
  routes: JSONColumnType<RouteRecord[]>;
  state: string;
  created_at: Generated<Date>;
  conditions: Generated<unknown>;
  operations: OperationKind[];
};

type GatewayUpstreamsTable = {
  gateway_id: string;
  name: string;
  position: number;
  dialect: string;
  base_url: string;
  /** Encrypted by the keyring and bound to the gateway's id. */
  credential: Uint8Array | null;
  credential_at: Date | null;
  /** False for an upstream that is declared without a credential. */
  takes_credential: boolean;
};

type KeptObjectsTable = {
  digest: Uint8Array;
  origin: string;
  team_id: string | null;
  parent: Uint8Array | null;
  ends_at: Date | null;
  charged_at: Date | null;
};

type KeysTable = {
  id: string;
  cluster: string;
  namespace: string;
  name: string;
  owner_uid: string | null;
  team_id: string;
  source: string;
  state: string;
  display_name: string;
  scopes: string[];
  gateway_bound: boolean;
  gateway_id: string | null;
  library_mode: string;
  mcp_default_library_id: string | null;
  allowed_models: string[] | null;
  expires_at: Date | null;
  requests_per_minute: number | null;
  burst: number | null;
  rate_scope: string | null;
  concurrent: number | null;
  tokens_per_minute: Generated<number | null>;
  budgets: readonly Budget[] | null;
  allowed_cidrs: Generated<string[] | null>;
  /** Subject that the key is bound to; `*` if each call has to name a subject. */
  subject: Generated<string | null>;
  /** Texts by the names of their fields. */
  facts: Generated<Readonly<Record<string, string>>>;
  generation: number;
  rotation_requested_at: Date | null;
  rotation_revoke_old: Generated<boolean>;
  revocation_reason: string | null;
  revoked_at: Date | null;
  revoked_seq: number | null;
  created_at: Generated<Date>;
  spec: ColumnType<ApiManagedKeySpec | null, string | undefined, string | null>;
  managed_by: string | null;
};

type KeyDeclarationsTable = {
  key_id: string;
  owner_uid: string;
  generation: number;
  spec: ColumnType<Spec<"PlatformKey"> | null, string | null, string | null>;
  labels: ColumnType<Labels, string | undefined, string>;
  conditions: Generated<unknown>;
};

type KeyVersionsTable = {
  key_id: string;
  number: number;
  digest: Uint8Array;
  prefix: string;
  state: string;
  /** `minted`, `imported`, or `taken-over`: minted and shown to a person, before a declaration took the key over. */
  source_kind: string;
  minted_at: Date;
  activated_at: Date | null;
  retire_at: Date | null;
  retiring_slot: number | null;
  /** True if its Secret may have been written, which is the default. */
  may_be_read: Generated<boolean>;
  expires_at: Date | null;
  rotation_trigger: string | null;
  heals: string | null;
  heals_at: Date | null;
  /** Actor, as the audit log names it, that made the version by hand and so may have its secret. */
  made_by: string | null;
  /** Transaction that last changed the state: by it a change-feed reader finds the versions that have just ended. */
  changed_tx: Generated<string>;
};

type KeyUsageTable = {
  key_id: string;
  version: number;
  last_used_at: Date;
  last_address: string | null;
  last_user_agent: string | null;
};

type KeyLeaksTable = {
  key_id: string;
  version: number;
  reporter: string;
  first_reported_at: Date;
  last_reported_at: Date;
};

type ChangesTable = {
  seq: number;
  id: Generated<string>;
  tx: string;
  kind: string;
  ref: string;
};

type ReplicasTable = {
  id: string;
  acked_seq: number;
  registered_at: Generated<Date>;
  seen_at: Generated<Date>;
  usage_flushed_at: Date | null;
  /** Fingerprints of the encryption keys that the replica has; null if it does not say. */
  encryption_keys: string[] | null;
  bootstrap_beside_issuer: Generated<boolean>;
  lease_ms: Generated<number>;
  own_time: Date | null;
};

type IdempotencyKeysTable = {
  caller: string;
  key: Uint8Array;
  request: Uint8Array;
  object_id: string | null;
  made_at: Generated<Date>;
};

type RepeatableSavesTable = {
  caller: string;
  key: Uint8Array;
  request: Uint8Array;
  library_id: string;
  atom_ids: Generated<(string | null)[]>;
  beside: Generated<Record<string, unknown>>;
  made_at: Generated<Date>;
};

/** Database that a row was made in. A restored one is another. */
type MadeIn = { made_in: Generated<number>; incarnation: Generated<string> };

type SessionsTable = MadeIn & {
  digest: Uint8Array;
  issuer: string | null;
  subject: string | null;
  groups: string[];
  sid: string | null;
  display_name: string;
  created_at: Generated<Date>;
  /** Time at which the issuer last confirmed the person and the groups. */
  claims_at: Generated<Date>;
  expires_at: Date;
};

type AuditEventsTable = {
  id: Generated<number>;
  at: Date;
  kind: string;
  key_id: string | null;
  team_id: string | null;
  actor: string;
  detail: ColumnType<Record<string, unknown>, string, never>;
};
