/**
 * The whole schema, by table: each with its functions, triggers and indexes. Longer than most files since it is one
 * thing. A state is text without a check: a later build may know more of them. A column that came later stands last,
 * where a database that was carried over has it, and has a trigger for the feed of its own.
 */

/** Returns triggers that report changes of these columns of `table`, or of its rows, to the feed as (kind, `ref`). */
function feeds(table: string, kind: string, ref: string, columns: readonly string[]): string {
  return `
create constraint trigger ${table}_feed after insert or delete on ${table}
  deferrable initially deferred for each row execute function record_change('${kind}', '${ref}');
${feedsUpdate(table, "update", kind, ref, columns)}`;
}

/** Returns the trigger for changes of these columns alone. */
function feedsUpdate(table: string, name: string, kind: string, ref: string, columns: readonly string[]): string {
  const row = (which: "old" | "new") => `(${columns.map((column) => `${which}.${column}`).join(", ")})`;
  return `
create constraint trigger ${table}_feed_${name} after update of ${columns.join(", ")} on ${table}
  deferrable initially deferred for each row when (${row("old")} is distinct from ${row("new")})
  execute function record_change('${kind}', '${ref}');
`;
}

/** Returns a trigger that keeps an ended state, whichever process writes and in whatever order (invariant I5). */
function keepsEnd(table: string, ended: readonly string[]): string {
  return `
create trigger ${table}_end_is_final before update of state on ${table}
  for each row when (old.state in (${ended.map((state) => `'${state}'`).join(", ")}) and new.state <> old.state)
  execute function refuse_revival();
`;
}

/** Columns for the use of models by a key, by gateway, route and model. */
const TOKENS = `key_id text not null,
  slot timestamptz not null,
  gateway_id text not null,
  -- Empty where no route was named.
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
  tool_calls bigint not null`;

/** Columns for what is counted in other units than tokens. */
const UNIT_COLUMNS = ["images", "seconds", "characters"].map((name) => `${name} bigint not null default 0`);
const UNITS = UNIT_COLUMNS.join(",\n  ");

/** Characters of words, folded, and of scripts written without spaces: as regular expressions of PostgreSQL. */
const LETTER = "[a-z0-9\\u00c0-\\u00d6\\u00d8-\\u00f6\\u00f8-\\u1fff\\u2c00-\\u2dff\\ua640-\\uabff]";
const CJK =
  "[\\u3005-\\u3007\\u3041-\\u3096\\u309d-\\u309f\\u30a1-\\u30fa\\u30fc-\\u30ff\\u3400-\\u4dbf\\u4e00-\\u9fff\\uac00-\\ud7af\\uf900-\\ufaff\\U00020000-\\U0003ffff]";

const QUEUE_EMBEDDING = `create or replace function queue_embedding() returns trigger language plpgsql as $$
begin
  insert into embedding_queue (atom_id, library_id, revision)
  select new.id, e.library_id, new.revision from library_embeddings e
  where e.library_id = case when starts_with(new.library_id, 'part_')
      then (select parent_id from libraries where id = new.library_id) else new.library_id end
    and not e.is_ended
  on conflict (atom_id) do update set revision = excluded.revision, library_id = excluded.library_id, tries = 0,
    due_at = excluded.due_at, refusal = null;
  return null;
end $$;`;

const FACT_TEXT = `create function fact_text(facts jsonb) returns text
  language sql immutable parallel safe
  return coalesce((select lower(string_agg(value, E'\\n' order by key)) from jsonb_each_text(facts)), '');`;

/** Accents of Latin, Greek and Cyrillic letters, points of Hebrew and Arabic, and the stroke that lengthens a letter. */
const ACCENTS = "\\u0300-\\u036f\\u0591-\\u05bd\\u05bf\\u05c1\\u05c2\\u05c4\\u05c5\\u05c7\\u0640\\u064b-\\u065f\\u0670";
/** The digits of scripts that have their own, each script's from zero to nine; by the code points of their zeros. */
const DIGITS = [
  ...[0x660, 0x6f0, 0x7c0, 0x966, 0x9e6, 0xa66, 0xae6, 0xb66, 0xbe6, 0xc66, 0xce6, 0xd66, 0xe50, 0xed0, 0xf20, 0x1040],
  ...[0x17e0, 0x1810],
]
  .map((zero) => Array.from({ length: 10 }, (_, digit) => String.fromCodePoint(zero + digit)).join(""))
  .join("");

/** Function that folds what is written. */
const FOLDED_TEXT = `-- Without case, accents, points and compatibility forms, in letters and digits that a keyboard of another language has.
-- What one character stands for a whole phrase for is left out. Where for 200 characters there is no space and none of Latin, Han, Kana and
-- Hangul, the text is parted: to put many marks behind one letter in their order takes the square of their number. By no
-- collation of the database's: the same everywhere.
create or replace function folded_text(written text) returns text
  language sql immutable parallel safe strict
  return case when octet_length(written) = length(written) then lower(written collate "C")
    else replace(replace(replace(replace(translate(lower(normalize(regexp_replace(
        normalize(regexp_replace(regexp_replace(written, '[\\u3200-\\u33ff\\ufb50-\\ufdff]', ' ', 'g'),
          '[^\\u0001-\\u02ff\\u3041-\\u3096\\u309b-\\u9fff\\uac00-\\ud7a3]{200}', '\\& ', 'g'), NFKD),
        '[${ACCENTS}]+', '', 'g'), NFC) collate "C"),
      'АБВГДЕЖЗИЙКЛМНОПРСТУФХЦЧШЩЪЫЬЭЮЯЂЄЅІЇЈЉЊЋЏҐΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣΤΥΦΧΨΩςØøĐđÐðŁłĦħŦŧıŊŋÆŒÞ${DIGITS}یک',
      'абвгдежзийклмнопрстуфхцчшщъыьэюяђєѕіїјљњћџґαβγδεζηθικλμνξοπρστυφχψωσooddddllhhttinnæœþ${"0123456789".repeat(DIGITS.length / 10)}يك'),
      'ß', 'ss'), 'æ', 'ae'), 'œ', 'oe'), 'þ', 'th') end;`;

