-- The schema as the catalogue of a new embedded database has it, after all migrations in store/migrations/.
-- Written by `vitest run test/store/database/schema.test.ts -u`.

create table atom_embeddings (
  atom_id uuid not null,
  library_id text not null,
  space integer not null,
  revision integer not null,
  signature bit varying not null,
  embedding vector not null,
  constraint atom_embeddings_atom_id_fkey FOREIGN KEY (atom_id) REFERENCES atoms(id) ON DELETE CASCADE,
  constraint atom_embeddings_pkey PRIMARY KEY (library_id, atom_id)
);
create table atom_passages (
  library_id text not null,
  atom_id uuid not null,
  passage integer not null,
  space integer not null,
  revision integer not null,
  signature bit varying not null,
  embedding vector not null,
  constraint atom_passages_library_id_atom_id_fkey FOREIGN KEY (library_id, atom_id) REFERENCES atom_embeddings(library_id, atom_id) ON DELETE CASCADE,
  constraint atom_passages_pkey PRIMARY KEY (library_id, atom_id, passage)
);
create table atom_revisions (
  atom_id uuid not null,
  revision integer not null,
  content text not null,
  tags text[] not null,
  source text,
  importance double precision not null,
  updated_at timestamp(3) with time zone not null,
  metadata jsonb default '{}'::jsonb not null,
  links jsonb default '[]'::jsonb not null,
  expires_at timestamp(3) with time zone,
  valid_from timestamp(3) with time zone,
  valid_to timestamp(3) with time zone,
  constraint atom_revisions_pkey PRIMARY KEY (atom_id, revision)
);
create table atoms (
  id uuid default new_atom_id() not null,
  library_id text not null,
  team_id text not null,
  content text not null,
  tags text[] not null,
  source text,
  importance double precision not null,
  created_at timestamp(3) with time zone not null,
  updated_at timestamp(3) with time zone not null,
  revision integer default 1 not null,
  search tsvector generated always as to_tsvector('english'::regconfig, content) stored not null,
  metadata jsonb default '{}'::jsonb not null,
  links jsonb default '[]'::jsonb not null,
  expires_at timestamp(3) with time zone,
  sketch bigint[] default '{}'::bigint[] not null,
  valid_from timestamp(3) with time zone,
  valid_to timestamp(3) with time zone,
  constraint atoms_library_id_fkey FOREIGN KEY (library_id) REFERENCES libraries(id) ON DELETE CASCADE,
  constraint atoms_pkey PRIMARY KEY (id)
) with (toast_tuple_target=4080);
create table audit_events (
  id bigint generated always as identity not null,
  at timestamp with time zone not null,
  kind text not null,
  key_id text,
  team_id text,
  actor text not null,
  detail jsonb not null,
  constraint audit_events_pkey PRIMARY KEY (id)
);
create table audit_feed (
  seq bigint not null,
  event_id bigint not null,
  mark integer default (floor((random() * (2147483647)::double precision)))::integer not null,
  constraint audit_feed_pkey PRIMARY KEY (seq)
);
create table audit_outputs (
  name text not null,
  seq bigint default 0 not null,
  holder text default ''::text not null,
  held_until timestamp with time zone default '-infinity'::timestamp with time zone not null,
  constraint audit_outputs_pkey PRIMARY KEY (name)
);
create table budget_ledger (
  budget text not null,
  period text not null,
  holder text not null,
  turn bigint not null,
  spent bigint not null,
  held bigint not null,
  ends_at timestamp with time zone,
  written_at timestamp with time zone not null,
  constraint budget_ledger_pkey PRIMARY KEY (budget, period, holder)
);
create table budget_notices (
  budget text not null,
  period text not null,
  most bigint not null,
  percent integer not null,
  used bigint not null,
  ends_at timestamp with time zone,
  at timestamp with time zone not null,
  constraint budget_notices_pkey PRIMARY KEY (budget, period, most, percent)
);
create table changes (
  seq bigint not null,
  id uuid default gen_random_uuid() not null,
  tx uuid not null,
  kind text not null,
  ref text not null,
  constraint changes_pkey PRIMARY KEY (seq),
  constraint changes_tx_kind_ref_key UNIQUE (tx, kind, ref)
);
create table cluster_names (
  cluster text not null,
  name text not null,
  constraint cluster_names_pkey PRIMARY KEY (cluster)
);
create table embedding_queue (
  atom_id uuid not null,
  library_id text not null,
  revision integer not null,
  tries integer default 0 not null,
  due_at timestamp with time zone default clock_timestamp() not null,
  refusal text,
  constraint embedding_queue_atom_id_fkey FOREIGN KEY (atom_id) REFERENCES atoms(id) ON DELETE CASCADE,
  constraint embedding_queue_pkey PRIMARY KEY (atom_id)
);
create table encryption_key (
  fingerprint text not null,
  since timestamp with time zone default clock_timestamp() not null,
  only_one boolean default true not null,
  constraint encryption_key_only_one_check CHECK (only_one),
  constraint encryption_key_only_one_key UNIQUE (only_one)
);
create table extraction_jobs (
  id uuid default gen_random_uuid() not null,
  library_id text not null,
  stored_in text not null,
  digest bytea not null,
  state text default 'queued'::text not null,
  passages text[] not null,
  calls integer not null,
  done integer default 0 not null,
  tries integer default 0 not null,
  statements jsonb default '[]'::jsonb not null,
  found integer default 0 not null,
  known integer default 0 not null,
  atom_ids uuid[] default '{}'::uuid[] not null,
  failure text,
  created_at timestamp(3) with time zone default clock_timestamp() not null,
  ended_at timestamp(3) with time zone,
  failures integer default 0 not null,
  due_at timestamp with time zone default '-infinity'::timestamp with time zone not null,
  constraint extraction_jobs_library_id_fkey FOREIGN KEY (library_id) REFERENCES libraries(id) ON DELETE CASCADE,
  constraint extraction_jobs_pkey PRIMARY KEY (id),
  constraint extraction_jobs_stored_in_fkey FOREIGN KEY (stored_in) REFERENCES libraries(id) ON DELETE CASCADE
);
create table feed (
  head bigint not null,
  only_one boolean default true not null,
  audit_head bigint default 0 not null,
  constraint feed_only_one_check CHECK (only_one),
  constraint feed_only_one_key UNIQUE (only_one)
);
create table forgotten_atoms (
  id uuid not null,
  library_id text not null,
  team_id text not null,
  content text not null,
  tags text[] not null,
  source text,
  importance double precision not null,
  created_at timestamp(3) with time zone not null,
  updated_at timestamp(3) with time zone not null,
  revision integer not null,
  metadata jsonb not null,
  links jsonb not null,
  expires_at timestamp(3) with time zone,
  valid_from timestamp(3) with time zone,
  valid_to timestamp(3) with time zone,
  sketch bigint[] not null,
  forgotten_at timestamp with time zone default clock_timestamp() not null,
  kept_until timestamp(3) with time zone not null,
  constraint forgotten_atoms_library_id_fkey FOREIGN KEY (library_id) REFERENCES libraries(id) ON DELETE CASCADE,
  constraint forgotten_atoms_pkey PRIMARY KEY (id)
);
create table gateway_upstreams (
  gateway_id text not null,
  name text not null,
  "position" integer not null,
  dialect text not null,
  base_url text not null,
  credential bytea,
  credential_at timestamp with time zone,
  takes_credential boolean default true not null,
  constraint gateway_upstreams_gateway_id_fkey FOREIGN KEY (gateway_id) REFERENCES gateways(id) ON DELETE CASCADE,
  constraint gateway_upstreams_pkey PRIMARY KEY (gateway_id, name)
);
create table gateways (
  id text not null,
  cluster text not null,
  namespace text not null,
  name text not null,
  owner_uid text,
  team_id text not null,
  public_id text not null,
  routes_only boolean not null,
  routes jsonb not null,
  state text not null,
  created_at timestamp with time zone default clock_timestamp() not null,
  conditions jsonb,
  operations text[] default '{generate,embed,models}'::text[] not null,
  constraint gateways_pkey PRIMARY KEY (id),
  constraint gateways_public_id UNIQUE (public_id),
  constraint gateways_team_id_fkey FOREIGN KEY (team_id) REFERENCES teams(id)
);
create table idempotency_keys (
  caller text not null,
  key bytea not null,
  request bytea not null,
  object_id text,
  made_at timestamp with time zone default clock_timestamp() not null,
  constraint idempotency_keys_pkey PRIMARY KEY (caller, key)
);
create table imported_atoms (
  library_id text not null,
  former_id text not null,
  atom_id uuid,
  said bytea,
  revision integer,
  has_open_links boolean default false not null,
  constraint imported_atoms_library_id_fkey FOREIGN KEY (library_id) REFERENCES libraries(id) ON DELETE CASCADE,
  constraint imported_atoms_pkey PRIMARY KEY (library_id, former_id)
);
create table kept_objects (
  digest bytea not null,
  origin text not null,
  team_id text,
  parent bytea,
  ends_at timestamp with time zone,
  charged_at timestamp with time zone,
  constraint kept_objects_digest_check CHECK ((octet_length(digest) = 32)),
  constraint kept_objects_pkey PRIMARY KEY (digest, origin)
);
create table key_declarations (
  key_id text not null,
  owner_uid text not null,
  generation bigint not null,
  spec json,
  labels jsonb default '{}'::jsonb not null,
  conditions jsonb,
  constraint key_declarations_key_id_fkey FOREIGN KEY (key_id) REFERENCES keys(id),
  constraint key_declarations_pkey PRIMARY KEY (key_id)
);
create table key_last_uses (
  key_id text not null,
  team_id text not null,
  used_at timestamp with time zone not null,
  constraint key_last_uses_pkey PRIMARY KEY (key_id)
);
create table key_leaks (
  key_id text not null,
  version integer not null,
  reporter text not null,
  first_reported_at timestamp with time zone not null,
  last_reported_at timestamp with time zone not null,
  constraint key_leaks_key_id_version_fkey FOREIGN KEY (key_id, version) REFERENCES key_versions(key_id, number),
  constraint key_leaks_pkey PRIMARY KEY (key_id, version)
);
create table key_libraries (
  key_id text not null,
  library_id text not null,
  constraint key_libraries_key_id_fkey FOREIGN KEY (key_id) REFERENCES keys(id),
  constraint key_libraries_pkey PRIMARY KEY (key_id, library_id)
);
create table key_libraries_used (
  key_id text not null,
  seen jsonb not null,
  oldest date not null,
  constraint key_libraries_used_pkey PRIMARY KEY (key_id)
) with (fillfactor=70);
create table key_networks (
  key_id text not null,
  seen jsonb not null,
  oldest date not null,
  constraint key_networks_pkey PRIMARY KEY (key_id)
) with (fillfactor=70);
create table key_notices (
  key_id text not null,
  kind text not null,
  mark bigint not null,
  constraint key_notices_key_id_fkey FOREIGN KEY (key_id) REFERENCES keys(id),
  constraint key_notices_pkey PRIMARY KEY (key_id, kind)
);
create table key_policies (
  cluster text not null,
  uid text not null,
  name text not null,
  spec jsonb,
  teams jsonb not null,
  rules jsonb not null,
  selector_since timestamp with time zone not null,
  made_teams jsonb default '{}'::jsonb not null,
  constraint key_policies_pkey PRIMARY KEY (cluster, uid)
);
create table key_request_days (
  key_id text not null,
  slot timestamp with time zone not null,
  scope text not null,
  team_id text not null,
  count bigint not null,
  constraint key_request_days_pkey PRIMARY KEY (key_id, slot, scope)
);
create table key_request_hours (
  key_id text not null,
  slot timestamp with time zone not null,
  scope text not null,
  team_id text not null,
  count bigint not null,
  is_rolled boolean default false not null,
  constraint key_request_hours_pkey PRIMARY KEY (key_id, slot, scope)
);
create table key_requests (
  key_id text not null,
  slot timestamp with time zone not null,
  scope text not null,
  count integer not null,
  is_rolled boolean default false not null,
  constraint key_requests_pkey PRIMARY KEY (key_id, slot, scope)
) with (fillfactor=70);
create table key_secrets (
  key_id text not null,
  resource_version text not null,
  number integer not null,
  content text not null,
  marks text[] default '{}'::text[] not null,
  constraint key_secrets_key_id_fkey FOREIGN KEY (key_id) REFERENCES keys(id),
  constraint key_secrets_pkey PRIMARY KEY (key_id)
);
create table key_token_days (
  key_id text not null,
  slot timestamp with time zone not null,
  gateway_id text not null,
  route_id text not null,
  model text not null,
  team_id text not null,
  calls bigint not null,
  cut bigint not null,
  unreported bigint not null,
  unread bigint not null,
  doubtful bigint not null,
  input bigint not null,
  cached bigint not null,
  cache_write_5m bigint not null,
  cache_write_1h bigint not null,
  output bigint not null,
  reasoning bigint not null,
  tool_calls bigint not null,
  images bigint default 0 not null,
  seconds bigint default 0 not null,
  characters bigint default 0 not null,
  constraint key_token_days_pkey PRIMARY KEY (key_id, slot, gateway_id, route_id, model)
);
create table key_token_hours (
  key_id text not null,
  slot timestamp with time zone not null,
  gateway_id text not null,
  route_id text not null,
  model text not null,
  team_id text not null,
  calls bigint not null,
  cut bigint not null,
  unreported bigint not null,
  unread bigint not null,
  doubtful bigint not null,
  input bigint not null,
  cached bigint not null,
  cache_write_5m bigint not null,
  cache_write_1h bigint not null,
  output bigint not null,
  reasoning bigint not null,
  tool_calls bigint not null,
  is_rolled boolean default false not null,
  images bigint default 0 not null,
  seconds bigint default 0 not null,
  characters bigint default 0 not null,
  constraint key_token_hours_pkey PRIMARY KEY (key_id, slot, gateway_id, route_id, model)
);
create table key_tokens (
  key_id text not null,
  slot timestamp with time zone not null,
  gateway_id text not null,
  route_id text not null,
  model text not null,
  team_id text not null,
  calls bigint not null,
  cut bigint not null,
  unreported bigint not null,
  unread bigint not null,
  doubtful bigint not null,
  input bigint not null,
  cached bigint not null,
  cache_write_5m bigint not null,
  cache_write_1h bigint not null,
  output bigint not null,
  reasoning bigint not null,
  tool_calls bigint not null,
  is_rolled boolean default false not null,
  images bigint default 0 not null,
  seconds bigint default 0 not null,
  characters bigint default 0 not null,
  constraint key_tokens_pkey PRIMARY KEY (key_id, slot, gateway_id, route_id, model)
) with (fillfactor=70);
create table key_usage (
  key_id text not null,
  version integer not null,
  last_used_at timestamp with time zone not null,
  last_address text,
  last_user_agent text,
  constraint key_usage_pkey PRIMARY KEY (key_id, version)
) with (fillfactor=70);
create table key_versions (
  key_id text not null,
  number integer not null,
  digest bytea not null,
  prefix text not null,
  state text not null,
  source_kind text not null,
  minted_at timestamp with time zone not null,
  activated_at timestamp with time zone,
  retire_at timestamp with time zone,
  retiring_slot smallint,
  expires_at timestamp with time zone,
  rotation_trigger text,
  changed_tx uuid default this_transaction() not null,
  heals text,
  heals_at timestamp with time zone,
  made_by text,
  may_be_read boolean default true not null,
  constraint key_versions_digest UNIQUE (digest),
  constraint key_versions_digest_check CHECK ((octet_length(digest) = 32)),
  constraint key_versions_key_id_fkey FOREIGN KEY (key_id) REFERENCES keys(id),
  constraint key_versions_pkey PRIMARY KEY (key_id, number),
  constraint key_versions_retiring CHECK (((state <> 'retiring'::text) OR ((retiring_slot IS NOT NULL) AND ((retiring_slot >= 1) AND (retiring_slot <= 4)) AND (retire_at IS NOT NULL))))
);
create table keys (
  id text not null,
  cluster text not null,
  namespace text not null,
  name text not null,
  owner_uid text,
  team_id text not null,
  source text not null,
  state text not null,
  display_name text not null,
  scopes text[] not null,
  gateway_bound boolean not null,
  gateway_id text,
  library_mode text not null,
  mcp_default_library_id text,
  allowed_models text[],
  expires_at timestamp with time zone,
  requests_per_minute integer,
  burst integer,
  generation bigint not null,
  rotation_requested_at timestamp with time zone,
  rotation_revoke_old boolean default false not null,
  revocation_reason text,
  revoked_at timestamp with time zone,
  revoked_seq bigint,
  created_at timestamp with time zone default clock_timestamp() not null,
  spec jsonb,
  concurrent integer,
  ends_at timestamp with time zone default 'infinity'::timestamp with time zone not null,
  managed_by text,
  subject text,
  allowed_cidrs text[],
  rate_scope text,
  tokens_per_minute integer,
  budgets jsonb,
  facts jsonb default '{}'::jsonb not null,
  constraint keys_check CHECK ((gateway_bound OR (gateway_id IS NULL))),
  constraint keys_check1 CHECK (((requests_per_minute IS NULL) = (burst IS NULL))),
  constraint keys_pkey PRIMARY KEY (id),
  constraint keys_team_id_fkey FOREIGN KEY (team_id) REFERENCES teams(id)
);
create table leaders (
  cluster text not null,
  epoch bigint not null,
  term uuid default gen_random_uuid() not null,
  constraint leaders_cluster EXCLUDE USING hash (cluster WITH =)
);
create table libraries (
  id text not null,
  cluster text not null,
  namespace text not null,
  name text not null,
  team_id text not null,
  owner_uid text,
  display_name text not null,
  description text not null,
  deletion_policy text not null,
  state text not null,
  created_at timestamp with time zone default clock_timestamp() not null,
  deleted_atoms bigint default 0 not null,
  parent_id text,
  subject text,
  conditions jsonb,
  constraint libraries_cluster_namespace_name_team_id_key UNIQUE (cluster, namespace, name, team_id),
  constraint libraries_parent_id_fkey FOREIGN KEY (parent_id) REFERENCES libraries(id),
  constraint libraries_pkey PRIMARY KEY (id),
  constraint libraries_team_id_fkey FOREIGN KEY (team_id) REFERENCES teams(id)
);
create table libraries_known (
  since timestamp with time zone default clock_timestamp() not null,
  only_one boolean default true not null,
  constraint libraries_known_only_one_check CHECK (only_one),
  constraint libraries_known_only_one_key UNIQUE (only_one)
);
create table library_embeddings (
  library_id text not null,
  gateway_id text not null,
  model text not null,
  asked_dimensions integer,
  key_id text not null,
  space integer default 1 not null,
  served_by text,
  dimensions integer,
  walked_at timestamp(3) with time zone default '-infinity'::timestamp with time zone not null,
  walked_id uuid default '00000000-0000-0000-0000-000000000000'::uuid not null,
  is_walked boolean default false not null,
  is_ended boolean default false not null,
  failures integer default 0 not null,
  failure text,
  due_at timestamp with time zone default (clock_timestamp() + '00:00:02'::interval) not null,
  claim uuid,
  walked_subject text,
  constraint library_embeddings_library_id_fkey FOREIGN KEY (library_id) REFERENCES libraries(id) ON DELETE CASCADE,
  constraint library_embeddings_pkey PRIMARY KEY (library_id)
);
create table library_extractions (
  library_id text not null,
  gateway_id text not null,
  model text not null,
  key_id text not null,
  tokens_per_day bigint not null,
  used_on date default '-infinity'::date not null,
  used_tokens bigint default 0 not null,
  failures integer default 0 not null,
  due_at timestamp with time zone default clock_timestamp() not null,
  claim uuid,
  constraint library_extractions_library_id_fkey FOREIGN KEY (library_id) REFERENCES libraries(id) ON DELETE CASCADE,
  constraint library_extractions_pkey PRIMARY KEY (library_id)
);
create table limit_cells (
  limit_id text not null,
  paid_at bigint not null,
  drawn_at bigint not null,
  wanted bigint not null,
  cost bigint not null,
  burst bigint not null,
  granted bigint not null,
  most bigint default 0 not null,
  constraint limit_cells_pkey PRIMARY KEY (limit_id)
) with (fillfactor=50);
create table logout_tokens (
  issuer text not null,
  jti text not null,
  expires_at timestamp with time zone not null,
  constraint logout_tokens_pkey PRIMARY KEY (issuer, jti)
);
create table networks_known (
  since timestamp with time zone default clock_timestamp() not null,
  only_one boolean default true not null,
  constraint networks_known_only_one_check CHECK (only_one),
  constraint networks_known_only_one_key UNIQUE (only_one)
);
create table repeatable_saves (
  caller text not null,
  key bytea not null,
  request bytea not null,
  library_id text not null,
  atom_ids uuid[] default '{}'::uuid[] not null,
  beside jsonb default '{}'::jsonb not null,
  made_at timestamp with time zone default clock_timestamp() not null,
  constraint repeatable_saves_library_id_fkey FOREIGN KEY (library_id) REFERENCES libraries(id) ON DELETE CASCADE,
  constraint repeatable_saves_pkey PRIMARY KEY (caller, key)
);
create table replicas (
  id text not null,
  acked_seq bigint not null,
  registered_at timestamp with time zone default clock_timestamp() not null,
  seen_at timestamp with time zone default clock_timestamp() not null,
  usage_flushed_at timestamp with time zone,
  encryption_keys text[],
  bootstrap_beside_issuer boolean default false not null,
  lease_ms integer default 5000 not null,
  own_time timestamp(3) with time zone,
  notes_networks boolean default true not null,
  notes_libraries boolean default true not null,
  constraint replicas_pkey PRIMARY KEY (id)
);
create table revoked_subjects (
  team_id text not null,
  subject text not null,
  revoked_at timestamp with time zone default clock_timestamp() not null,
  constraint revoked_subjects_pkey PRIMARY KEY (team_id, subject),
  constraint revoked_subjects_team_id_fkey FOREIGN KEY (team_id) REFERENCES teams(id)
);
create table schema_migrations (
  version integer not null,
  name text not null,
  applied_at timestamp with time zone default now() not null,
  constraint schema_migrations_pkey PRIMARY KEY (version)
);
create table sessions (
  digest bytea not null,
  issuer text,
  subject text,
  groups text[] not null,
  sid text,
  display_name text not null,
  created_at timestamp with time zone default clock_timestamp() not null,
  expires_at timestamp with time zone not null,
  made_in oid default database_number() not null,
  claims_at timestamp with time zone default clock_timestamp() not null,
  incarnation text default incarnation() not null,
  constraint sessions_check CHECK (((issuer IS NULL) = (subject IS NULL))),
  constraint sessions_digest_check CHECK ((octet_length(digest) = 32)),
  constraint sessions_pkey PRIMARY KEY (digest)
);
create table sign_in_links (
  digest bytea not null,
  expires_at timestamp with time zone not null,
  made_in oid default database_number() not null,
  incarnation text default incarnation() not null,
  constraint sign_in_links_digest_check CHECK ((octet_length(digest) = 32)),
  constraint sign_in_links_pkey PRIMARY KEY (digest)
);
create table team_members (
  team_id text not null,
  role text not null,
  kind text not null,
  value text not null,
  library_refs jsonb,
  constraint team_members_pkey PRIMARY KEY (team_id, kind, value, role),
  constraint team_members_team_id_fkey FOREIGN KEY (team_id) REFERENCES teams(id)
);
create table team_namespaces (
  cluster text not null,
  namespace text not null,
  team_id text not null,
  constraint team_namespaces_pkey PRIMARY KEY (cluster, namespace),
  constraint team_namespaces_team_id_fkey FOREIGN KEY (team_id) REFERENCES teams(id)
);
create table team_webhooks (
  id text not null,
  team_id text not null,
  url text not null,
  events text[] not null,
  secret bytea,
  constraint team_webhooks_pkey PRIMARY KEY (id),
  constraint team_webhooks_team_id_fkey FOREIGN KEY (team_id) REFERENCES teams(id),
  constraint team_webhooks_team_id_url_key UNIQUE (team_id, url)
);
create table teams (
  id text not null,
  cluster text not null,
  name text not null,
  owner_uid text,
  display_name text not null,
  state text not null,
  default_library_namespace text,
  default_library_name text,
  generation bigint not null,
  created_at timestamp with time zone default clock_timestamp() not null,
  leak_action text default 'Alert'::text not null,
  allowed_cidrs text[],
  limits jsonb,
  labels jsonb default '{}'::jsonb not null,
  shared_budgets jsonb,
  conditions jsonb,
  constraint teams_cluster_name_key UNIQUE (cluster, name),
  constraint teams_pkey PRIMARY KEY (id)
);
create table upstream_outcomes (
  gateway_id text not null,
  upstream text not null,
  answered_at timestamp with time zone,
  status integer,
  failed_at timestamp with time zone,
  failure text,
  accepted_at timestamp with time zone,
  refused_at timestamp with time zone,
  constraint upstream_outcomes_gateway_id_upstream_fkey FOREIGN KEY (gateway_id, upstream) REFERENCES gateway_upstreams(gateway_id, name) ON DELETE CASCADE,
  constraint upstream_outcomes_pkey PRIMARY KEY (gateway_id, upstream)
);
create table usage_lost (
  until timestamp with time zone,
  only_one boolean default true not null,
  constraint usage_lost_only_one_check CHECK (only_one),
  constraint usage_lost_only_one_key UNIQUE (only_one)
);
create table webhook_deliveries (
  id text not null,
  webhook_id text not null,
  team_id text not null,
  url text not null,
  event text not null,
  key_id text,
  at timestamp with time zone default clock_timestamp() not null,
  data jsonb not null,
  state text default 'pending'::text not null,
  tries integer default 0 not null,
  due_at timestamp with time zone default clock_timestamp(),
  claim uuid,
  tried_at timestamp with time zone,
  status integer,
  error text,
  constraint webhook_deliveries_check CHECK (((state = 'pending'::text) = (due_at IS NOT NULL))),
  constraint webhook_deliveries_pkey PRIMARY KEY (id)
);

