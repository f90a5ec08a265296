/**
 * The whole schema: tables, functions, triggers, the view of records, indexes. Longer than most files since it is one
 * thing. A state is text without a check: a later build may know more of them. A column that came later stands last,
 * where a database that was carried over has it.
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

/** An ended state stays, whichever process writes and in whatever order (invariant I5). */
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

-- Ids that sort by their time. PostgreSQL has uuidv7() from version 18 on, and 15 is the oldest that is promised (threats
-- c64): elsewhere the twelve bits behind the milliseconds go on counting, as there.
do $$ begin
  if to_regprocedure('pg_catalog.uuidv7()') is not null then
    create function new_atom_id() returns uuid language sql volatile parallel safe as 'select pg_catalog.uuidv7()';
  else
    create function new_atom_id() returns uuid language sql volatile parallel safe as '
      select encode(
        substring(int8send(us / 1000) from 3) || int2send((x''7000''::integer + us % 1000 * 4096 / 1000)::int2)
          -- The variant, and 62 random bits.
          || substring(uuid_send(gen_random_uuid()) from 9),
        ''hex'')::uuid
      from (select (extract(epoch from clock_timestamp()) * 1000000)::bigint as us offset 0) now';
  end if;
end $$;

-- What atoms are looked up by beside their words: a space sets these terms apart from words, which hold none.
create function atom_terms(team_id text, library_id text, tags text[]) returns tsvector
  language sql immutable parallel safe
  return array_to_tsvector(array['team ' || team_id, 'library ' || library_id]
    || (select coalesce(array_agg('tag ' || tag), '{}') from unnest(tags) tag));

-- Teams, libraries and gateways.

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
  -- How far its deletion is, since nobody can tell from what is left how much there was (threats c52).
  deleted_atoms bigint not null default 0,
  unique (cluster, namespace, name, team_id)
);

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

create table gateway_upstreams (
  gateway_id text not null references gateways (id) on delete cascade,
  name text not null,
  position integer not null,
  dialect text not null,
  base_url text not null,
  credential bytea,
  primary key (gateway_id, name)
);

-- Keys.

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
  -- As the management API made it; null for a declared key, whose declaration has it. It never holds a secret or a digest.
  spec jsonb,
  -- How many calls it may have under way at once; null for the usual bound.
  concurrent integer,
  check (gateway_bound or gateway_id is null),
  check ((requests_per_minute is null) = (burst is null))
);

-- No foreign key to libraries: a list whose library is gone shrinks, and does not become "all" (architecture §3).
create table key_libraries (
  key_id text not null references keys (id),
  library_id text not null,
  primary key (key_id, library_id)
);

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
  -- Which loss of its Secret it heals, and when that was noticed.
  heals text,
  heals_at timestamptz,
  primary key (key_id, number),
  constraint key_versions_retiring check (
    state <> 'retiring' or (retiring_slot is not null and retiring_slot between 1 and 4 and retire_at is not null)
  )
);

-- Written all the time: no trigger, no foreign key, no index but the key, so that updates stay on their page.
create table key_usage (
  key_id text not null,
  version integer not null,
  last_used_at timestamptz not null,
  last_address text,
  last_user_agent text,
  primary key (key_id, version)
) with (fillfactor = 70);

-- What a key's Secret was found to be, by the version of the Secret at which it was: as long as it has that version, it
-- needs no reading. A record and no state: no decision of a server depends on it, and losing it costs a read.
create table key_secrets (
  key_id text primary key references keys (id),
  resource_version text not null,
  number integer not null,
  content text not null,
  -- Who else had a hand in it, so that a person can be told who keeps undoing it.
  marks text[] not null default '{}'
);

-- What a creation that is repeated finds. Key and request are kept as their SHA-256; the object is null for as long as it
-- is being made.
create table idempotency_keys (
  caller text not null,
  key bytea not null,
  request bytea not null,
  object_id text,
  made_at timestamptz not null default clock_timestamp(),
  primary key (caller, key)
);

-- The change feed, and who reads it.

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
  seen_at timestamptz not null default clock_timestamp(),
  -- Up to when the uses that it noted are written; null until the first time: nothing is known of what it has in memory.
  usage_flushed_at timestamptz,
  -- The fingerprints of the keys that it has; null where it does not say.
  encryption_keys text[],
  -- Whether it takes a bootstrap token although an issuer lets people in: the doctor asks.
  bootstrap_beside_issuer boolean not null default false
);

-- Up to when there may have been uses that nobody will ever know of: a replica died with them.
create table usage_lost (
  until timestamptz,
  only_one boolean not null default true check (only_one) unique
);
insert into usage_lost (until) values (null);

-- Under which encryption key credentials are stored, by its fingerprint (threats c54).
create table encryption_key (
  fingerprint text not null,
  since timestamptz not null default clock_timestamp(),
  only_one boolean not null default true check (only_one) unique
);