/** Functions for the parts of words that atoms are looked up by. */
const PARTS = `-- Of each word its first two characters and each three that follow one another; of a script without spaces each two. A
-- run of more than 40 is cut into pieces that overlap: to count characters from a long one's beginning takes the longer,
-- the further one counts. To part a text of ASCII at what is no letter takes half as long as to look for its words. A
-- tsvector takes a mebibyte of terms, which 70,000 are never.
create or replace function text_parts(written text) returns tsvector
  language sql immutable parallel safe strict
  return (
    select array_to_tsvector(coalesce(array_agg('part ' || part), '{}')) from (
      select substr(word, at, size) as part
      from (
        select '^' || word as word, 3 as size
        from string_to_table(
          regexp_replace(regexp_replace(folded_text(written), '[^a-z0-9]+', ' ', 'g'), '([a-z0-9]{40})([a-z0-9]{2})', '\\1\\2 \\2', 'g'),
          ' ') word
        where octet_length(written) = length(written) and word <> ''
        union
        select case when token[2] is null then '^' || token[1] else token[2] end, case when token[2] is null then 3 else 2 end
        from regexp_matches(
          regexp_replace(folded_text(written), '(${LETTER}{40})(${LETTER}{2})|(${CJK}{40})(${CJK})', '\\1\\2\\3\\4 \\2\\4', 'g'),
          '(${LETTER}+)|(${CJK}+)', 'g') token
        where octet_length(written) <> length(written)
      ) words, generate_series(1, greatest(1, length(word) - case when size = 3 then 2 else 0 end)) at
      limit 70000
    ) parts
  );

-- What stands in an identifier between two capital letters is a word besides; most texts have none, which is soon seen. Of
-- a long atom its beginning: to save 64 kB with all of its parts would hold the embedded database for longer than others
-- wait.
create or replace function atom_parts(team_id text, library_id text, tags text[], content text, source text) returns tsvector
  language sql immutable parallel safe
  return atom_terms(team_id, library_id, tags) || text_parts(left(content, 8192) || ' ' || coalesce(source, '') || ' ' || (
    select coalesce(string_agg(tag, ' '), '') from unnest(tags) tag
  ) || ' ' || case when left(content, 8192) ~ '[a-z0-9][A-Z]' then (
    select coalesce(string_agg(regexp_replace(name[1], '([a-z0-9])([A-Z])', '\\1 \\2', 'g'), ' '), '')
    from regexp_matches(left(content, 8192), '[A-Za-z0-9]*[a-z0-9][A-Z][A-Za-z0-9]*', 'g') name
  ) else '' end);
`;

const PARTS_INDEX = `atoms using gin (atom_parts(team_id, library_id, tags, content, source))
  with (gin_pending_list_limit = 256)`;
const WITHOUT_STATISTICS = "alter index atoms_parts alter column 1 set statistics 0";

const KEPT_OBJECTS = `
-- Whose the responses and conversations are that upstreams keep (docs/decisions/stored-responses.md): an upstream tells
-- apart credentials alone, and teams may share one. By the SHA-256 of format, kind and id.
create table kept_objects (
  digest bytea not null check (octet_length(digest) = 32),
  -- Of the upstream, with the path of its API.
  origin text not null,
  -- Null where the upstream has given the id twice, to two teams: the object is no team's.
  team_id text,
  -- Digest of the conversation that it is in.
  parent bytea,
  -- Null while its upstream keeps it without an end.
  ends_at timestamptz,
  -- Null until what it has used is counted, or for ever where it uses nothing.
  charged_at timestamptz,
  primary key (digest, origin)
);
create index kept_objects_by_end on kept_objects (ends_at) where ends_at is not null;
create index kept_objects_of_parent on kept_objects (parent, origin) where parent is not null;
`;

const INCARNATION = `-- Of a restored dump another one, also where the database's number is the same: on another server, or in a database whose
-- tables were dropped before. Not every provider allows to ask for the server's identifier.
create function incarnation() returns text language plpgsql stable as $$
begin
  return (select system_identifier from pg_control_system()) || '-' || 'leaders'::regclass::oid;
exception
  -- It may be asked, and fails this once.
  when insufficient_resources or io_error or internal_error then raise;
  when others then return '-' || 'leaders'::regclass::oid;
end $$;`;

/** Constraint by hashes: an index of the scopes themselves takes no list of some hundred namespaces (threats c128). */
const ONE_FOR_EACH_SCOPE = "constraint leaders_cluster exclude using hash (cluster with =)";

/**
 * Script that makes this version from version 58. In version 58, atoms for servers that embed passages and parts waited
 * in the queue with a date of their own, replicas reported which notes of keys they keep, and keys had no facts.
 */
export const carryOver = `
-- First, as a controller's every write begins with a lock of it: behind other tables, each would wait for the other.
alter table leaders drop constraint leaders_pkey, add ${ONE_FOR_EACH_SCOPE};
${QUEUE_EMBEDDING}
do $$ begin
  if to_regprocedure('keep_passages()') is not null then
    create or replace function keep_passages() returns trigger language plpgsql as '
begin
  delete from atom_passages where library_id = new.library_id and atom_id = new.atom_id
    and (space, revision) <> (new.space, new.revision);
  return null;
end ';
  end if;
end $$;
update embedding_queue set due_at = clock_timestamp() where due_at = '9999-01-01T00:00:00Z';
alter table replicas alter column notes_networks set default true, alter column notes_libraries set default true;
drop function networks_not_known cascade;
drop function libraries_not_known cascade;
alter table keys add column facts jsonb not null default '{}';
${FACT_TEXT}
alter table gateways add column operations text[] not null default '{generate,embed,models}';
${feedsUpdate("gateways", "operations", "gateway", "id", ["operations"])}
${["key_tokens", "key_token_hours", "key_token_days"]
  .map((table) => `alter table ${table} ${UNIT_COLUMNS.map((column) => `add column ${column}`).join(", ")};`)
  .join("\n")}
${KEPT_OBJECTS}
${FOLDED_TEXT}
${PARTS}
alter index if exists atoms_parts rename to atoms_parts_before;
alter table atoms set (toast_tuple_target = 4080);
alter table gateway_upstreams add column takes_credential boolean not null default true;
${feedsUpdate("gateway_upstreams", "takes_credential", "gateway", "gateway_id", ["takes_credential"])}
${INCARNATION}
alter table sessions add column incarnation text not null default incarnation();
alter table sign_in_links add column incarnation text not null default incarnation();
alter table key_policies add column made_teams jsonb not null default '{}';
`;

/**
 * Indexes over parts of the facts that declarations state of keys for people, like the index of names; and over parts of
 * words, which is made anew where another version's functions took words apart (threats c129).
 */
export const indexes = [
  { name: "atoms_parts", on: PARTS_INDEX, afterwards: WITHOUT_STATISTICS, replaces: "atoms_parts_before" },
  {
    name: "keys_fact_terms",
    on: "keys using gin (key_terms(team_id, state, fact_text(facts))) with (fastupdate = off) where facts <> '{}'",
  },
];

