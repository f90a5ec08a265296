/** Sessions and one-time links end with the database that they were made in: a restored one is another. */
export const sql = `
create function database_number() returns oid language sql stable
  return (select oid from pg_database where datname = current_database());
alter table sessions add column made_in oid not null default database_number();
alter table sign_in_links add column made_in oid not null default database_number();
`;
