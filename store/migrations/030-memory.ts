/**
 * What atoms are besides a statement: facts for programs, what they have to do with each other, when they end, and
 * what they are found by beside their words.
 */
export const sql = `
-- Metadata, links and expiry of atoms. A link is a row's own, and leads to what is there: the id of an atom that was
-- deleted comes back never.

alter table atoms
  add column metadata jsonb not null default '{}',
  add column links jsonb not null default '[]',
  add column expires_at timestamptz(3);
alter table atoms
  alter column metadata set statistics 0,
  alter column links set statistics 0;

alter table atom_revisions
  add column metadata jsonb not null default '{}',
  add column links jsonb not null default '[]',
  add column expires_at timestamptz(3);

create or replace function keep_atom_revision() returns trigger language plpgsql as $$
begin
  insert into atom_revisions (atom_id, revision, content, tags, source, importance, updated_at, metadata, links,
    expires_at)
  values (old.id, old.revision, old.content, old.tags, old.source, old.importance, old.updated_at, old.metadata,
    old.links, old.expires_at);
  return new;
end $$;

create index atoms_by_expiry on atoms (expires_at, id) where expires_at is not null;

-- Semantic search (store/memory/embedding/).

-- By which model of which gateway a library's atoms are embedded, and the key that this is done with. \`space\` counts the
-- models: vectors of two are not compared. Its table of vectors needs the extension vector, which may not be there
-- (store/database/vector-table.ts).
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
  claim uuid
);
create index library_embeddings_due on library_embeddings (due_at);

-- Atoms without an embedding of their present revision. One that is set aside has
-- a refusal, and is never due.
create table embedding_queue (
  atom_id uuid primary key references atoms (id) on delete cascade,
  library_id text not null,
  revision integer not null,
  tries integer not null default 0,
  due_at timestamptz not null default clock_timestamp(),
  refusal text
);
create index embedding_queue_of_library on embedding_queue (library_id, due_at, atom_id);

-- No writer can forget to queue an atom.
create function queue_embedding() returns trigger language plpgsql as $$
begin
  insert into embedding_queue (atom_id, library_id, revision)
  select new.id, new.library_id, new.revision from library_embeddings
  where library_id = new.library_id and not is_ended
  on conflict (atom_id) do update set revision = excluded.revision, library_id = excluded.library_id, tries = 0,
    due_at = excluded.due_at, refusal = null;
  return null;
end $$;
create trigger atoms_queue_embedding after insert or update of revision on atoms
  for each row execute function queue_embedding();
`;
