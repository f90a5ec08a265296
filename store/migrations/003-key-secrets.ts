/**
 * What a key's Secret was found to be, by the version of the Secret at which it was: as long as it has that version, it
 * needs no reading. A record and no state: no decision of a server depends on it, and losing it costs a read.
 */
export const sql = `
create table key_secrets (
  key_id text primary key references keys (id),
  resource_version text not null,
  number integer not null,
  content text not null
);
`;