CREATE OR REPLACE FUNCTION public.atom_facts(team_id text, library_id text, metadata jsonb, links jsonb)
 RETURNS tsvector
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN (atom_terms(team_id, library_id, '{}'::text[]) || array_to_tsvector((metadata_terms(metadata) || (SELECT COALESCE(array_agg(('to '::text || (link.value ->> 'id'::text))), '{}'::text[]) AS "coalesce" FROM jsonb_array_elements(atom_facts.links) link(value)))));
CREATE OR REPLACE FUNCTION public.atom_parts(team_id text, library_id text, tags text[], content text, source text)
 RETURNS tsvector
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN (atom_terms(team_id, library_id, tags) || text_parts((((((("left"(content, 8192) || ' '::text) || COALESCE(source, ''::text)) || ' '::text) || (SELECT COALESCE(string_agg(tag.tag, ' '::text), ''::text) AS "coalesce" FROM unnest(atom_parts.tags) tag(tag))) || ' '::text) || CASE WHEN ("left"(content, 8192) ~ '[a-z0-9][A-Z]'::text) THEN (SELECT COALESCE(string_agg(regexp_replace(name.name[1], '([a-z0-9])([A-Z])'::text, '\1 \2'::text, 'g'::text), ' '::text), ''::text) AS "coalesce" FROM regexp_matches("left"(atom_parts.content, 8192), '[A-Za-z0-9]*[a-z0-9][A-Z][A-Za-z0-9]*'::text, 'g'::text) name(name)) ELSE ''::text END)));
CREATE OR REPLACE FUNCTION public.atom_terms(team_id text, library_id text, tags text[])
 RETURNS tsvector
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN array_to_tsvector(((ARRAY[('library '::text || library_id)] || CASE WHEN starts_with(library_id, 'part_'::text) THEN ARRAY[]::text[] ELSE ARRAY[('team '::text || team_id)] END) || (SELECT COALESCE(array_agg(('tag '::text || tag.tag)), '{}'::text[]) AS "coalesce" FROM unnest(atom_terms.tags) tag(tag))));
CREATE OR REPLACE FUNCTION public.audit_terms(kind text, actor text, key_id text, team_id text, detail jsonb)
 RETURNS text[]
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN array_remove(ARRAY[('kind '::text || "left"(kind, 255)), ('actor '::text || "left"(actor, 255)), ('key '::text || key_id), ('team '::text || team_id), ('object '::text || "left"((detail ->> 'id'::text), 255)), ('name '::text || "left"((detail ->> 'name'::text), 255))], NULL::text);
CREATE OR REPLACE FUNCTION public.begin_key_last_use()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into key_last_uses (key_id, team_id, used_at) values (new.id, new.team_id, '-infinity')
  on conflict (key_id) do update set team_id = excluded.team_id;
  return null;
