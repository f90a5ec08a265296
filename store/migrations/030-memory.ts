/** What atoms are besides a statement: facts for programs, what they have to do with each other, and when they end. */
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
`;
