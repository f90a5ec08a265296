/** Saves of the memory that may be repeated with their Idempotency-Key. */
export const sql = `
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
`;