end $function$;
CREATE OR REPLACE FUNCTION public.database_number()
 RETURNS oid
 LANGUAGE sql
 STABLE
RETURN (SELECT pg_database.oid FROM pg_database WHERE (pg_database.datname = current_database()));
CREATE OR REPLACE FUNCTION public.delete_atom_revisions()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  delete from atom_revisions where atom_id = old.id
    and not exists (select from atoms where id = old.id)
    and not exists (select from forgotten_atoms where id = old.id);
  delete from imported_atoms where atom_id = old.id
    and not exists (select from atoms where id = old.id)
    and not exists (select from forgotten_atoms where id = old.id);
  return null;
end $function$;
CREATE OR REPLACE FUNCTION public.draw_budget(of_budget text, of_period text, by_holder text, its_turn bigint, has_spent bigint, has_held bigint, wanted bigint, most bigint, ends timestamp with time zone, OUT granted bigint, OUT rest bigint, OUT spent_by_all bigint, OUT silent bigint)
 RETURNS record
 LANGUAGE plpgsql
AS $function$
begin
  -- One holder after the other: each sees what those before it have got.
  perform pg_advisory_xact_lock(hashtextextended(of_budget || ' ' || of_period, 0));
  insert into budget_ledger as line (budget, period, holder, turn, spent, held, ends_at, written_at)
  values (of_budget, of_period, by_holder, its_turn, has_spent, has_held, ends, clock_timestamp())
  on conflict (budget, period, holder) do update set turn = excluded.turn, held = excluded.held,
    spent = greatest(line.spent, excluded.spent), ends_at = excluded.ends_at, written_at = excluded.written_at
  where line.turn < excluded.turn;
  if not found then wanted := 0; end if;
  -- Each thread writes its line within ten minutes: what one holds that has not for longer no call can have.
  select most - sum(spent + held), sum(spent),
      coalesce(sum(held) filter (where written_at < clock_timestamp() - interval '15 minutes'), 0)
    into rest, spent_by_all, silent
  from budget_ledger where budget = of_budget and period = of_period;
  granted := case when wanted <= 0 or rest < wanted then 0 else greatest(wanted, rest / 50) end;
  if granted > 0 then
    update budget_ledger set held = held + granted
    where budget = of_budget and period = of_period and holder = by_holder;
    rest := rest - granted;
  end if;
