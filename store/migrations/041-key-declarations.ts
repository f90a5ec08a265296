/** What declares a key, as it is declared, so that it can be shown (docs/decisions/shown-declarations.md). */
export const sql = `
-- A record and no state: no decision depends on it.
create table key_declarations (
  key_id text primary key references keys (id),
  owner_uid text not null,
  generation bigint not null,
  -- In the order of its fields as they were written. Null for one that is too long to be kept.
  spec json
);
`;
