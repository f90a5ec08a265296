/**
 * Longer than most files since it is one thing: teams, libraries, gateways, keys, the change feed over them
 * (architecture §3), replicas, leaders and the audit log. A state is text without a check: a later build may know more
 * of them.
 */

/** A change of these columns of `table`, or of its rows, reaches the feed as (kind, the row's `ref`). */
function feeds(table: string, kind: string, ref: string, columns: readonly string[]): string {
  const row = (which: "old" | "new") => `(${columns.map((column) => `${which}.${column}`).join(", ")})`;
  return `
create constraint trigger ${table}_feed after insert or delete on ${table}
  deferrable initially deferred for each row execute function record_change('${kind}', '${ref}');
create constraint trigger ${table}_feed_update after update of ${columns.join(", ")} on ${table}
  deferrable initially deferred for each row when (${row("old")} is distinct from ${row("new")})
  execute function record_change('${kind}', '${ref}');
`;
}

/** An ended state stays, whoever writes and in whatever order (invariant I5). */
function keepsEnd(table: string, ended: readonly string[]): string {
  return `
create trigger ${table}_end_is_final before update of state on ${table}
  for each row when (old.state in (${ended.map((state) => `'${state}'`).join(", ")}) and new.state <> old.state)
  execute function refuse_revival();
`;
}