end
$function$;
CREATE OR REPLACE FUNCTION public.fact_text(facts jsonb)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN COALESCE((SELECT lower(string_agg(jsonb_each_text.value, '
'::text ORDER BY jsonb_each_text.key)) AS lower FROM jsonb_each_text(fact_text.facts) jsonb_each_text(key, value)), ''::text);
CREATE OR REPLACE FUNCTION public.folded_text(written text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE STRICT
RETURN CASE WHEN (octet_length(written) = length(written)) THEN lower((written COLLATE "C")) ELSE replace(replace(replace(replace(translate(lower((NORMALIZE(regexp_replace(NORMALIZE(regexp_replace(regexp_replace(written, '[\u3200-\u33ff\ufb50-\ufdff]'::text, ' '::text, 'g'::text), '[^\u0001-\u02ff\u3041-\u3096\u309b-\u9fff\uac00-\ud7a3]{200}'::text, '\& '::text, 'g'::text), NFKD), '[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0640\u064b-\u065f\u0670]+'::text, ''::text, 'g'::text), NFC) COLLATE "C")), 'АБВГДЕЖЗИЙКЛМНОПРСТУФХЦЧШЩЪЫЬЭЮЯЂЄЅІЇЈЉЊЋЏҐΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣΤΥΦΧΨΩςØøĐđÐðŁłĦħŦŧıŊŋÆŒÞ٠١٢٣٤٥٦٧٨٩۰۱۲۳۴۵۶۷۸۹߀߁߂߃߄߅߆߇߈߉०१२३४५६७८९০১২৩৪৫৬৭৮৯੦੧੨੩੪੫੬੭੮੯૦૧૨૩૪૫૬૭૮૯୦୧୨୩୪୫୬୭୮୯௦௧௨௩௪௫௬௭௮௯౦౧౨౩౪౫౬౭౮౯೦೧೨೩೪೫೬೭೮೯൦൧൨൩൪൫൬൭൮൯๐๑๒๓๔๕๖๗๘๙໐໑໒໓໔໕໖໗໘໙༠༡༢༣༤༥༦༧༨༩၀၁၂၃၄၅၆၇၈၉០១២៣៤៥៦៧៨៩᠐᠑᠒᠓᠔᠕᠖᠗᠘᠙یک'::text, 'абвгдежзийклмнопрстуфхцчшщъыьэюяђєѕіїјљњћџґαβγδεζηθικλμνξοπρστυφχψωσooddddllhhttinnæœþ012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789يك'::text), 'ß'::text, 'ss'::text), 'æ'::text, 'ae'::text), 'œ'::text, 'oe'::text), 'þ'::text, 'th'::text) END;
CREATE OR REPLACE FUNCTION public.incarnation()
 RETURNS text
 LANGUAGE plpgsql
 STABLE
AS $function$
begin
  return (select system_identifier from pg_control_system()) || '-' || 'leaders'::regclass::oid;
exception
  -- It may be asked, and fails this once.
  when insufficient_resources or io_error or internal_error then raise;
  when others then return '-' || 'leaders'::regclass::oid;
end $function$;
CREATE OR REPLACE FUNCTION public.keep_atom_revision()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into atom_revisions (atom_id, revision, content, tags, source, importance, updated_at, metadata, links,
    expires_at, valid_from, valid_to)
  values (old.id, old.revision, old.content, old.tags, old.source, old.importance, old.updated_at, old.metadata,
    old.links, old.expires_at, old.valid_from, old.valid_to);
  return new;
end $function$;
CREATE OR REPLACE FUNCTION public.keep_end_of_version()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  update keys set ends_at = key_end(id, expires_at)
  where id = new.key_id and ends_at is distinct from key_end(id, expires_at);
  return null;
end $function$;
CREATE OR REPLACE FUNCTION public.keep_key_end()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  new.ends_at := key_end(new.id, new.expires_at);
  return new;
end $function$;
CREATE OR REPLACE FUNCTION public.keep_passages()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  delete from atom_passages where library_id = new.library_id and atom_id = new.atom_id
    and (space, revision) <> (new.space, new.revision);
  return null;
end $function$;
CREATE OR REPLACE FUNCTION public.key_end(key_id text, expires_at timestamp with time zone)
 RETURNS timestamp with time zone
 LANGUAGE sql
 STABLE
RETURN LEAST(COALESCE(expires_at, 'infinity'::timestamp with time zone), COALESCE((SELECT min(v.expires_at) AS min FROM key_versions v WHERE ((v.key_id = key_end.key_id) AND (v.state = 'active'::text))), 'infinity'::timestamp with time zone));
CREATE OR REPLACE FUNCTION public.key_terms(team_id text, state text, name text)
 RETURNS text[]
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN (ARRAY[('team '::text || team_id), CASE WHEN (state = ANY (ARRAY['active'::text, 'suspended'::text])) THEN 'living'::text ELSE 'ended'::text END, ('^'::text || substr(name, 1, 1)), ('^'::text || substr(name, 1, 2))] || ARRAY(SELECT substr(key_terms.name, i.i, 3) AS substr FROM generate_series(1, (length(key_terms.name) - 2)) i(i)));
CREATE OR REPLACE FUNCTION public.limits_in_force(limits jsonb, shared jsonb)
 RETURNS jsonb
 LANGUAGE sql
 IMMUTABLE
AS $function$
  select case when shared is null then limits
    else coalesce(limits, '{"rate": null, "concurrent": null}') || jsonb_build_object('shared', shared) end
$function$;
CREATE OR REPLACE FUNCTION public.metadata_terms(metadata jsonb)
 RETURNS text[]
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN (SELECT COALESCE(array_agg(('is '::text || hashtextextended(((given.name || ' '::text) || given.value), (0)::bigint))), '{}'::text[]) AS "coalesce" FROM jsonb_each_text(metadata_terms.metadata) given(name, value));
CREATE OR REPLACE FUNCTION public.new_atom_id()
 RETURNS uuid
 LANGUAGE sql
 PARALLEL SAFE
AS $function$select pg_catalog.uuidv7()$function$;
CREATE OR REPLACE FUNCTION public.not_rolled()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  new.is_rolled := false;
  return new;
end $function$;
CREATE OR REPLACE FUNCTION public.queue_embedding()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into embedding_queue (atom_id, library_id, revision)
  select new.id, e.library_id, new.revision from library_embeddings e
  where e.library_id = case when starts_with(new.library_id, 'part_')
      then (select parent_id from libraries where id = new.library_id) else new.library_id end
    and not e.is_ended
  on conflict (atom_id) do update set revision = excluded.revision, library_id = excluded.library_id, tries = 0,
    due_at = excluded.due_at, refusal = null;
  return null;
end $function$;
CREATE OR REPLACE FUNCTION public.record_audit_event()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
declare
  next bigint;
begin
  update feed set audit_head = audit_head + 1 returning audit_head into next;
  insert into audit_feed (seq, event_id) values (next, new.id);
  return null;
end $function$;
CREATE OR REPLACE FUNCTION public.record_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
declare
  this uuid := this_transaction();
  refs text[];
  entity text;
  next bigint;
begin
  if tg_op <> 'INSERT' then refs := refs || (to_jsonb(old) ->> tg_argv[1]); end if;
  if tg_op <> 'DELETE' then refs := refs || (to_jsonb(new) ->> tg_argv[1]); end if;
  foreach entity in array refs loop
    if not exists (
      select from changes where tx = this and kind = tg_argv[0] and ref = entity
    ) then
      update feed set head = head + 1 returning head into next;
      insert into changes (seq, tx, kind, ref) values (next, this, tg_argv[0], entity);
      if pg_notification_queue_usage() < 0.5 then
        perform pg_notify('keyplane_changes', '');
      end if;
    end if;
  end loop;
  return null;
end $function$;
CREATE OR REPLACE FUNCTION public.record_revocation()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
declare
  this uuid := this_transaction();
begin
  update keys set revoked_seq = (
    select seq from changes where tx = this and kind = 'key' and ref = new.id
  ) where id = new.id;
  return null;
end $function$;
CREATE OR REPLACE FUNCTION public.refuse_revival()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  raise exception '% is final', old.state using errcode = 'KPEND';
end $function$;
CREATE OR REPLACE FUNCTION public.stamp_state_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  new.changed_tx := this_transaction();
  return new;
end $function$;
CREATE OR REPLACE FUNCTION public.text_parts(written text)
 RETURNS tsvector
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE STRICT
RETURN (SELECT array_to_tsvector(COALESCE(array_agg(('part '::text || parts.part)), '{}'::text[])) AS array_to_tsvector FROM (SELECT substr(words.word, at.at, words.size) AS part FROM (SELECT ('^'::text || word.word) AS word, 3 AS size FROM string_to_table(regexp_replace(regexp_replace(folded_text(text_parts.written), '[^a-z0-9]+'::text, ' '::text, 'g'::text), '([a-z0-9]{40})([a-z0-9]{2})'::text, '\1\2 \2'::text, 'g'::text), ' '::text) word(word) WHERE ((octet_length(text_parts.written) = length(text_parts.written)) AND (word.word <> ''::text)) UNION SELECT CASE WHEN (token.token[2] IS NULL) THEN ('^'::text || token.token[1]) ELSE token.token[2] END AS token, CASE WHEN (token.token[2] IS NULL) THEN 3 ELSE 2 END AS "case" FROM regexp_matches(regexp_replace(folded_text(text_parts.written), '([a-z0-9\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u1fff\u2c00-\u2dff\ua640-\uabff]{40})([a-z0-9\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u1fff\u2c00-\u2dff\ua640-\uabff]{2})|([\u3005-\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]{40})([\u3005-\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff])'::text, '\1\2\3\4 \2\4'::text, 'g'::text), '([a-z0-9\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u1fff\u2c00-\u2dff\ua640-\uabff]+)|([\u3005-\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]+)'::text, 'g'::text) token(token) WHERE (octet_length(text_parts.written) <> length(text_parts.written))) words, LATERAL generate_series(1, GREATEST(1, (length(words.word) - CASE WHEN (words.size = 3) THEN 2 ELSE 0 END))) at(at) LIMIT 70000) parts);
CREATE OR REPLACE FUNCTION public.this_transaction()
 RETURNS uuid
 LANGUAGE plpgsql
AS $function$
declare
  known text := current_setting('keyplane.transaction', true);
begin
  if coalesce(known, '') = '' then
    known := set_config('keyplane.transaction', gen_random_uuid()::text, true);
  end if;
  return known::uuid;
end $function$;

CREATE CONSTRAINT TRIGGER atom_embeddings_keep_passages AFTER INSERT OR UPDATE ON atom_embeddings DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION keep_passages();
CREATE TRIGGER atoms_delete_revisions AFTER DELETE ON atoms FOR EACH ROW EXECUTE FUNCTION delete_atom_revisions();
CREATE TRIGGER atoms_keep_revision BEFORE UPDATE ON atoms FOR EACH ROW WHEN (old.revision IS DISTINCT FROM new.revision) EXECUTE FUNCTION keep_atom_revision();
CREATE TRIGGER atoms_queue_embedding AFTER INSERT OR UPDATE OF revision ON atoms FOR EACH ROW EXECUTE FUNCTION queue_embedding();
CREATE CONSTRAINT TRIGGER audit_events_feed AFTER INSERT OR UPDATE OF detail ON audit_events DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION record_audit_event();
CREATE TRIGGER forgotten_atoms_delete_revisions AFTER DELETE ON forgotten_atoms FOR EACH ROW EXECUTE FUNCTION delete_atom_revisions();
CREATE CONSTRAINT TRIGGER gateway_upstreams_feed AFTER INSERT OR DELETE ON gateway_upstreams DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION record_change('gateway', 'gateway_id');
CREATE CONSTRAINT TRIGGER gateway_upstreams_feed_takes_credential AFTER UPDATE OF takes_credential ON gateway_upstreams DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (old.takes_credential IS DISTINCT FROM new.takes_credential) EXECUTE FUNCTION record_change('gateway', 'gateway_id');
CREATE CONSTRAINT TRIGGER gateway_upstreams_feed_update AFTER UPDATE OF gateway_id, name, "position", dialect, base_url, credential ON gateway_upstreams DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (old.gateway_id IS DISTINCT FROM new.gateway_id OR old.name IS DISTINCT FROM new.name OR old."position" IS DISTINCT FROM new."position" OR old.dialect IS DISTINCT FROM new.dialect OR old.base_url IS DISTINCT FROM new.base_url OR old.credential IS DISTINCT FROM new.credential) EXECUTE FUNCTION record_change('gateway', 'gateway_id');
CREATE CONSTRAINT TRIGGER gateways_feed AFTER INSERT OR DELETE ON gateways DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION record_change('gateway', 'id');
CREATE CONSTRAINT TRIGGER gateways_feed_operations AFTER UPDATE OF operations ON gateways DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (old.operations IS DISTINCT FROM new.operations) EXECUTE FUNCTION record_change('gateway', 'id');
CREATE CONSTRAINT TRIGGER gateways_feed_update AFTER UPDATE OF cluster, namespace, team_id, public_id, routes_only, routes, state ON gateways DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (old.cluster IS DISTINCT FROM new.cluster OR old.namespace IS DISTINCT FROM new.namespace OR old.team_id IS DISTINCT FROM new.team_id OR old.public_id IS DISTINCT FROM new.public_id OR old.routes_only IS DISTINCT FROM new.routes_only OR old.routes IS DISTINCT FROM new.routes OR old.state IS DISTINCT FROM new.state) EXECUTE FUNCTION record_change('gateway', 'id');
CREATE CONSTRAINT TRIGGER key_leaks_feed AFTER INSERT ON key_leaks DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION record_change('key', 'key_id');
CREATE CONSTRAINT TRIGGER key_libraries_feed AFTER INSERT OR DELETE ON key_libraries DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION record_change('key', 'key_id');
CREATE CONSTRAINT TRIGGER key_libraries_feed_update AFTER UPDATE OF key_id, library_id ON key_libraries DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (old.key_id IS DISTINCT FROM new.key_id OR old.library_id IS DISTINCT FROM new.library_id) EXECUTE FUNCTION record_change('key', 'key_id');
CREATE TRIGGER key_requests_added BEFORE UPDATE OF count ON key_requests FOR EACH ROW WHEN (old.is_rolled) EXECUTE FUNCTION not_rolled();
CREATE TRIGGER key_tokens_added BEFORE UPDATE OF calls ON key_tokens FOR EACH ROW WHEN (old.is_rolled) EXECUTE FUNCTION not_rolled();
CREATE TRIGGER key_versions_end_is_final BEFORE UPDATE OF state ON key_versions FOR EACH ROW WHEN ((old.state = ANY (ARRAY['retired'::text, 'voided'::text, 'revoked'::text])) AND new.state <> old.state) EXECUTE FUNCTION refuse_revival();
CREATE CONSTRAINT TRIGGER key_versions_feed AFTER INSERT OR DELETE ON key_versions DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION record_change('key', 'key_id');
CREATE CONSTRAINT TRIGGER key_versions_feed_update AFTER UPDATE OF key_id, number, digest, prefix, state, source_kind, retire_at, expires_at ON key_versions DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (old.key_id IS DISTINCT FROM new.key_id OR old.number IS DISTINCT FROM new.number OR old.digest IS DISTINCT FROM new.digest OR old.prefix IS DISTINCT FROM new.prefix OR old.state IS DISTINCT FROM new.state OR old.source_kind IS DISTINCT FROM new.source_kind OR old.retire_at IS DISTINCT FROM new.retire_at OR old.expires_at IS DISTINCT FROM new.expires_at) EXECUTE FUNCTION record_change('key', 'key_id');
CREATE TRIGGER key_versions_keep_end AFTER UPDATE OF state, expires_at ON key_versions FOR EACH ROW WHEN (new.state = 'active'::text OR old.state = 'active'::text) EXECUTE FUNCTION keep_end_of_version();
CREATE TRIGGER key_versions_keep_end_new AFTER INSERT ON key_versions FOR EACH ROW WHEN (new.state = 'active'::text) EXECUTE FUNCTION keep_end_of_version();
CREATE TRIGGER key_versions_stamp BEFORE UPDATE OF state ON key_versions FOR EACH ROW WHEN (old.state IS DISTINCT FROM new.state) EXECUTE FUNCTION stamp_state_change();
CREATE TRIGGER keys_begin_last_use AFTER INSERT OR UPDATE OF team_id ON keys FOR EACH ROW EXECUTE FUNCTION begin_key_last_use();
CREATE TRIGGER keys_end_is_final BEFORE UPDATE OF state ON keys FOR EACH ROW WHEN (old.state = 'revoked'::text AND new.state <> old.state) EXECUTE FUNCTION refuse_revival();
CREATE CONSTRAINT TRIGGER keys_feed AFTER INSERT OR DELETE ON keys DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION record_change('key', 'id');
CREATE CONSTRAINT TRIGGER keys_feed_budgets AFTER UPDATE OF budgets ON keys DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (old.budgets IS DISTINCT FROM new.budgets) EXECUTE FUNCTION record_change('key', 'id');
CREATE CONSTRAINT TRIGGER keys_feed_networks AFTER UPDATE OF allowed_cidrs ON keys DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (old.allowed_cidrs IS DISTINCT FROM new.allowed_cidrs) EXECUTE FUNCTION record_change('key', 'id');
CREATE CONSTRAINT TRIGGER keys_feed_rate_scope AFTER UPDATE OF rate_scope ON keys DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (old.rate_scope IS DISTINCT FROM new.rate_scope) EXECUTE FUNCTION record_change('key', 'id');
CREATE CONSTRAINT TRIGGER keys_feed_subject AFTER UPDATE OF subject ON keys DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (old.subject IS DISTINCT FROM new.subject) EXECUTE FUNCTION record_change('key', 'id');
CREATE CONSTRAINT TRIGGER keys_feed_tokens AFTER UPDATE OF tokens_per_minute ON keys DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (old.tokens_per_minute IS DISTINCT FROM new.tokens_per_minute) EXECUTE FUNCTION record_change('key', 'id');
CREATE CONSTRAINT TRIGGER keys_feed_update AFTER UPDATE OF cluster, namespace, team_id, state, scopes, gateway_bound, gateway_id, library_mode, mcp_default_library_id, allowed_models, expires_at, requests_per_minute, burst, concurrent, rotation_requested_at ON keys DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (old.cluster IS DISTINCT FROM new.cluster OR old.namespace IS DISTINCT FROM new.namespace OR old.team_id IS DISTINCT FROM new.team_id OR old.state IS DISTINCT FROM new.state OR old.scopes IS DISTINCT FROM new.scopes OR old.gateway_bound IS DISTINCT FROM new.gateway_bound OR old.gateway_id IS DISTINCT FROM new.gateway_id OR old.library_mode IS DISTINCT FROM new.library_mode OR old.mcp_default_library_id IS DISTINCT FROM new.mcp_default_library_id OR old.allowed_models IS DISTINCT FROM new.allowed_models OR old.expires_at IS DISTINCT FROM new.expires_at OR old.requests_per_minute IS DISTINCT FROM new.requests_per_minute OR old.burst IS DISTINCT FROM new.burst OR old.concurrent IS DISTINCT FROM new.concurrent OR old.rotation_requested_at IS DISTINCT FROM new.rotation_requested_at) EXECUTE FUNCTION record_change('key', 'id');
CREATE TRIGGER keys_keep_end BEFORE INSERT OR UPDATE OF expires_at ON keys FOR EACH ROW EXECUTE FUNCTION keep_key_end();
CREATE CONSTRAINT TRIGGER keys_revocation AFTER UPDATE OF state ON keys DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (new.state = 'revoked'::text AND old.state <> 'revoked'::text) EXECUTE FUNCTION record_revocation();
CREATE CONSTRAINT TRIGGER libraries_feed AFTER INSERT ON libraries DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (new.parent_id IS NULL) EXECUTE FUNCTION record_change('library', 'id');
CREATE CONSTRAINT TRIGGER libraries_feed_delete AFTER DELETE ON libraries DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (old.parent_id IS NULL) EXECUTE FUNCTION record_change('library', 'id');
CREATE CONSTRAINT TRIGGER libraries_feed_update AFTER UPDATE OF cluster, namespace, name, team_id, state ON libraries DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (new.parent_id IS NULL AND (old.cluster IS DISTINCT FROM new.cluster OR old.namespace IS DISTINCT FROM new.namespace OR old.name IS DISTINCT FROM new.name OR old.team_id IS DISTINCT FROM new.team_id OR old.state IS DISTINCT FROM new.state)) EXECUTE FUNCTION record_change('library', 'id');
CREATE CONSTRAINT TRIGGER revoked_subjects_feed AFTER INSERT OR DELETE OR UPDATE ON revoked_subjects DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION record_change('team', 'team_id');
CREATE CONSTRAINT TRIGGER team_members_feed AFTER INSERT OR DELETE ON team_members DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION record_change('team', 'team_id');
CREATE CONSTRAINT TRIGGER team_members_feed_update AFTER UPDATE OF team_id, role, kind, value, library_refs ON team_members DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (old.team_id IS DISTINCT FROM new.team_id OR old.role IS DISTINCT FROM new.role OR old.kind IS DISTINCT FROM new.kind OR old.value IS DISTINCT FROM new.value OR old.library_refs IS DISTINCT FROM new.library_refs) EXECUTE FUNCTION record_change('team', 'team_id');
CREATE CONSTRAINT TRIGGER team_namespaces_feed AFTER INSERT OR DELETE ON team_namespaces DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION record_change('team', 'team_id');
CREATE CONSTRAINT TRIGGER team_namespaces_feed_update AFTER UPDATE OF cluster, namespace, team_id ON team_namespaces DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (old.cluster IS DISTINCT FROM new.cluster OR old.namespace IS DISTINCT FROM new.namespace OR old.team_id IS DISTINCT FROM new.team_id) EXECUTE FUNCTION record_change('team', 'team_id');
CREATE CONSTRAINT TRIGGER teams_feed AFTER INSERT OR DELETE ON teams DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION record_change('team', 'id');
CREATE CONSTRAINT TRIGGER teams_feed_limits AFTER UPDATE OF limits ON teams DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (old.limits IS DISTINCT FROM new.limits) EXECUTE FUNCTION record_change('team', 'id');
CREATE CONSTRAINT TRIGGER teams_feed_networks AFTER UPDATE OF allowed_cidrs ON teams DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (old.allowed_cidrs IS DISTINCT FROM new.allowed_cidrs) EXECUTE FUNCTION record_change('team', 'id');
CREATE CONSTRAINT TRIGGER teams_feed_shared_budgets AFTER UPDATE OF shared_budgets ON teams DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (old.shared_budgets IS DISTINCT FROM new.shared_budgets) EXECUTE FUNCTION record_change('team', 'id');
CREATE CONSTRAINT TRIGGER teams_feed_update AFTER UPDATE OF cluster, name, state, default_library_namespace, default_library_name ON teams DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (old.cluster IS DISTINCT FROM new.cluster OR old.name IS DISTINCT FROM new.name OR old.state IS DISTINCT FROM new.state OR old.default_library_namespace IS DISTINCT FROM new.default_library_namespace OR old.default_library_name IS DISTINCT FROM new.default_library_name) EXECUTE FUNCTION record_change('team', 'id');

create view key_records as
 SELECT v.key_id,
    v.number AS version,
    v.digest,
    v.prefix,
    v.changed_tx,
    (v.source_kind <> 'minted'::text) AS is_foreign,
    k.team_id,
    k.namespace,
    (((k.namespace = ''::text) OR COALESCE((n.team_id = k.team_id), false)) AND (t.state = 'active'::text)) AS team_holds_namespace,
        CASE
            WHEN ((k.state = 'active'::text) AND ((k.allowed_cidrs IS NOT NULL) OR (t.allowed_cidrs IS NOT NULL))) THEN 'of_networks'::text
            WHEN ((k.state = 'active'::text) AND (k.subject IS NOT NULL)) THEN 'of_subject'::text
            ELSE k.state
        END AS state,
    v.state AS version_state,
    ((EXTRACT(epoch FROM LEAST(k.expires_at, v.expires_at,
        CASE
            WHEN (v.state = 'retiring'::text) THEN v.retire_at
            ELSE NULL::timestamp with time zone
        END)) * (1000)::numeric))::double precision AS expires_ms,
    array_to_string(k.scopes, ' '::text) AS scopes,
        CASE
            WHEN k.gateway_bound THEN COALESCE(g.id, ''::text)
            ELSE NULL::text
        END AS bound_gateway_id,
        CASE
            WHEN (k.library_mode <> 'all'::text) THEN COALESCE(( SELECT string_agg(l.id, ' '::text ORDER BY l.id) AS string_agg
               FROM (key_libraries kl
                 JOIN libraries l ON ((l.id = kl.library_id)))
              WHERE ((kl.key_id = k.id) AND (l.team_id = k.team_id) AND (l.state = 'active'::text))), ''::text)
            ELSE NULL::text
        END AS library_ids,
    k.mcp_default_library_id,
    d.id AS team_default_library_id,
    k.allowed_models,
    k.requests_per_minute,
    k.burst,
    k.concurrent,
    k.subject,
    k.allowed_cidrs,
    t.allowed_cidrs AS team_allowed_cidrs,
    k.rate_scope,
    limits_in_force(t.limits, t.shared_budgets) AS team_limits,
    k.tokens_per_minute,
        CASE
            WHEN (k.budgets IS NOT NULL) THEN jsonb_build_object('owner', ((((((k.team_id || ' '::text) || k.cluster) || '/'::text) || k.namespace) || '/'::text) || k.name), 'items', k.budgets)
            ELSE NULL::jsonb
        END AS budgets
   FROM (((((key_versions v
     JOIN keys k ON ((k.id = v.key_id)))
     JOIN teams t ON ((t.id = k.team_id)))
     LEFT JOIN team_namespaces n ON (((n.cluster = k.cluster) AND (n.namespace = k.namespace))))
     LEFT JOIN gateways g ON (((g.id = k.gateway_id) AND (g.team_id = k.team_id) AND (g.state = 'active'::text))))
     LEFT JOIN libraries d ON (((d.cluster = t.cluster) AND (d.namespace = t.default_library_namespace) AND (d.name = t.default_library_name) AND (d.team_id = t.id) AND (d.state = 'active'::text))));

CREATE INDEX atom_embeddings_of_atom ON public.atom_embeddings USING hash (atom_id);
CREATE INDEX atoms_at_random ON public.atoms USING btree (library_id, SUBSTRING(uuid_send(id) FROM 9));
CREATE INDEX atoms_by_expiry ON public.atoms USING btree (expires_at, id) WHERE (expires_at IS NOT NULL);
CREATE INDEX atoms_by_importance ON public.atoms USING btree (library_id, importance DESC, updated_at DESC, id DESC);
CREATE INDEX atoms_by_sketch ON public.atoms USING gin (sketch) WITH (gin_pending_list_limit='256');
CREATE INDEX atoms_by_update ON public.atoms USING btree (library_id, updated_at DESC, id DESC);
CREATE INDEX atoms_facts ON public.atoms USING gin (atom_facts(team_id, library_id, metadata, links)) WITH (fastupdate=off) WHERE ((metadata <> '{}'::jsonb) OR (links <> '[]'::jsonb));
CREATE INDEX atoms_of_library ON public.atoms USING btree (library_id, created_at DESC, id DESC);
CREATE INDEX atoms_of_team ON public.atoms USING btree (team_id, created_at DESC, id DESC);
CREATE INDEX atoms_parts ON public.atoms USING gin (atom_parts(team_id, library_id, tags, content, source)) WITH (gin_pending_list_limit='256');
CREATE INDEX atoms_replacing ON public.atoms USING gin (jsonb_path_query_array(links, '$[*]?(@."rel" == "replaces")."id"'::jsonpath)) WITH (fastupdate=off) WHERE (links @> '[{"rel": "replaces"}]'::jsonb);
CREATE INDEX atoms_replacing_of_library ON public.atoms USING btree (library_id) WHERE jsonb_path_exists(links, '$[*]?(@."rel" == "replaces")'::jsonpath);
CREATE INDEX atoms_terms ON public.atoms USING gin (((search || atom_terms(team_id, library_id, tags)))) WITH (gin_pending_list_limit='1024');
CREATE INDEX audit_events_in_order ON public.audit_events USING btree (at, id);
CREATE INDEX audit_events_of_key ON public.audit_events USING btree (key_id, id);
CREATE INDEX audit_events_of_team ON public.audit_events USING btree (team_id, at, id);
CREATE INDEX audit_events_terms ON public.audit_events USING gin (audit_terms(kind, actor, key_id, team_id, detail)) WITH (fastupdate=off);
CREATE INDEX budget_notices_by_end ON public.budget_notices USING btree (ends_at);
CREATE INDEX budget_notices_by_time ON public.budget_notices USING btree (at);
CREATE INDEX embedding_queue_of_library ON public.embedding_queue USING btree (library_id, due_at, atom_id);
CREATE INDEX extraction_jobs_by_age ON public.extraction_jobs USING btree (created_at);
CREATE UNIQUE INDEX extraction_jobs_of_conversation ON public.extraction_jobs USING btree (stored_in, digest);
CREATE INDEX extraction_jobs_of_library ON public.extraction_jobs USING btree (library_id);
CREATE INDEX extraction_jobs_open ON public.extraction_jobs USING btree (library_id, created_at, id) WHERE (ended_at IS NULL);
CREATE INDEX forgotten_atoms_by_end ON public.forgotten_atoms USING btree (kept_until, id);
CREATE INDEX forgotten_atoms_of_library ON public.forgotten_atoms USING btree (library_id, forgotten_at DESC, id DESC);
CREATE INDEX gateways_of_team ON public.gateways USING btree (team_id);
CREATE UNIQUE INDEX gateways_owner ON public.gateways USING btree (cluster, owner_uid) WHERE (state = 'active'::text);
CREATE INDEX idempotency_keys_by_time ON public.idempotency_keys USING btree (made_at);
CREATE INDEX imported_atoms_of_atom ON public.imported_atoms USING btree (atom_id);
CREATE INDEX kept_objects_by_end ON public.kept_objects USING btree (ends_at) WHERE (ends_at IS NOT NULL);
CREATE INDEX kept_objects_of_parent ON public.kept_objects USING btree (parent, origin) WHERE (parent IS NOT NULL);
CREATE INDEX key_last_uses_by_time ON public.key_last_uses USING btree (used_at, key_id);
CREATE INDEX key_last_uses_of_team_by_time ON public.key_last_uses USING btree (team_id, used_at, key_id);
CREATE INDEX key_libraries_of_library ON public.key_libraries USING btree (library_id);
CREATE INDEX key_libraries_used_by_age ON public.key_libraries_used USING btree (oldest);
CREATE INDEX key_networks_by_age ON public.key_networks USING btree (oldest);
CREATE INDEX key_request_days_by_time ON public.key_request_days USING btree (slot);
CREATE INDEX key_request_days_of_team ON public.key_request_days USING btree (team_id, slot);
CREATE INDEX key_request_hours_by_time ON public.key_request_hours USING btree (slot);
CREATE INDEX key_request_hours_of_team ON public.key_request_hours USING btree (team_id, slot);
CREATE INDEX key_request_hours_to_roll ON public.key_request_hours USING btree (date_bin('1 day'::interval, slot, '1970-01-01 00:00:00+00'::timestamp with time zone), key_id) WHERE (NOT is_rolled);
CREATE INDEX key_requests_by_time ON public.key_requests USING btree (slot);
CREATE INDEX key_requests_to_roll ON public.key_requests USING btree (date_bin('01:00:00'::interval, slot, '1970-01-01 00:00:00+00'::timestamp with time zone), key_id) WHERE (NOT is_rolled);
CREATE INDEX key_token_days_by_time ON public.key_token_days USING btree (slot);
CREATE INDEX key_token_days_of_team ON public.key_token_days USING btree (team_id, slot);
CREATE INDEX key_token_hours_by_time ON public.key_token_hours USING btree (slot);
CREATE INDEX key_token_hours_of_team ON public.key_token_hours USING btree (team_id, slot);
CREATE INDEX key_token_hours_to_roll ON public.key_token_hours USING btree (date_bin('1 day'::interval, slot, '1970-01-01 00:00:00+00'::timestamp with time zone), key_id) WHERE (NOT is_rolled);
CREATE INDEX key_tokens_by_time ON public.key_tokens USING btree (slot);
CREATE INDEX key_tokens_of_team ON public.key_tokens USING btree (team_id, slot);
CREATE INDEX key_tokens_to_roll ON public.key_tokens USING btree (date_bin('01:00:00'::interval, slot, '1970-01-01 00:00:00+00'::timestamp with time zone), key_id) WHERE (NOT is_rolled);
CREATE INDEX key_versions_by_prefix ON public.key_versions USING btree (prefix);
CREATE UNIQUE INDEX key_versions_four_retiring ON public.key_versions USING btree (key_id, retiring_slot) WHERE (state = 'retiring'::text);
CREATE UNIQUE INDEX key_versions_one_active ON public.key_versions USING btree (key_id) WHERE (state = 'active'::text);
CREATE INDEX keys_by_creation ON public.keys USING btree (created_at, id);
CREATE INDEX keys_by_end ON public.keys USING btree (ends_at, id);
CREATE INDEX keys_by_name ON public.keys USING btree (name, id);
CREATE INDEX keys_by_owner ON public.keys USING btree (cluster, owner_uid, created_at DESC);
CREATE INDEX keys_by_place ON public.keys USING btree (team_id, cluster, namespace);
CREATE INDEX keys_display_terms ON public.keys USING gin (key_terms(team_id, state, lower(display_name))) WITH (fastupdate=off) WHERE (display_name <> name);
CREATE INDEX keys_fact_terms ON public.keys USING gin (key_terms(team_id, state, fact_text(facts))) WITH (fastupdate=off) WHERE (facts <> '{}'::jsonb);
CREATE UNIQUE INDEX keys_of_api_by_name ON public.keys USING btree (team_id, namespace, name) WHERE ((cluster = 'api'::text) AND (state <> 'revoked'::text));
CREATE INDEX keys_of_gateway ON public.keys USING btree (gateway_id) WHERE (gateway_id IS NOT NULL);
CREATE INDEX keys_of_team ON public.keys USING btree (team_id, id);
CREATE INDEX keys_of_team_by_creation ON public.keys USING btree (team_id, created_at, id);
CREATE INDEX keys_of_team_by_end ON public.keys USING btree (team_id, ends_at, id);
CREATE INDEX keys_of_team_by_name ON public.keys USING btree (team_id, name, id);
CREATE UNIQUE INDEX keys_owner ON public.keys USING btree (cluster, owner_uid) WHERE (state <> 'revoked'::text);
CREATE INDEX keys_suspended ON public.keys USING btree (team_id, id) WHERE (state = 'suspended'::text);
CREATE INDEX keys_terms ON public.keys USING gin (key_terms(team_id, state, name)) WITH (fastupdate=off);
CREATE INDEX libraries_in_service ON public.libraries USING btree (team_id, id) WHERE (state = 'active'::text);
CREATE UNIQUE INDEX libraries_of_subjects ON public.libraries USING btree (parent_id, subject) WHERE (parent_id IS NOT NULL);
CREATE INDEX libraries_to_delete ON public.libraries USING btree (((parent_id IS NULL)), id) WHERE (state = 'deleted'::text);
CREATE INDEX library_embeddings_due ON public.library_embeddings USING btree (due_at);
CREATE INDEX library_extractions_due ON public.library_extractions USING btree (due_at);
CREATE INDEX repeatable_saves_by_time ON public.repeatable_saves USING btree (made_at);
CREATE INDEX repeatable_saves_of_caller ON public.repeatable_saves USING btree (caller, made_at);
CREATE INDEX repeatable_saves_of_library ON public.repeatable_saves USING btree (library_id);
CREATE INDEX sessions_by_end ON public.sessions USING btree (expires_at);
CREATE INDEX sessions_by_sid ON public.sessions USING btree (issuer, sid) WHERE (sid IS NOT NULL);
CREATE INDEX sessions_by_subject ON public.sessions USING btree (issuer, subject);
CREATE INDEX team_members_by_value ON public.team_members USING btree (kind, value);
CREATE INDEX team_namespaces_of_team ON public.team_namespaces USING btree (team_id);
CREATE INDEX webhook_deliveries_by_time ON public.webhook_deliveries USING btree (at, id);
CREATE INDEX webhook_deliveries_due ON public.webhook_deliveries USING btree (webhook_id, due_at) WHERE (state = 'pending'::text);
CREATE INDEX webhook_deliveries_failed ON public.webhook_deliveries USING btree (team_id, at, id) WHERE (state = 'failed'::text);
CREATE INDEX webhook_deliveries_failed_by_time ON public.webhook_deliveries USING btree (at, id) WHERE (state = 'failed'::text);
CREATE INDEX webhook_deliveries_of_team ON public.webhook_deliveries USING btree (team_id, at, id);

alter table atoms alter column content set statistics 0;
alter table atoms alter column tags set statistics 0;
alter table atoms alter column source set statistics 0;
alter table atoms alter column search set statistics 0;
alter table atoms alter column metadata set statistics 0;
alter table atoms alter column links set statistics 0;
alter table atoms alter column sketch set statistics 0;
alter index atoms_facts alter column 1 set statistics 0;
alter index atoms_parts alter column 1 set statistics 0;
alter index atoms_terms alter column 1 set statistics 0;
alter table extraction_jobs alter column passages set statistics 0;
alter table extraction_jobs alter column statements set statistics 0;
alter table forgotten_atoms alter column content set statistics 0;
alter table forgotten_atoms alter column tags set statistics 0;
alter table forgotten_atoms alter column source set statistics 0;
alter table forgotten_atoms alter column metadata set statistics 0;
alter table forgotten_atoms alter column links set statistics 0;
alter table forgotten_atoms alter column sketch set statistics 0;
alter table imported_atoms alter column said set statistics 0;

-- extension vector;
-- sequence audit_events_id_seq;

comment on function array_to_halfvec(double precision[],integer,boolean) is 'convert float8 array to halfvec';
comment on function array_to_halfvec(integer[],integer,boolean) is 'convert int4 array to halfvec';
comment on function array_to_halfvec(numeric[],integer,boolean) is 'convert numeric array to halfvec';
comment on function array_to_halfvec(real[],integer,boolean) is 'convert float4 array to halfvec';
comment on function array_to_sparsevec(double precision[],integer,boolean) is 'convert float8 array to sparsevec';
comment on function array_to_sparsevec(integer[],integer,boolean) is 'convert int4 array to sparsevec';
comment on function array_to_sparsevec(numeric[],integer,boolean) is 'convert numeric array to sparsevec';
comment on function array_to_sparsevec(real[],integer,boolean) is 'convert float4 array to sparsevec';
comment on function array_to_vector(double precision[],integer,boolean) is 'convert float8 array to vector';
comment on function array_to_vector(integer[],integer,boolean) is 'convert int4 array to vector';
comment on function array_to_vector(numeric[],integer,boolean) is 'convert numeric array to vector';
comment on function array_to_vector(real[],integer,boolean) is 'convert float4 array to vector';
comment on function avg(halfvec) is 'the average (arithmetic mean) as halfvec of all halfvec values';
comment on function avg(vector) is 'the average (arithmetic mean) as vector of all vector values';
comment on function binary_quantize(halfvec) is 'binary quantize';
comment on function binary_quantize(vector) is 'binary quantize';
comment on function cosine_distance(halfvec,halfvec) is 'cosine distance';
comment on function cosine_distance(sparsevec,sparsevec) is 'cosine distance';
comment on function cosine_distance(vector,vector) is 'cosine distance';
comment on function halfvec(halfvec,integer,boolean) is 'adjust halfvec to typmod';
comment on function halfvec_accum(double precision[],halfvec) is 'aggregate transition function';
comment on function halfvec_add(halfvec,halfvec) is 'implementation of + operator';
comment on function halfvec_avg(double precision[]) is 'aggregate final function';
comment on function halfvec_cmp(halfvec,halfvec) is 'less-equal-greater';
comment on function halfvec_combine(double precision[],double precision[]) is 'aggregate combine function';
comment on function halfvec_concat(halfvec,halfvec) is 'implementation of || operator';
comment on function halfvec_eq(halfvec,halfvec) is 'implementation of = operator';
comment on function halfvec_ge(halfvec,halfvec) is 'implementation of >= operator';
comment on function halfvec_gt(halfvec,halfvec) is 'implementation of > operator';
comment on function halfvec_in(cstring,oid,integer) is 'I/O';
comment on function halfvec_l2_squared_distance(halfvec,halfvec) is 'squared Euclidean distance';
comment on function halfvec_le(halfvec,halfvec) is 'implementation of <= operator';
comment on function halfvec_lt(halfvec,halfvec) is 'implementation of < operator';
comment on function halfvec_mul(halfvec,halfvec) is 'implementation of * operator';
comment on function halfvec_ne(halfvec,halfvec) is 'implementation of <> operator';
comment on function halfvec_negative_inner_product(halfvec,halfvec) is 'negative inner product';
comment on function halfvec_out(halfvec) is 'I/O';
comment on function halfvec_recv(internal,oid,integer) is 'I/O';
comment on function halfvec_send(halfvec) is 'I/O';
comment on function halfvec_spherical_distance(halfvec,halfvec) is 'spherical distance';
comment on function halfvec_sub(halfvec,halfvec) is 'implementation of - operator';
comment on function halfvec_to_float4(halfvec,integer,boolean) is 'convert halfvec to float4 array';
comment on function halfvec_to_sparsevec(halfvec,integer,boolean) is 'convert halfvec to sparsevec';
comment on function halfvec_to_vector(halfvec,integer,boolean) is 'convert halfvec to vector';
comment on function halfvec_typmod_in(cstring[]) is 'I/O typmod';
comment on function hamming_distance(bit,bit) is 'Hamming distance';
comment on function hnsw_bit_support(internal) is 'hnsw bit support';
comment on function hnsw_halfvec_support(internal) is 'hnsw halfvec support';
comment on function hnsw_sparsevec_support(internal) is 'hnsw sparsevec support';
comment on function hnswhandler(internal) is 'hnsw index access method handler';
comment on function inner_product(halfvec,halfvec) is 'inner product';
comment on function inner_product(sparsevec,sparsevec) is 'inner product';
comment on function inner_product(vector,vector) is 'inner product';
comment on function ivfflat_bit_support(internal) is 'ivfflat bit support';
comment on function ivfflat_halfvec_support(internal) is 'ivfflat halfvec support';
comment on function ivfflathandler(internal) is 'ivfflat index access method handler';
comment on function jaccard_distance(bit,bit) is 'Jaccard distance';
comment on function l1_distance(halfvec,halfvec) is 'taxicab distance';
comment on function l1_distance(sparsevec,sparsevec) is 'taxicab distance';
comment on function l1_distance(vector,vector) is 'taxicab distance';
comment on function l2_distance(halfvec,halfvec) is 'Euclidean distance';
comment on function l2_distance(sparsevec,sparsevec) is 'Euclidean distance';
comment on function l2_distance(vector,vector) is 'Euclidean distance';
comment on function l2_norm(halfvec) is 'Euclidean norm';
comment on function l2_norm(sparsevec) is 'Euclidean norm';
comment on function l2_normalize(halfvec) is 'normalize with Euclidean norm';
comment on function l2_normalize(sparsevec) is 'normalize with Euclidean norm';
comment on function l2_normalize(vector) is 'normalize with Euclidean norm';
comment on function sparsevec(sparsevec,integer,boolean) is 'adjust sparsevec to typmod';
comment on function sparsevec_cmp(sparsevec,sparsevec) is 'less-equal-greater';
comment on function sparsevec_eq(sparsevec,sparsevec) is 'implementation of = operator';
comment on function sparsevec_ge(sparsevec,sparsevec) is 'implementation of >= operator';
comment on function sparsevec_gt(sparsevec,sparsevec) is 'implementation of > operator';
comment on function sparsevec_in(cstring,oid,integer) is 'I/O';
comment on function sparsevec_l2_squared_distance(sparsevec,sparsevec) is 'squared Euclidean distance';
comment on function sparsevec_le(sparsevec,sparsevec) is 'implementation of <= operator';
comment on function sparsevec_lt(sparsevec,sparsevec) is 'implementation of < operator';
comment on function sparsevec_ne(sparsevec,sparsevec) is 'implementation of <> operator';
comment on function sparsevec_negative_inner_product(sparsevec,sparsevec) is 'negative inner product';
comment on function sparsevec_out(sparsevec) is 'I/O';
comment on function sparsevec_recv(internal,oid,integer) is 'I/O';
comment on function sparsevec_send(sparsevec) is 'I/O';
comment on function sparsevec_to_halfvec(sparsevec,integer,boolean) is 'convert sparsevec to halfvec';
comment on function sparsevec_to_vector(sparsevec,integer,boolean) is 'convert sparsevec to vector';
comment on function sparsevec_typmod_in(cstring[]) is 'I/O typmod';
comment on function subvector(halfvec,integer,integer) is 'subvector';
comment on function subvector(vector,integer,integer) is 'subvector';
comment on function sum(halfvec) is 'sum as halfvec across all halfvec input values';
comment on function sum(vector) is 'sum as vector across all vector input values';
comment on function vector(vector,integer,boolean) is 'adjust vector to typmod';
comment on function vector_accum(double precision[],vector) is 'aggregate transition function';
comment on function vector_add(vector,vector) is 'implementation of + operator';
comment on function vector_avg(double precision[]) is 'aggregate final function';
comment on function vector_cmp(vector,vector) is 'less-equal-greater';
comment on function vector_combine(double precision[],double precision[]) is 'aggregate combine function';
comment on function vector_concat(vector,vector) is 'implementation of || operator';
comment on function vector_dims(halfvec) is 'number of dimensions';
comment on function vector_dims(vector) is 'number of dimensions';
comment on function vector_eq(vector,vector) is 'implementation of = operator';
comment on function vector_ge(vector,vector) is 'implementation of >= operator';
comment on function vector_gt(vector,vector) is 'implementation of > operator';
comment on function vector_in(cstring,oid,integer) is 'I/O';
comment on function vector_l2_squared_distance(vector,vector) is 'squared Euclidean distance';
comment on function vector_le(vector,vector) is 'implementation of <= operator';
comment on function vector_lt(vector,vector) is 'implementation of < operator';
comment on function vector_mul(vector,vector) is 'implementation of * operator';
comment on function vector_ne(vector,vector) is 'implementation of <> operator';
comment on function vector_negative_inner_product(vector,vector) is 'negative inner product';
comment on function vector_norm(vector) is 'Euclidean norm';
comment on function vector_out(vector) is 'I/O';
comment on function vector_recv(internal,oid,integer) is 'I/O';
comment on function vector_send(vector) is 'I/O';
comment on function vector_spherical_distance(vector,vector) is 'spherical distance';
comment on function vector_sub(vector,vector) is 'implementation of - operator';
comment on function vector_to_float4(vector,integer,boolean) is 'convert vector to float4 array';
comment on function vector_to_halfvec(vector,integer,boolean) is 'convert vector to halfvec';
comment on function vector_to_sparsevec(vector,integer,boolean) is 'convert vector to sparsevec';
comment on function vector_typmod_in(cstring[]) is 'I/O typmod';
