/**
 * What becomes of atoms: some are forgotten and can be restored for some time (store/memory/forgotten-atoms.ts), some are
 * true for a time, whenever they were written down (docs/decisions/valid-time.md), and some are replaced by others. Some
 * come from conversations (docs/decisions/capture.md). The vectors of every passage of a long atom need the extension vector: their table is made where that is
 * (store/database/migrate/vector-table.ts).
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
create function delete_atom_revisions() returns trigger language plpgsql as $$
begin
  delete from atom_revisions where atom_id = old.id
    and not exists (select from atoms where id = old.id)
    and not exists (select from forgotten_atoms where id = old.id);
  return null;
end $$;
create trigger atoms_delete_revisions after delete on atoms
  for each row execute function delete_atom_revisions();
create trigger forgotten_atoms_delete_revisions after delete on forgotten_atoms
  for each row execute function delete_atom_revisions();

-- By which model of which gateway statements are taken out of the conversations that a library is handed, and the key
-- that this is done with (store/memory/extraction/).
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
create unique index extraction_jobs_of_conversation on extraction_jobs (library_id, digest);
create index extraction_jobs_open on extraction_jobs (library_id, created_at, id) where ended_at is null;
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
] as const;
