/**
 * Under which encryption key credentials are stored, by its fingerprint, and which keys each replica has: so that nobody
 * starts with another one, and nothing is sealed that others cannot open (threats c54).
 */
export const sql = `
create table encryption_key (
  fingerprint text not null,
  since timestamptz not null default clock_timestamp(),
  only_one boolean not null default true check (only_one) unique
);

-- Null for a replica of an older build, which does not say.
alter table replicas add column encryption_keys text[];
`;
