/**
 * Atoms and their earlier revisions (spec §3). No writer can forget a revision: a trigger keeps the one that an update
 * replaces. An atom goes with its library's row, so that `deletionPolicy: Delete` needs no second statement.
 */
export const sql = `
create table atoms (
  id uuid primary key default uuidv7(),
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
create index atoms_search on atoms using gin (search);
create index atoms_tags on atoms using gin (tags);
create index atoms_of_library on atoms (library_id, created_at desc, id desc);
create index atoms_by_importance on atoms (library_id, importance desc, updated_at desc, id desc);
create index atoms_of_team on atoms (team_id, created_at desc, id desc);

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

create function keep_atom_revision() returns trigger language plpgsql as $$
begin
  insert into atom_revisions (atom_id, revision, content, tags, source, importance, updated_at)
  values (old.id, old.revision, old.content, old.tags, old.source, old.importance, old.updated_at);
  return new;
end $$;
create trigger atoms_keep_revision before update on atoms
  for each row when (old.revision is distinct from new.revision) execute function keep_atom_revision();
`;