export const sql = `
-- A name for the transaction that is under way. PostgreSQL's own number would do until a dump is restored: then it begins
-- low again, and meets the numbers that the restored rows carry.
create function this_transaction() returns uuid language plpgsql as $$
declare
  known text := current_setting('keyplane.transaction', true);
begin
  if coalesce(known, '') = '' then
    known := set_config('keyplane.transaction', gen_random_uuid()::text, true);
  end if;
  return known::uuid;
end $$;

create table teams (
  id text primary key,
  cluster text not null,
  name text not null,
  owner_uid text,
  display_name text not null,
  state text not null,
  default_library_namespace text,
  default_library_name text,
  generation bigint not null,
  created_at timestamptz not null default clock_timestamp(),
  unique (cluster, name)
);

create table team_namespaces (
  cluster text not null,
  namespace text not null,
  team_id text not null references teams (id),
  primary key (cluster, namespace)
);
create index team_namespaces_of_team on team_namespaces (team_id);

create table team_members (
  team_id text not null references teams (id),
  role text not null,
  kind text not null,
  value text not null,
  primary key (team_id, kind, value, role)
);

create table libraries (
  id text primary key,
  cluster text not null,
  namespace text not null,
  name text not null,
  team_id text not null references teams (id),
  owner_uid text,
  display_name text not null,
  description text not null,
  deletion_policy text not null,
  state text not null,
  created_at timestamptz not null default clock_timestamp(),
  unique (cluster, namespace, name, team_id)
);
create index libraries_of_team on libraries (team_id);

create table gateways (
  id text primary key,
  cluster text not null,
  namespace text not null,
  name text not null,
  owner_uid text,
  team_id text not null references teams (id),
  public_id text not null constraint gateways_public_id unique,
  routes_only boolean not null,
  routes jsonb not null,
  state text not null,
  created_at timestamptz not null default clock_timestamp()
);
create unique index gateways_owner on gateways (cluster, owner_uid) where state = 'active';
create index gateways_of_team on gateways (team_id);

create table gateway_upstreams (
  gateway_id text not null references gateways (id) on delete cascade,
  name text not null,
  position integer not null,
  dialect text not null,
  base_url text not null,
  credential bytea,
  primary key (gateway_id, name)
);

create table keys (
  id text primary key,
  cluster text not null,
  namespace text not null,
  name text not null,
  owner_uid text,
  team_id text not null references teams (id),
  source text not null,
  state text not null,
  display_name text not null,
  scopes text[] not null,
  gateway_bound boolean not null,
  gateway_id text,
  library_mode text not null,
  mcp_default_library_id text,
  allowed_models text[],
  expires_at timestamptz,
  requests_per_minute integer,
  burst integer,
  generation bigint not null,
  rotation_requested_at timestamptz,
  rotation_revoke_old boolean not null default false,
  revocation_reason text,
  revoked_at timestamptz,
  revoked_seq bigint,
  created_at timestamptz not null default clock_timestamp(),
  check (gateway_bound or gateway_id is null),
  check ((requests_per_minute is null) = (burst is null))
);
create unique index keys_owner on keys (cluster, owner_uid) where state <> 'revoked';
create index keys_by_owner on keys (cluster, owner_uid, created_at desc);
create index keys_of_team on keys (team_id, id);
create index keys_of_gateway on keys (gateway_id) where gateway_id is not null;

-- No foreign key to libraries: a list whose library is gone shrinks, and does not become "all" (architecture §3).
create table key_libraries (
  key_id text not null references keys (id),
  library_id text not null,
  primary key (key_id, library_id)
);
create index key_libraries_of_library on key_libraries (library_id);

create table key_versions (
  key_id text not null references keys (id),
  number integer not null,
  digest bytea not null constraint key_versions_digest unique check (octet_length(digest) = 32),
  prefix text not null,
  state text not null,
  source_kind text not null,
  minted_at timestamptz not null,
  activated_at timestamptz,
  retire_at timestamptz,
  retiring_slot smallint,
  expires_at timestamptz,
  rotation_trigger text,
  changed_tx uuid not null default this_transaction(),
  primary key (key_id, number),
  check (state <> 'retiring' or (retiring_slot is not null and retiring_slot in (1, 2) and retire_at is not null))
);
-- Invariant I1.
create unique index key_versions_one_active on key_versions (key_id) where state = 'active';
create unique index key_versions_two_retiring on key_versions (key_id, retiring_slot) where state = 'retiring';

-- Written all the time: no trigger, no foreign key, no index but the key, so that updates stay on their page.
create table key_usage (
  key_id text not null,
  version integer not null,
  last_used_at timestamptz not null,
  last_address text,
  last_user_agent text,
  primary key (key_id, version)
) with (fillfactor = 70);

create table feed (
  head bigint not null,
  only_one boolean not null default true check (only_one) unique
);
insert into feed (head) values (0);

create table changes (
  seq bigint primary key,
  id uuid not null default gen_random_uuid(),
  tx uuid not null,
  kind text not null,
  ref text not null,
  unique (tx, kind, ref)
);

create table replicas (
  id text primary key,
  acked_seq bigint not null,
  registered_at timestamptz not null default clock_timestamp(),
  seen_at timestamptz not null default clock_timestamp()
);

create table leaders (
  cluster text primary key,
  epoch bigint not null
);

create table audit_events (
  id bigint generated always as identity primary key,
  at timestamptz not null,
  kind text not null,
  key_id text,
  team_id text,
  actor text not null,
  detail jsonb not null
);
create index audit_events_of_key on audit_events (key_id, id);
create index audit_events_by_time on audit_events (at);

-- Runs at commit, when every row lock is held; the feed's row is the last lock, and makes seq commit-ordered. One
-- change for each entity of a transaction, and one notification (equal ones fold). The transaction's name is asked for
-- once: in the condition itself, being volatile, it would be asked for with each change that was ever made.
create function record_change() returns trigger language plpgsql as $$
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
      perform pg_notify('keyplane_changes', '');
    end if;
  end loop;
  return null;
end $$;

-- The receipt of a revocation is the seq of its change. By its name it comes after keys_feed_update.
create function record_revocation() returns trigger language plpgsql as $$
declare
  this uuid := this_transaction();
begin
  update keys set revoked_seq = (
    select seq from changes where tx = this and kind = 'key' and ref = new.id
  ) where id = new.id;
  return null;
end $$;

create function refuse_revival() returns trigger language plpgsql as $$
begin
  raise exception '% is final', old.state using errcode = 'KPEND';
end $$;

create function stamp_state_change() returns trigger language plpgsql as $$
begin
  new.changed_tx := this_transaction();
  return new;
end $$;
create trigger key_versions_stamp before update of state on key_versions
  for each row when (old.state is distinct from new.state) execute function stamp_state_change();

${keepsEnd("keys", ["revoked"])}
${keepsEnd("key_versions", ["retired", "voided", "revoked"])}

${feeds("teams", "team", "id", ["cluster", "name", "state", "default_library_namespace", "default_library_name"])}
${feeds("team_namespaces", "team", "team_id", ["cluster", "namespace", "team_id"])}
${feeds("team_members", "team", "team_id", ["team_id", "role", "kind", "value"])}
${feeds("libraries", "library", "id", ["cluster", "namespace", "name", "team_id", "state"])}
${feeds("gateways", "gateway", "id", ["cluster", "namespace", "team_id", "public_id", "routes_only", "routes", "state"])}
${feeds("gateway_upstreams", "gateway", "gateway_id", [
  "gateway_id",
  "name",
  "position",
  "dialect",
  "base_url",
  "credential",
])}
${feeds("keys", "key", "id", [
  "cluster",
  "namespace",
  "team_id",
  "state",
  "scopes",
  "gateway_bound",
  "gateway_id",
  "library_mode",
  "mcp_default_library_id",
  "allowed_models",
  "expires_at",
  "requests_per_minute",
  "burst",
  "rotation_requested_at",
])}
create constraint trigger keys_revocation after update of state on keys
  deferrable initially deferred for each row when (new.state = 'revoked' and old.state <> 'revoked')
  execute function record_revocation();
${feeds("key_libraries", "key", "key_id", ["key_id", "library_id"])}
${feeds("key_versions", "key", "key_id", [
  "key_id",
  "number",
  "digest",
  "prefix",
  "state",
  "source_kind",
  "retire_at",
  "expires_at",
])}

-- A version as a replica's index holds it: KeyRecord, but for the names. What no longer resolves grants nothing.
create view key_records as
select
  v.key_id,
  v.number as version,
  v.digest,
  v.prefix,
  v.changed_tx,
  v.source_kind <> 'minted' as is_foreign,
  k.team_id,
  k.namespace,
  (k.namespace = '' or coalesce(n.team_id = k.team_id, false)) and t.state = 'active' as team_holds_namespace,
  k.state,
  v.state as version_state,
  (extract(epoch from least(k.expires_at, v.expires_at, case when v.state = 'retiring' then v.retire_at end))
    * 1000)::float8 as expires_ms,
  array_to_string(k.scopes, ' ') as scopes,
  case when k.gateway_bound then coalesce(g.id, '') end as bound_gateway_id,
  case when k.library_mode <> 'all' then coalesce((
    select string_agg(l.id, ' ' order by l.id)
    from key_libraries kl join libraries l on l.id = kl.library_id
    where kl.key_id = k.id and l.team_id = k.team_id and l.state = 'active'
  ), '') end as library_ids,
  k.mcp_default_library_id,
  d.id as team_default_library_id,
  k.allowed_models,
  k.requests_per_minute,
  k.burst
from key_versions v
join keys k on k.id = v.key_id
join teams t on t.id = k.team_id
left join team_namespaces n on n.cluster = k.cluster and n.namespace = k.namespace
left join gateways g on g.id = k.gateway_id and g.team_id = k.team_id and g.state = 'active'
left join libraries d on d.cluster = t.cluster and d.namespace = t.default_library_namespace
  and d.name = t.default_library_name and d.team_id = t.id and d.state = 'active';
`;
