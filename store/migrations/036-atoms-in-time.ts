/**
 * What becomes of atoms: some are forgotten and can be restored for some time (memory/store/writes/forgotten-atoms.ts), some are
 * true for a time, whenever they were written down (docs/decisions/valid-time.md), and some are replaced by others; and
 * whose they are. They are looked up by their metadata and their links, too (docs/decisions/atom-facts.md). Those that were
 * imported are known again by what they are called where they come from (docs/decisions/memory-transfer.md), and some come
 * from conversations (docs/decisions/capture.md). The vectors of every passage of a long atom need the extension vector:
 * their table is made where that is (store/database/migrate/vector-table.ts).
 */
export const sql = `
-- From valid_from on, and before valid_to; null where that is not said. A server of an earlier build leaves them as they
-- are.
alter table atoms add column valid_from timestamptz(3), add column valid_to timestamptz(3);
alter table atom_revisions add column valid_from timestamptz(3), add column valid_to timestamptz(3);

create or replace function keep_atom_revision() returns trigger language plpgsql as $$
begin
  insert into atom_revisions (atom_id, revision, content, tags, source, importance, updated_at, metadata, links,
    expires_at, valid_from, valid_to)
  values (old.id, old.revision, old.content, old.tags, old.source, old.importance, old.updated_at, old.metadata,
    old.links, old.expires_at, old.valid_from, old.valid_to);
  return new;
end $$;

-- The row of an atom moves here when it is forgotten: no statement about atoms can find it, and whatever refers to the
-- atom goes with the row that is deleted there. A server of an earlier build sees an atom that was deleted.
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

-- Earlier revisions, of which there may be thousands, stay where they are, and are read by way of their atom alone. They
-- go with the last row of it, wherever that is.
alter table atom_revisions drop constraint atom_revisions_atom_id_fkey;
-- What an atom was called where it was imported from, and what was said of it there.
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

-- What an atom is looked up by that is not said in words: each name and value of its metadata, as text, and what its links
-- lead to, beside its team and its library. A value may be longer than a term: a hash stands for it, and a look-up
-- compares it.
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

-- Whose memory it is (docs/decisions/subjects.md). What a subject has saved in a library is a part of it: a row of its own
-- in the state of_subject, which no server of an earlier build takes for a library. Its atoms are apart from the others'
-- in each index. One whose subject was erased is deleted as a library is, and names none.
alter table libraries add column parent_id text references libraries (id), add column subject text;
create unique index libraries_of_subjects on libraries (parent_id, subject) where parent_id is not null;
-- However many parts there are beside them: an index of all would be as good to a planner without statistics.
drop index libraries_of_team;
create index libraries_in_service on libraries (team_id, id) where state = 'active';
create index libraries_to_delete on libraries ((parent_id is null), id) where state = 'deleted';

-- The atoms of a part are embedded as those of its library are, in the library's queue. A server of an earlier build
-- would write down no vector of them: they are due at the time that such a server never reaches
-- (store/database/migrate/vector-table.ts).
create or replace function queue_embedding() returns trigger language plpgsql as $$
begin
  insert into embedding_queue (atom_id, library_id, revision, due_at)
  select new.id, e.library_id, new.revision,
    case when e.library_id = new.library_id then clock_timestamp() else '9999-01-01T00:00:00Z' end
  from library_embeddings e
  where e.library_id = case when starts_with(new.library_id, 'part_')
      then (select parent_id from libraries where id = new.library_id) else new.library_id end
    and not e.is_ended
  on conflict (atom_id) do update set revision = excluded.revision, library_id = excluded.library_id, tries = 0,
    due_at = excluded.due_at, refusal = null;
  return null;
end $$;
-- Parts of a library are walked behind it, in the order of their subjects.
alter table library_embeddings add column walked_subject text;

-- The index of words has an atom of a part under the part alone: what is looked for in a whole team passes by what its
-- subjects have, however much that is. Of all other atoms it has what it had.
create or replace function atom_terms(team_id text, library_id text, tags text[]) returns tsvector
  language sql immutable parallel safe
  return array_to_tsvector(array['library ' || library_id]
    || case when starts_with(library_id, 'part_') then array[]::text[] else array['team ' || team_id] end
    || (select coalesce(array_agg('tag ' || tag), '{}') from unnest(tags) tag));

-- No decision depends on a part.
drop trigger libraries_feed on libraries;
drop trigger libraries_feed_update on libraries;
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

-- The subject that a key is bound to, or * where it has to name one with each call. A server of an earlier build knows
-- neither, and would give such a key what is shared: it is shown a state that it refuses.
alter table keys add column subject text;
create constraint trigger keys_feed_subject after update of subject on keys
  deferrable initially deferred for each row when (old.subject is distinct from new.subject)
  execute function record_change('key', 'id');
create or replace view key_records as
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
  case when k.subject is not null and k.state = 'active' then 'of_subject' else k.state end as state,
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
  k.subject
from key_versions v
join keys k on k.id = v.key_id
join teams t on t.id = k.team_id
left join team_namespaces n on n.cluster = k.cluster and n.namespace = k.namespace
left join gateways g on g.id = k.gateway_id and g.team_id = k.team_id and g.state = 'active'
left join libraries d on d.cluster = t.cluster and d.namespace = t.default_library_namespace
  and d.name = t.default_library_name and d.team_id = t.id and d.state = 'active';

-- By which model of which gateway statements are taken out of the conversations that a library is handed, and the key
-- that this is done with (memory/store/extraction/).
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
  ended_at timestamptz(3)
);
alter table extraction_jobs
  alter column passages set statistics 0,
  alter column statements set statistics 0;
create unique index extraction_jobs_of_conversation on extraction_jobs (stored_in, digest);
create index extraction_jobs_open on extraction_jobs (library_id, created_at, id) where ended_at is null;
create index extraction_jobs_of_library on extraction_jobs (library_id);
create index extraction_jobs_by_age on extraction_jobs (created_at);
`;

/**
 * The ids that an atom's links of the kind `replaces` lead to. Only atoms with such a link are in it: where there is
 * none, a look-up reads one page.
 */
export const indexes = [
  {
    name: "atoms_replacing",
    on: `atoms using gin ((jsonb_path_query_array(links, '$[*] ? (@.rel == "replaces").id'))) with (fastupdate = off)
      where links @> '[{"rel": "replaces"}]'`,
  },
  // Whether a library has any. Its condition is in other words, or a look-up of ids would go by it.
  {
    name: "atoms_replacing_of_library",
    on: `atoms (library_id) where jsonb_path_exists(links, '$[*] ? (@.rel == "replaces")')`,
  },
  // Of the atoms that have any, so that the others cost no more to save.
  {
    name: "atoms_facts",
    on: `atoms using gin (atom_facts(team_id, library_id, metadata, links)) with (fastupdate = off)
      where metadata <> '{}' or links <> '[]'`,
    afterwards: "alter index atoms_facts alter column 1 set statistics 0",
  },
] as const;