export const sql = `
-- The change feed, and who reads it.

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

create table feed (
  head bigint not null,
  only_one boolean not null default true check (only_one) unique,
  -- Of audit_feed.
  audit_head bigint not null default 0
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

create table replicas (
  id text primary key,
  acked_seq bigint not null,
  registered_at timestamptz not null default clock_timestamp(),
  seen_at timestamptz not null default clock_timestamp(),
  -- Up to when the uses that it noted are written; null until the first time, when its memory may hold any.
  usage_flushed_at timestamptz,
  -- The fingerprints of the keys that it has; null if it does not say.
  encryption_keys text[],
  -- Whether it takes a bootstrap token although an issuer lets people in: the doctor asks.
  bootstrap_beside_issuer boolean not null default false,
  -- The lease that it was started with: a process that waits for it may have to wait so long.
  lease_ms integer not null default 5000,
  -- The time by its own clock at its last sign of life: beside seen_at the doctor sees a clock that is wrong.
  own_time timestamptz(3),
  -- A server of version 58 asks for both of every replica. This build needs neither: the next migration drops them.
  notes_networks boolean not null default true,
  notes_libraries boolean not null default true
);

-- Up to when there may have been uses of which no record is left: a replica died with them.
create table usage_lost (
  until timestamptz,
  only_one boolean not null default true check (only_one) unique
);
insert into usage_lost (until) values (null);

-- Since when networks are noted, and libraries.
create table networks_known (
  since timestamptz not null default clock_timestamp(),
  only_one boolean not null default true check (only_one) unique
);
insert into networks_known default values;

create table libraries_known (
  since timestamptz not null default clock_timestamp(),
  only_one boolean not null default true check (only_one) unique
);
insert into libraries_known default values;

create table leaders (
  cluster text not null,
  epoch bigint not null,
  -- A random name beside the number: a database that was put back in time gives its numbers again (threats c59).
  term uuid not null default gen_random_uuid(),
  ${ONE_FOR_EACH_SCOPE}
);

-- What people call the clusters that keys are declared in, so that pages show it in place of an id. A record and no
-- state: no decision depends on it.
create table cluster_names (
  cluster text primary key,
  name text not null
);

-- Under which encryption key credentials are stored, by its fingerprint (threats c54).
create table encryption_key (
  fingerprint text not null,
  since timestamptz not null default clock_timestamp(),
  only_one boolean not null default true check (only_one) unique
);

-- What a creation that is repeated finds. Key and request are kept as their SHA-256; the object is null for as long as it
-- is being made, and once it is deleted.
create table idempotency_keys (
  caller text not null,
  key bytea not null,
  request bytea not null,
  object_id text,
  made_at timestamptz not null default clock_timestamp(),
  primary key (caller, key)
);
create index idempotency_keys_by_time on idempotency_keys (made_at);

-- Teams.

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
  -- What the team wants done with a key that was reported as leaked.
  leak_action text not null default 'Alert',
  -- Null for anywhere.
  allowed_cidrs text[],
  -- What all calls of the team have together; null for no limit.
  limits jsonb,
  -- Of its declaration; none of a team that was made by hand.
  labels jsonb not null default '{}',
  -- Of the policies that select the team, each with whose it is; null for none.
  shared_budgets jsonb,
  -- What the controller found, as the object's status has it; null for what no controller has looked at, and for what the
  -- API made.
  conditions jsonb,
  unique (cluster, name)
);
${feeds("teams", "team", "id", ["cluster", "name", "state", "default_library_namespace", "default_library_name"])}
${feedsUpdate("teams", "networks", "team", "id", ["allowed_cidrs"])}
${feedsUpdate("teams", "limits", "team", "id", ["limits"])}
${feedsUpdate("teams", "shared_budgets", "team", "id", ["shared_budgets"])}

create table team_namespaces (
  cluster text not null,
  namespace text not null,
  team_id text not null references teams (id),
  primary key (cluster, namespace)
);
create index team_namespaces_of_team on team_namespaces (team_id);
${feeds("team_namespaces", "team", "team_id", ["cluster", "namespace", "team_id"])}

create table team_members (
  team_id text not null references teams (id),
  role text not null,
  kind text not null,
  value text not null,
  -- Which libraries the member's tokens reach over MCP: a list of namespace and name, or null for all of the team's.
  library_refs jsonb,
  primary key (team_id, kind, value, role)
);
-- Every request of a member asks for its roles.
create index team_members_by_value on team_members (kind, value);
${feeds("team_members", "team", "team_id", ["team_id", "role", "kind", "value", "library_refs"])}

-- Whose tokens that were issued until then a team's memory refuses.
create table revoked_subjects (
  team_id text not null references teams (id),
  subject text not null,
  revoked_at timestamptz not null default clock_timestamp(),
  primary key (team_id, subject)
);
create constraint trigger revoked_subjects_feed after insert or update or delete on revoked_subjects
  deferrable initially deferred for each row execute function record_change('team', 'team_id');

-- The webhooks that are notified of what happens to a team's keys.
create table team_webhooks (
  id text primary key,
  team_id text not null references teams (id),
  url text not null,
  events text[] not null,
  -- Sealed with the id; null if there is none that could be read.
  secret bytea,
  unique (team_id, url)
);

-- A notification that is to be sent, or was: written in the transaction of what happened. No foreign key: it outlives its
-- webhook.
create table webhook_deliveries (
  -- Sent along with every try: a receiver knows by it what it gets twice.
  id text primary key,
  webhook_id text not null,
  team_id text not null,
  url text not null,
  event text not null,
  -- Null where it is about the team, such as its budget.
  key_id text,
  at timestamptz not null default clock_timestamp(),
  data jsonb not null,
  state text not null default 'pending',
  tries integer not null default 0,
  -- When it is tried next, and during a try, when another server may try it: null for one that is over.
  due_at timestamptz default clock_timestamp(),
  -- Of the server that tries it.
  claim uuid,
  tried_at timestamptz,
  -- The status of the last answer, or what was in its place.
  status integer,
  error text,
  check ((state = 'pending') = (due_at is not null))
);
create index webhook_deliveries_due on webhook_deliveries (webhook_id, due_at) where state = 'pending';
create index webhook_deliveries_of_team on webhook_deliveries (team_id, at, id);
create index webhook_deliveries_by_time on webhook_deliveries (at, id);
create index webhook_deliveries_failed on webhook_deliveries (team_id, at, id) where state = 'failed';
create index webhook_deliveries_failed_by_time on webhook_deliveries (at, id) where state = 'failed';

-- The policies of platforms, as the controller of the cluster last found them, so that servers hold to them what is made
-- by hand (docs/decisions/key-policies.md). No decision on a request depends on them, so that the feed has none.
create table key_policies (
  cluster text not null,
  uid text not null,
  name text not null,
  -- Null for one that the controller cannot read.
  spec jsonb,
  -- Since when it is for each of the cluster's teams, and since when each of its rules is as it is.
  teams jsonb not null,
  rules jsonb not null,
  -- Since when its selector is as it is: for teams that no cluster declares and that were made since.
  selector_since timestamptz not null,
  -- Since when it is for each of these teams, by id, of those that were there when it was last stored.
  made_teams jsonb not null default '{}',
  primary key (cluster, uid)
);

-- Libraries. What a subject has saved in one is a part of it (docs/decisions/subjects.md): a row of its own in the state
-- of_subject. Its atoms are apart from the others' in each index. A part whose subject was erased is deleted as a library
-- is, and names none.

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
  -- How far its deletion is, which what is left does not show (threats c52).
  deleted_atoms bigint not null default 0,
  -- Of a part: whose it is, and of which library.
  parent_id text references libraries (id),
  subject text,
  -- As a team's.
  conditions jsonb,
  unique (cluster, namespace, name, team_id)
);
-- However many parts there are beside them: an index of all would be as good to a planner without statistics.
create unique index libraries_of_subjects on libraries (parent_id, subject) where parent_id is not null;
create index libraries_in_service on libraries (team_id, id) where state = 'active';
create index libraries_to_delete on libraries ((parent_id is null), id) where state = 'deleted';
-- No decision depends on a part.
create constraint trigger libraries_feed after insert on libraries
  deferrable initially deferred for each row when (new.parent_id is null)
  execute function record_change('library', 'id');
create constraint trigger libraries_feed_delete after delete on libraries
  deferrable initially deferred for each row when (old.parent_id is null)
  execute function record_change('library', 'id');
create constraint trigger libraries_feed_update after update of cluster, namespace, name, team_id, state on libraries
  deferrable initially deferred for each row
  when (new.parent_id is null and (old.cluster, old.namespace, old.name, old.team_id, old.state)
    is distinct from (new.cluster, new.namespace, new.name, new.team_id, new.state))
  execute function record_change('library', 'id');

-- Gateways.

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
  created_at timestamptz not null default clock_timestamp(),
  -- As a team's.
  conditions jsonb,
  -- Kinds of calls that are served.
  operations text[] not null default '{generate,embed,models}'
);
create unique index gateways_owner on gateways (cluster, owner_uid) where state = 'active';
create index gateways_of_team on gateways (team_id);
${feeds("gateways", "gateway", "id", ["cluster", "namespace", "team_id", "public_id", "routes_only", "routes", "state"])}
${feedsUpdate("gateways", "operations", "gateway", "id", ["operations"])}

create table gateway_upstreams (
  gateway_id text not null references gateways (id) on delete cascade,
  name text not null,
  position integer not null,
  dialect text not null,
  base_url text not null,
  credential bytea,
  -- Since when it is this credential; null if that is not known.
  credential_at timestamptz,
  -- False for an upstream that is declared without a credential; one that takes a credential and has none forwards
  -- nothing.
  takes_credential boolean not null default true,
  primary key (gateway_id, name)
);
${feeds("gateway_upstreams", "gateway", "gateway_id", [
  "gateway_id",
  "name",
  "position",
  "dialect",
  "base_url",
  "credential",
])}
${feedsUpdate("gateway_upstreams", "takes_credential", "gateway", "gateway_id", ["takes_credential"])}

-- How an upstream was last heard of, by any replica: each writes what is newer, every few seconds at most. For people
-- (store/gateways/upstream-outcomes.ts).
create table upstream_outcomes (
  gateway_id text not null,
  upstream text not null,
  answered_at timestamptz,
  status integer,
  failed_at timestamptz,
  failure text,
  -- When it last took its credential, which a success shows, and when it last refused it.
  accepted_at timestamptz,
  refused_at timestamptz,
  primary key (gateway_id, upstream),
  foreign key (gateway_id, upstream) references gateway_upstreams (gateway_id, name) on delete cascade
);
${KEPT_OBJECTS}
-- Keys.

create function refuse_revival() returns trigger language plpgsql as $$
begin
  raise exception '% is final', old.state using errcode = 'KPEND';
end $$;

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
  -- The end of the key or of its active version, whichever comes first.
  ends_at timestamptz not null default 'infinity',
  -- What manages a key that the management API made, and is where it is to be changed: for people.
  managed_by text,
  -- The subject that it is bound to, or * where it has to name one with each call.
  subject text,
  -- Null for anywhere (docs/decisions/source-addresses.md).
  allowed_cidrs text[],
  -- Who counts its requests and tokens: null if each replica does by itself (docs/decisions/rate-limits.md).
  rate_scope text,
  -- Null for no limit (docs/decisions/token-limits.md).
  tokens_per_minute integer,
  -- What it may use by day, week, month or in all; null for no bound (docs/decisions/budgets.md).
  budgets jsonb,
  -- What declarations say of it for people: texts by the names of their fields.
  facts jsonb not null default '{}',
  check (gateway_bound or gateway_id is null),
  check ((requests_per_minute is null) = (burst is null))
);
create unique index keys_owner on keys (cluster, owner_uid) where state <> 'revoked';
create index keys_by_owner on keys (cluster, owner_uid, created_at desc);
create index keys_of_team on keys (team_id, id);
create index keys_of_gateway on keys (gateway_id) where gateway_id is not null;
-- A name of a key that the management API made is one key's as long as it lives.
create unique index keys_of_api_by_name on keys (team_id, namespace, name) where cluster = 'api' and state <> 'revoked';
${keepsEnd("keys", ["revoked"])}
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
${feedsUpdate("keys", "subject", "key", "id", ["subject"])}
${feedsUpdate("keys", "networks", "key", "id", ["allowed_cidrs"])}
${feedsUpdate("keys", "rate_scope", "key", "id", ["rate_scope"])}
${feedsUpdate("keys", "tokens", "key", "id", ["tokens_per_minute"])}
${feedsUpdate("keys", "budgets", "key", "id", ["budgets"])}

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
create constraint trigger keys_revocation after update of state on keys
  deferrable initially deferred for each row when (new.state = 'revoked' and old.state <> 'revoked')
  execute function record_revocation();

-- What lists of keys are found and sorted by (store/keys/search/key-search.ts): at 100,000 keys none is read whole.
-- What a key is looked for by, in one index, as atoms are: its team, whether it lives, the beginning of its name, and each
-- three characters in a row of it.
create function key_terms(team_id text, state text, name text) returns text[]
  language sql immutable parallel safe
  return array['team ' || team_id, case when state in ('active', 'suspended') then 'living' else 'ended' end,
    '^' || substr(name, 1, 1), '^' || substr(name, 1, 2)]
    || array(select substr(name, i, 3) from generate_series(1, length(name) - 2) as i);
create index keys_terms on keys using gin (key_terms(team_id, state, name)) with (fastupdate = off);
create index keys_by_name on keys (name, id);
create index keys_of_team_by_name on keys (team_id, name, id);
create index keys_by_creation on keys (created_at, id);
create index keys_of_team_by_creation on keys (team_id, created_at, id);
create index keys_by_end on keys (ends_at, id);
create index keys_of_team_by_end on keys (team_id, ends_at, id);
-- Suspended keys are found of themselves, and with their namespace (store/keys/search/key-search.ts).
create index keys_suspended on keys (team_id, id) where state = 'suspended';
create index keys_by_place on keys (team_id, cluster, namespace);
-- By parts of their display names too, where those are other than their names.
create index keys_display_terms on keys using gin (key_terms(team_id, state, lower(display_name)))
  with (fastupdate = off) where display_name <> name;
${FACT_TEXT}

-- What declares a key, as it is declared, so that it can be shown (docs/decisions/shown-declarations.md). A record and no
-- state: no decision depends on it.
create table key_declarations (
  key_id text primary key references keys (id),
  owner_uid text not null,
  generation bigint not null,
  -- In the order of its fields as they were written. Null for one that is too long to be kept.
  spec json,
  -- By which usage is added up (docs/decisions/usage.md).
  labels jsonb not null default '{}',
  -- As a team's.
  conditions jsonb
);

-- No foreign key to libraries: a list whose library is gone shrinks, and does not become "all" (architecture §3).
create table key_libraries (
  key_id text not null references keys (id),
  library_id text not null,
  primary key (key_id, library_id)
);
create index key_libraries_of_library on key_libraries (library_id);
${feeds("key_libraries", "key", "key_id", ["key_id", "library_id"])}

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
  -- As the audit log names who made it by hand, and so may have its secret. Null for one that was minted for a Secret.
  made_by text,
  -- Whether it may have been read from a Secret, while it is reserved: set right before the Secret is written. One that
  -- may ends with an overlap, as a delivered one does.
  may_be_read boolean not null default true,
  primary key (key_id, number),
  constraint key_versions_retiring check (
    state <> 'retiring' or (retiring_slot is not null and retiring_slot between 1 and 4 and retire_at is not null)
  )
);
-- Invariant I1.
create unique index key_versions_one_active on key_versions (key_id) where state = 'active';
create unique index key_versions_four_retiring on key_versions (key_id, retiring_slot) where state = 'retiring';
-- An import asks whether its prefix identifies another key already.
create index key_versions_by_prefix on key_versions (prefix);
${keepsEnd("key_versions", ["retired", "voided", "revoked"])}
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

create function stamp_state_change() returns trigger language plpgsql as $$
begin
  new.changed_tx := this_transaction();
  return new;
end $$;
create trigger key_versions_stamp before update of state on key_versions
  for each row when (old.state is distinct from new.state) execute function stamp_state_change();

-- keys.ends_at.
create function key_end(key_id text, expires_at timestamptz) returns timestamptz
  language sql stable
  return least(coalesce(expires_at, 'infinity'), coalesce((
    select min(v.expires_at) from key_versions v where v.key_id = key_end.key_id and v.state = 'active'), 'infinity'));
create function keep_key_end() returns trigger language plpgsql as $$
begin
  new.ends_at := key_end(new.id, new.expires_at);
  return new;
end $$;
create function keep_end_of_version() returns trigger language plpgsql as $$
begin
  update keys set ends_at = key_end(id, expires_at)
  where id = new.key_id and ends_at is distinct from key_end(id, expires_at);
  return null;
end $$;
create trigger keys_keep_end before insert or update of expires_at on keys
  for each row execute function keep_key_end();
create trigger key_versions_keep_end_new after insert on key_versions
  for each row when (new.state = 'active') execute function keep_end_of_version();
create trigger key_versions_keep_end after update of state, expires_at on key_versions
  for each row when (new.state = 'active' or old.state = 'active') execute function keep_end_of_version();

-- What a key's Secret was found to be, by the version of the Secret at which it was: as long as it has that version, it
-- needs no reading. A record and no state: no decision of a server depends on it, and losing it costs a read.
create table key_secrets (
  key_id text primary key references keys (id),
  resource_version text not null,
  number integer not null,
  content text not null,
  -- Who else had a hand in it, so that people see who keeps undoing it.
  marks text[] not null default '{}'
);

-- What is known of versions that were reported as leaked, once for each: a new one of the key has not leaked.
create table key_leaks (
  key_id text not null,
  version integer not null,
  -- Who reported it first: a team's own, GitHub, or a caller that is not known.
  reporter text not null,
  first_reported_at timestamptz not null,
  last_reported_at timestamptz not null,
  primary key (key_id, version),
  foreign key (key_id, version) references key_versions (key_id, number)
);
-- A controller says so in the key's status.
create constraint trigger key_leaks_feed after insert on key_leaks
  deferrable initially deferred for each row execute function record_change('key', 'key_id');

-- What people were warned of, so that they are once: of each key one end, and one late version.
create table key_notices (
  key_id text not null references keys (id),
  kind text not null,
  -- The end in milliseconds since the epoch, or the version's number.
  mark bigint not null,
  primary key (key_id, kind)
);

-- What holds of the calls of a team: what it declares, and what it shares with others.
create function limits_in_force(limits jsonb, shared jsonb) returns jsonb language sql immutable as $$
  select case when shared is null then limits
    else coalesce(limits, '{"rate": null, "concurrent": null}') || jsonb_build_object('shared', shared) end
$$;

-- A version as a replica's index holds it: KeyRecord, but for the names. What no longer resolves grants nothing.
-- is_foreign: its secret came from elsewhere, and may have any format.
-- A server of the version before decides by this view, too, and does not know the newest restriction of keys. A key that
-- has it is shown in a state of its own, which comes before those of older restrictions: a server that knows the
-- restriction takes the state for active, and one that does not refuses it.
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
  case
    when k.state = 'active' and (k.allowed_cidrs is not null or t.allowed_cidrs is not null) then 'of_networks'
    when k.state = 'active' and k.subject is not null then 'of_subject'
    else k.state
  end as state,
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
  k.concurrent,
  k.subject,
  k.allowed_cidrs,
  t.allowed_cidrs as team_allowed_cidrs,
  k.rate_scope,
  limits_in_force(t.limits, t.shared_budgets) as team_limits,
  k.tokens_per_minute,
  -- By its name in its team: a key that is declared again goes on with what it has used.
  case when k.budgets is not null then jsonb_build_object(
    'owner', k.team_id || ' ' || k.cluster || '/' || k.namespace || '/' || k.name, 'items', k.budgets) end as budgets
from key_versions v
join keys k on k.id = v.key_id
join teams t on t.id = k.team_id
left join team_namespaces n on n.cluster = k.cluster and n.namespace = k.namespace
left join gateways g on g.id = k.gateway_id and g.team_id = k.team_id and g.state = 'active'
left join libraries d on d.cluster = t.cluster and d.namespace = t.default_library_namespace
  and d.name = t.default_library_name and d.team_id = t.id and d.state = 'active';

-- What keys have used.

-- Written all the time: no trigger, no foreign key, no index but the key, so that updates stay on their page.
create table key_usage (
  key_id text not null,
  version integer not null,
  last_used_at timestamptz not null,
  last_address text,
  last_user_agent text,
  primary key (key_id, version)
) with (fillfactor = 70);

-- When a key was last used, to five minutes, for lists in that order: an index on key_usage would cost each update of it.
create table key_last_uses (
  key_id text primary key,
  team_id text not null,
  used_at timestamptz not null
);
create index key_last_uses_by_time on key_last_uses (used_at, key_id);
create index key_last_uses_of_team_by_time on key_last_uses (team_id, used_at, key_id);
create function begin_key_last_use() returns trigger language plpgsql as $$
begin
  insert into key_last_uses (key_id, team_id, used_at) values (new.id, new.team_id, '-infinity')
  on conflict (key_id) do update set team_id = excluded.team_id;
  return null;
end $$;
create trigger keys_begin_last_use after insert or update of team_id on keys
  for each row execute function begin_key_last_use();

-- How many requests of each key were let through, by the scope that let them through, and what models' answers to it used
-- (docs/decisions/usage.md, docs/decisions/token-counts.md): by five minutes, which are added to every few seconds for as
-- long as they last, and summed up by hour and by day, which begin at slot in UTC and are kept for longer. The team is the
-- key's.
create table key_requests (
  key_id text not null,
  slot timestamptz not null,
  scope text not null,
  count integer not null,
  -- Whether it is in the sums of its hour.
  is_rolled boolean not null default false,
  primary key (key_id, slot, scope)
) with (fillfactor = 70);
create index key_requests_by_time on key_requests (slot);
create index key_requests_to_roll on key_requests (date_bin('1 hour', slot, 'epoch'), key_id) where not is_rolled;

create table key_request_hours (
  key_id text not null,
  slot timestamptz not null,
  scope text not null,
  team_id text not null,
  count bigint not null,
  -- Whether it is in the sums of its day.
  is_rolled boolean not null default false,
  primary key (key_id, slot, scope)
);
create index key_request_hours_by_time on key_request_hours (slot);
create index key_request_hours_of_team on key_request_hours (team_id, slot);
create index key_request_hours_to_roll on key_request_hours (date_bin('1 day', slot, 'epoch'), key_id)
  where not is_rolled;

create table key_request_days (
  key_id text not null,
  slot timestamptz not null,
  scope text not null,
  team_id text not null,
  count bigint not null,
  primary key (key_id, slot, scope)
);
create index key_request_days_by_time on key_request_days (slot);
create index key_request_days_of_team on key_request_days (team_id, slot);

create table key_tokens (
  ${TOKENS},
  is_rolled boolean not null default false,
  ${UNITS},
  primary key (key_id, slot, gateway_id, route_id, model)
) with (fillfactor = 70);
create index key_tokens_by_time on key_tokens (slot);
create index key_tokens_to_roll on key_tokens (date_bin('1 hour', slot, 'epoch'), key_id) where not is_rolled;
create index key_tokens_of_team on key_tokens (team_id, slot);

create table key_token_hours (
  ${TOKENS},
  is_rolled boolean not null default false,
  ${UNITS},
  primary key (key_id, slot, gateway_id, route_id, model)
);
create index key_token_hours_by_time on key_token_hours (slot);
create index key_token_hours_of_team on key_token_hours (team_id, slot);
create index key_token_hours_to_roll on key_token_hours (date_bin('1 day', slot, 'epoch'), key_id)
  where not is_rolled;

create table key_token_days (
  ${TOKENS},
  ${UNITS},
  primary key (key_id, slot, gateway_id, route_id, model)
);
create index key_token_days_by_time on key_token_days (slot);
create index key_token_days_of_team on key_token_days (team_id, slot);

-- What is added to a row of five minutes makes it one that is not in the sums.
create function not_rolled() returns trigger language plpgsql as $$
begin
  new.is_rolled := false;
  return new;
end $$;
create trigger key_requests_added before update of count on key_requests
  for each row when (old.is_rolled) execute function not_rolled();
create trigger key_tokens_added before update of calls on key_tokens
  for each row when (old.is_rolled) execute function not_rolled();

-- From which networks keys were called (docs/decisions/caller-networks.md): of each key the last ones, 16 at most, each
-- with the last day (in UTC) that it was called from there.
create table key_networks (
  key_id text primary key,
  seen jsonb not null,
  oldest date not null
) with (fillfactor = 70);
create index key_networks_by_age on key_networks (oldest);

-- Which libraries keys have used (docs/decisions/advice.md): of each key the last ones, 64 at most, each with the last day
-- (in UTC) that a call of it read or wrote there.
create table key_libraries_used (
  key_id text primary key,
  seen jsonb not null,
  oldest date not null
) with (fillfactor = 70);
create index key_libraries_used_by_age on key_libraries_used (oldest);

-- What all replicas have drawn of a limit, in microseconds by this database's clock (docs/decisions/rate-limits.md). It
-- does not outlive a crash of the database: each limit begins with its whole burst then.
create unlogged table limit_cells (
  limit_id text primary key,
  paid_at bigint not null,
  -- Of the last draw: when it was, what it asked for by which limit, and what it got.
  drawn_at bigint not null,
  wanted bigint not null,
  cost bigint not null,
  burst bigint not null,
  granted bigint not null,
  -- What it could get at most, beside what may be owed: less than that but for tokens that were used already.
  most bigint not null default 0
) with (fillfactor = 50);

-- What is used of budgets (docs/decisions/budgets.md).
create table budget_ledger (
  -- Whose, what is counted, and how long: never the id of a key, which goes with its declaration.
  budget text not null,
  period text not null,
  -- A thread of a replica, from its start to its end.
  holder text not null,
  -- Of the holder's last line: an earlier one that comes late changes nothing.
  turn bigint not null,
  -- What it has used in this period, and what it may use besides without asking. Both as the holder knows them, so that
  -- the same line again changes nothing, and one after a restore makes good what is missing.
  spent bigint not null,
  held bigint not null,
  -- Null for a budget without a period.
  ends_at timestamptz,
  written_at timestamptz not null,
  primary key (budget, period, holder)
);

-- Writes a holder's line, and grants what it wants where that is left, or up to a fiftieth of what is left.
create function draw_budget(
  of_budget text, of_period text, by_holder text, its_turn bigint, has_spent bigint, has_held bigint, wanted bigint,
  most bigint, ends timestamptz, out granted bigint, out rest bigint, out spent_by_all bigint,
  out silent bigint
) language plpgsql as $$
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
$$;

-- Each part of a budget is reported once in a period, for as long as the budget is as large: by whichever thread of a
-- replica writes the row.
create table budget_notices (
  budget text not null,
  period text not null,
  -- How large the budget was.
  most bigint not null,
  -- 50, 80 or 100.
  percent integer not null,
  -- What was used then.
  used bigint not null,
  -- Null for a budget without a period.
  ends_at timestamptz,
  at timestamptz not null,
  primary key (budget, period, most, percent)
);
create index budget_notices_by_time on budget_notices (at);
create index budget_notices_by_end on budget_notices (ends_at);

-- The audit log.

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

-- What an event is looked for by, in one index, as keys are: its kind, who did it, its team, and the key or the object that
-- it is about (store/audit/audit-search.ts): of a million rows, a bounded number is read. An index takes no text of any
-- length: a search for a longer one compares the whole of it besides.
create function audit_terms(kind text, actor text, key_id text, team_id text, detail jsonb) returns text[]
  language sql immutable parallel safe
  return array_remove(array['kind ' || left(kind, 255), 'actor ' || left(actor, 255), 'key ' || key_id, 'team ' || team_id,
    'object ' || left(detail ->> 'id', 255), 'name ' || left(detail ->> 'name', 255)], null);
create index audit_events_terms on audit_events
  using gin (audit_terms(kind, actor, key_id, team_id, detail)) with (fastupdate = off);
create index audit_events_in_order on audit_events (at, id);
create index audit_events_of_team on audit_events (team_id, at, id);

-- The audit log in the order of commits, for collectors (docs/decisions/audit-log.md): which event comes next for a reader
-- that goes on from where it was. The ids of events are in no such order: one may be committed after a later one was read.
-- An event whose detail was completed comes once more. The mark shows a database that was put back in time, which gives
-- its numbers again.
create table audit_feed (
  seq bigint primary key,
  event_id bigint not null,
  mark integer not null default floor(random() * 2147483647)::integer
);
-- Runs at commit, as record_change does, and takes the same row's lock: by another one, two transactions that have both
-- kinds of changes could wait for each other.
create function record_audit_event() returns trigger language plpgsql as $$
declare
  next bigint;
begin
  update feed set audit_head = audit_head + 1 returning audit_head into next;
  insert into audit_feed (seq, event_id) values (next, new.id);
  return null;
end $$;
create constraint trigger audit_events_feed after insert or update of detail on audit_events
  deferrable initially deferred for each row execute function record_audit_event();

-- What writes the log to its standard output, for all servers, and up to where it has.
create table audit_outputs (
  name text primary key,
  seq bigint not null default 0,
  holder text not null default '',
  held_until timestamptz not null default '-infinity'
);

-- Who is signed in to the console.

-- Sessions and one-time links end with the database that they were made in: a restored one is another.
create function database_number() returns oid language sql stable
  return (select oid from pg_database where datname = current_database());
${INCARNATION}

-- By the SHA-256 of what the session's cookie holds, so that the table signs its readers in nowhere. An ended one is gone.
create table sessions (
  digest bytea primary key check (octet_length(digest) = 32),
  -- Who it is; null for the installation's own, who came by a one-time link.
  issuer text,
  subject text,
  groups text[] not null,
  -- As the issuer knows the session, where it says.
  sid text,
  display_name text not null,
  created_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz not null,
  made_in oid not null default database_number(),
  -- When the issuer last said who it is, and in which groups.
  claims_at timestamptz not null default clock_timestamp(),
  incarnation text not null default incarnation(),
  check ((issuer is null) = (subject is null))
);
-- An issuer that reports a sign-out names the subject, the session or both.
create index sessions_by_subject on sessions (issuer, subject);
create index sessions_by_sid on sessions (issuer, sid) where sid is not null;
create index sessions_by_end on sessions (expires_at);

-- One-time links, by the SHA-256 of what they hold. A used one is gone.
create table sign_in_links (
  digest bytea primary key check (octet_length(digest) = 32),
  expires_at timestamptz not null,
  made_in oid not null default database_number(),
  incarnation text not null default incarnation()
);

-- The logout tokens that were taken, each of them once, for as long as it would be taken again.
create table logout_tokens (
  issuer text not null,
  jti text not null,
  expires_at timestamptz not null,
  primary key (issuer, jti)
);

-- Atoms, which go with their library's row: its deletion needs no second statement.

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
  search tsvector not null generated always as (to_tsvector('english', content)) stored,
  metadata jsonb not null default '{}',
  -- A link is a row's own, and leads to what is there: the id of an atom that was deleted comes back never.
  links jsonb not null default '[]',
  expires_at timestamptz(3),
  -- Near-duplicates: each number is bound to the library, so that no other library's rows are read.
  sketch bigint[] not null default '{}',
  -- It is true from valid_from on, and before valid_to, whenever it was written down; null if that is not said
  -- (docs/decisions/valid-time.md).
  valid_from timestamptz(3),
  valid_to timestamptz(3)
)
-- An atom of 1.5 kB keeps its words in its row: a search reads those of thousands of atoms, and would look up each.
with (toast_tuple_target = 4080);
-- No plan depends on statistics about the wide columns, and to gather them reads every word of thousands of atoms.
alter table atoms
  alter column content set statistics 0,
  alter column tags set statistics 0,
  alter column source set statistics 0,
  alter column search set statistics 0,
  alter column metadata set statistics 0,
  alter column links set statistics 0,
  alter column sketch set statistics 0;
create index atoms_of_library on atoms (library_id, created_at desc, id desc);
create index atoms_by_importance on atoms (library_id, importance desc, updated_at desc, id desc);
create index atoms_of_team on atoms (team_id, created_at desc, id desc);

-- What atoms are looked up by beside their words: a space sets these terms apart from words, which hold none. An atom of a
-- part stands under the part alone: what is looked for in a whole team passes by what its subjects have, however much that
-- is.
create function atom_terms(team_id text, library_id text, tags text[]) returns tsvector
  language sql immutable parallel safe
  return array_to_tsvector(array['library ' || library_id]
    || case when starts_with(library_id, 'part_') then array[]::text[] else array['team ' || team_id] end
    || (select coalesce(array_agg('tag ' || tag), '{}') from unnest(tags) tag));
-- One index for what a search looks for: the words of an atom together with its team, its library and its tags. So a
-- search merges the lists of its own team's atoms alone, and costs nothing for what another team stores. A save that finds
-- its list of what is yet to be sorted in full sorts in all of it. An atom of 60 kB fills 256 kB of it: in a list of four
-- such the words that they share are sorted in once, and a search reads it in the same time
-- (docs/decisions/memory-search.md).
create index atoms_terms on atoms using gin ((search || atom_terms(team_id, library_id, tags)))
  with (gin_pending_list_limit = 1024);
-- To gather statistics of it reads every word of thousands of atoms, a second's work on the embedded database.
alter index atoms_terms alter column 1 set statistics 0;
create index atoms_by_expiry on atoms (expires_at, id) where expires_at is not null;
create index atoms_by_sketch on atoms using gin (sketch) with (gin_pending_list_limit = 256);
create index atoms_by_update on atoms (library_id, updated_at desc, id desc);

-- Parts of words, by which a search finds what is written in another way (docs/decisions/memory-search.md). What queries
-- are folded and taken apart by is in memory/store/search/words/folded-text.ts; a test holds the two to each other.

${FOLDED_TEXT}

${PARTS}
-- A writer that finds its list of what is yet to be sorted in full sorts in all of it: of a short list, so that others wait
-- for the embedded database no longer than for another save. Each part alone would be sorted in for each atom that has it.
create index atoms_parts on ${PARTS_INDEX};
${WITHOUT_STATISTICS};

-- The atoms of a library in an order that has nothing to do with what they are or when they were saved, by the random bits
-- of their ids: a search learns by some of them how frequent words are (memory/store/search/candidates/frequencies.ts).
create index atoms_at_random on atoms (library_id, (substring(uuid_send(id) from 9)));

-- The ids that an atom's links of the kind "replaces" lead to (docs/decisions/replaced-atoms.md). Only atoms with such a
-- link are in it: where there is none, a look-up reads one page.
create index atoms_replacing
  on atoms using gin ((jsonb_path_query_array(links, '$[*] ? (@.rel == "replaces").id'))) with (fastupdate = off)
  where links @> '[{"rel": "replaces"}]';
-- Whether a library has any. Its condition is in other words, or a look-up of ids would go by it.
create index atoms_replacing_of_library
  on atoms (library_id) where jsonb_path_exists(links, '$[*] ? (@.rel == "replaces")');

-- What an atom is looked up by that is not said in words (docs/decisions/atom-facts.md): each name and value of its
-- metadata, as text, and what its links lead to, beside its team and its library. A value may be longer than a term: a
-- hash stands for it, and a look-up compares it.
create function metadata_terms(metadata jsonb) returns text[]
  language sql immutable parallel safe
  return (
    select coalesce(array_agg('is ' || hashtextextended(name || ' ' || value, 0)), '{}')
    from jsonb_each_text(metadata) given (name, value)
  );
create function atom_facts(team_id text, library_id text, metadata jsonb, links jsonb) returns tsvector
  language sql immutable parallel safe
  return atom_terms(team_id, library_id, '{}') || array_to_tsvector(metadata_terms(metadata) || (
    select coalesce(array_agg('to ' || (link ->> 'id')), '{}') from jsonb_array_elements(links) link
  ));
-- Of the atoms that have any, so that the others cost no more to save.
create index atoms_facts on atoms using gin (atom_facts(team_id, library_id, metadata, links)) with (fastupdate = off)
  where metadata <> '{}' or links <> '[]';
alter index atoms_facts alter column 1 set statistics 0;


-- No foreign key: they are read by way of their atom alone, and go with the last row of it, wherever that is.
create table atom_revisions (
  atom_id uuid not null,
  revision integer not null,
  content text not null,
  tags text[] not null,
  source text,
  importance double precision not null,
  updated_at timestamptz(3) not null,
  metadata jsonb not null default '{}',
  links jsonb not null default '[]',
  expires_at timestamptz(3),
  valid_from timestamptz(3),
  valid_to timestamptz(3),
  primary key (atom_id, revision)
);
-- No writer can forget a revision: the one that an update replaces is kept.
create function keep_atom_revision() returns trigger language plpgsql as $$
begin
  insert into atom_revisions (atom_id, revision, content, tags, source, importance, updated_at, metadata, links,
    expires_at, valid_from, valid_to)
  values (old.id, old.revision, old.content, old.tags, old.source, old.importance, old.updated_at, old.metadata,
    old.links, old.expires_at, old.valid_from, old.valid_to);
  return new;
end $$;
create trigger atoms_keep_revision before update on atoms
  for each row when (old.revision is distinct from new.revision) execute function keep_atom_revision();

-- The row of an atom moves here when it is forgotten, and can be restored for some time
-- (memory/store/writes/forgotten-atoms.ts): no statement about atoms can find it, and whatever refers to the atom goes
-- with the row that is deleted there.
create table forgotten_atoms (
  id uuid primary key,
  library_id text not null references libraries (id) on delete cascade,
  team_id text not null,
  content text not null,
  tags text[] not null,
  source text,
  importance double precision not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  revision integer not null,
  metadata jsonb not null,
  links jsonb not null,
  expires_at timestamptz(3),
  valid_from timestamptz(3),
  valid_to timestamptz(3),
  sketch bigint[] not null,
  forgotten_at timestamptz not null default clock_timestamp(),
  -- From then on it is not there any more.
  kept_until timestamptz(3) not null
);
alter table forgotten_atoms
  alter column content set statistics 0,
  alter column tags set statistics 0,
  alter column source set statistics 0,
  alter column metadata set statistics 0,
  alter column links set statistics 0,
  alter column sketch set statistics 0;
create index forgotten_atoms_by_end on forgotten_atoms (kept_until, id);
create index forgotten_atoms_of_library on forgotten_atoms (library_id, forgotten_at desc, id desc);

-- What an atom was called where it was imported from, and what was said of it there, so that it is known again
-- (docs/decisions/memory-transfer.md).
create table imported_atoms (
  library_id text not null references libraries (id) on delete cascade,
  former_id text not null,
  -- These three are null only while the transaction that imports it is under way.
  atom_id uuid,
  said bytea,
  revision integer,
  -- Some of its links lead to what was not imported, and may come yet.
  has_open_links boolean not null default false,
  primary key (library_id, former_id)
);
alter table imported_atoms alter column said set statistics 0;
create index imported_atoms_of_atom on imported_atoms (atom_id);

create function delete_atom_revisions() returns trigger language plpgsql as $$
begin
  delete from atom_revisions where atom_id = old.id
    and not exists (select from atoms where id = old.id)
    and not exists (select from forgotten_atoms where id = old.id);
  delete from imported_atoms where atom_id = old.id
    and not exists (select from atoms where id = old.id)
    and not exists (select from forgotten_atoms where id = old.id);
  return null;
end $$;
create trigger atoms_delete_revisions after delete on atoms
  for each row execute function delete_atom_revisions();
create trigger forgotten_atoms_delete_revisions after delete on forgotten_atoms
  for each row execute function delete_atom_revisions();

-- What a save that is repeated finds: written in the save's own transaction. Key and request are kept as their SHA-256.
-- The caller is a key's id, whichever of its versions was used. Where an atom was left out its id is null.
create table repeatable_saves (
  caller text not null,
  key bytea not null,
  request bytea not null,
  library_id text not null references libraries (id) on delete cascade,
  atom_ids uuid[] not null default '{}',
  -- What the answer said beside the atoms.
  beside jsonb not null default '{}',
  made_at timestamptz not null default clock_timestamp(),
  primary key (caller, key)
);
create index repeatable_saves_by_time on repeatable_saves (made_at);
create index repeatable_saves_of_caller on repeatable_saves (caller, made_at);
create index repeatable_saves_of_library on repeatable_saves (library_id);

-- Semantic search (memory/store/embedding/).

-- By which model of which gateway a library's atoms are embedded, and the key that this is done with. space counts the
-- models: vectors of two are not compared. The tables of vectors need the extension vector, which may not be there
-- (store/database/migrate/vector-table.ts).
create table library_embeddings (
  library_id text primary key references libraries (id) on delete cascade,
  gateway_id text not null,
  model text not null,
  asked_dimensions integer,
  key_id text not null,
  space integer not null default 1,
  -- Of the space's first vector: which upstream and model made it, and its length.
  served_by text,
  dimensions integer,
  -- Of the atoms that were there before: up to which, by their time and id, all are in the queue.
  walked_at timestamptz(3) not null default '-infinity',
  walked_id uuid not null default '00000000-0000-0000-0000-000000000000',
  is_walked boolean not null default false,
  -- The declaration of it has ended: what is left of it goes, some at a time.
  is_ended boolean not null default false,
  failures integer not null default 0,
  failure text,
  -- A save that began before the library was to be embedded ends within two seconds.
  due_at timestamptz not null default clock_timestamp() + interval '2 seconds',
  claim uuid,
  -- Parts of a library are walked behind it, in the order of their subjects.
  walked_subject text
);
create index library_embeddings_due on library_embeddings (due_at);

-- Atoms without an embedding of their present revision. One that is set aside has a refusal, and is never due.
create table embedding_queue (
  atom_id uuid primary key references atoms (id) on delete cascade,
  library_id text not null,
  revision integer not null,
  tries integer not null default 0,
  due_at timestamptz not null default clock_timestamp(),
  refusal text
);
create index embedding_queue_of_library on embedding_queue (library_id, due_at, atom_id);

-- No writer can forget to queue an atom. The atoms of a part are embedded as those of its library are, in the library's
-- queue.
${QUEUE_EMBEDDING}
create trigger atoms_queue_embedding after insert or update of revision on atoms
  for each row execute function queue_embedding();

-- Extraction (memory/store/extraction/, docs/decisions/capture.md).

-- By which model of which gateway statements are taken out of the conversations that a library is handed, and the key
-- that this is done with.
create table library_extractions (
  library_id text primary key references libraries (id) on delete cascade,
  gateway_id text not null,
  model text not null,
  key_id text not null,
  tokens_per_day bigint not null,
  -- On the last day, by UTC, on which there was a conversation.
  used_on date not null default '-infinity',
  used_tokens bigint not null default 0,
  failures integer not null default 0,
  due_at timestamptz not null default clock_timestamp(),
  claim uuid
);
create index library_extractions_due on library_extractions (due_at);

create table extraction_jobs (
  id uuid primary key default gen_random_uuid(),
  library_id text not null references libraries (id) on delete cascade,
  -- The library, or the subject's part of it, that its atoms are saved in.
  stored_in text not null references libraries (id) on delete cascade,
  -- Of the conversation as the model is to read it.
  digest bytea not null,
  state text not null default 'queued',
  -- Each is for one call of the model. None once the job is over.
  passages text[] not null,
  -- Calls that the job takes, and how many of them are done.
  calls integer not null,
  done integer not null default 0,
  -- Answers to the next of them that were of no use.
  tries integer not null default 0,
  -- What the calls have found, until it is saved together.
  statements jsonb not null default '[]',
  found integer not null default 0,
  known integer not null default 0,
  atom_ids uuid[] not null default '{}',
  failure text,
  created_at timestamptz(3) not null default clock_timestamp(),
  ended_at timestamptz(3),
  -- Tries of the next of its calls, in a row, that the upstream failed at while it answered another text: the
  -- conversation is put off, and the others of its library go on.
  failures integer not null default 0,
  due_at timestamptz not null default '-infinity'
);
alter table extraction_jobs
  alter column passages set statistics 0,
  alter column statements set statistics 0;
create unique index extraction_jobs_of_conversation on extraction_jobs (stored_in, digest);
create index extraction_jobs_open on extraction_jobs (library_id, created_at, id) where ended_at is null;
create index extraction_jobs_of_library on extraction_jobs (library_id);
create index extraction_jobs_by_age on extraction_jobs (created_at);
`;