create table leaders (
  cluster text primary key,
  epoch bigint not null,
  -- A random name beside the number: a database that was put back in time gives its numbers again (threats c59).
  term uuid not null default gen_random_uuid()
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

-- Atoms, which go with their library's row: its deletion needs no second statement.

create table atoms (
  id uuid primary key default new_atom_id(),
  library_id text not null references libraries (id) on delete cascade,
  team_id text not null,
  content text not null,
  tags text[] not null,
  source text,
  importance double precision not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  revision integer not null default 1,
  search tsvector not null generated always as (to_tsvector('english', content)) stored
);

create table atom_revisions (
  atom_id uuid not null references atoms (id) on delete cascade,
  revision integer not null,
  content text not null,
  tags text[] not null,
  source text,
  importance double precision not null,
  updated_at timestamptz(3) not null,
  primary key (atom_id, revision)
);

-- No plan depends on statistics about the wide columns, and to gather them reads every word of thousands of atoms.
alter table atoms
  alter column content set statistics 0,
  alter column tags set statistics 0,
  alter column source set statistics 0,
  alter column search set statistics 0;

-- What triggers do.

-- Runs at commit, when every row lock is held; the feed's row is the last lock, and makes seq commit-ordered. One
-- change for each entity of a transaction, and one notification (equal ones fold). The transaction's name is asked for
-- once: in the condition itself, being volatile, it would be asked for with each change that was ever made.
-- A notification is a hint: it is left out while the queue is half full, since a full one fails every transaction that
-- notifies (threats c33), and the replicas see the change with their next beat.
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
      if pg_notification_queue_usage() < 0.5 then
        perform pg_notify('keyplane_changes', '');
      end if;
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

-- No writer can forget a revision: the one that an update replaces is kept.
create function keep_atom_revision() returns trigger language plpgsql as $$
begin
  insert into atom_revisions (atom_id, revision, content, tags, source, importance, updated_at)
  values (old.id, old.revision, old.content, old.tags, old.source, old.importance, old.updated_at);
  return new;
end $$;

-- Triggers.

create trigger key_versions_stamp before update of state on key_versions
  for each row when (old.state is distinct from new.state) execute function stamp_state_change();
create trigger atoms_keep_revision before update on atoms
  for each row when (old.revision is distinct from new.revision) execute function keep_atom_revision();

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
  "concurrent",
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
-- is_foreign: its secret came from elsewhere, and may have any format.
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
  k.burst,
  k.concurrent
from key_versions v
join keys k on k.id = v.key_id
join teams t on t.id = k.team_id
left join team_namespaces n on n.cluster = k.cluster and n.namespace = k.namespace
left join gateways g on g.id = k.gateway_id and g.team_id = k.team_id and g.state = 'active'
left join libraries d on d.cluster = t.cluster and d.namespace = t.default_library_namespace
  and d.name = t.default_library_name and d.team_id = t.id and d.state = 'active';

-- Indexes.

create index team_namespaces_of_team on team_namespaces (team_id);
-- Every request of a member asks for its roles.
create index team_members_by_value on team_members (kind, value);
create index libraries_of_team on libraries (team_id);
create unique index gateways_owner on gateways (cluster, owner_uid) where state = 'active';
create index gateways_of_team on gateways (team_id);

create unique index keys_owner on keys (cluster, owner_uid) where state <> 'revoked';
create index keys_by_owner on keys (cluster, owner_uid, created_at desc);
create index keys_of_team on keys (team_id, id);
create index keys_of_gateway on keys (gateway_id) where gateway_id is not null;
-- A name of a key that the management API made is one key's as long as it lives.
create unique index keys_of_api_by_name on keys (team_id, namespace, name) where cluster = 'api' and state <> 'revoked';
create index key_libraries_of_library on key_libraries (library_id);
-- Invariant I1.
create unique index key_versions_one_active on key_versions (key_id) where state = 'active';
create unique index key_versions_four_retiring on key_versions (key_id, retiring_slot) where state = 'retiring';
-- An import asks whether its prefix identifies another key already.
create index key_versions_by_prefix on key_versions (prefix);
create index idempotency_keys_by_time on idempotency_keys (made_at);

create index audit_events_of_key on audit_events (key_id, id);
create index audit_events_by_time on audit_events (at);

create index atoms_of_library on atoms (library_id, created_at desc, id desc);
create index atoms_by_importance on atoms (library_id, importance desc, updated_at desc, id desc);
create index atoms_of_team on atoms (team_id, created_at desc, id desc);
-- One index for what a search looks for: the words of an atom together with its team, its library and its tags. So a
-- search merges the lists of its own team's atoms alone, and costs nothing for what another team stores. Its list of what
-- is yet to be sorted in is kept short, because a save that finds it full sorts in all of it.
create index atoms_terms on atoms using gin ((search || atom_terms(team_id, library_id, tags)))
  with (gin_pending_list_limit = 256);
-- To gather statistics of it reads every word of thousands of atoms, a second's work on the embedded database.
alter index atoms_terms alter column 1 set statistics 0;
`;
