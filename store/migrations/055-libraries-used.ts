/** Which libraries keys have used (docs/decisions/advice.md). */
export const sql = `
-- Of each key the last libraries, 64 at most, each with the last day (in UTC) that a call of it read or wrote there.
create table key_libraries_used (
  key_id text primary key,
  seen jsonb not null,
  oldest date not null
) with (fillfactor = 70);
create index key_libraries_used_by_age on key_libraries_used (oldest);

-- Since when every server notes them. As long as one of an earlier build serves, what its calls used is not known: it
-- says nothing of this column.
alter table replicas add column notes_libraries boolean not null default false;
create table libraries_known (
  since timestamptz not null default clock_timestamp(),
  only_one boolean not null default true check (only_one) unique
);
insert into libraries_known default values;
create function libraries_not_known() returns trigger language plpgsql as $$
begin
  update libraries_known set since = clock_timestamp();
  return null;
end $$;
create trigger replicas_without_libraries after delete on replicas
  for each row when (not old.notes_libraries) execute function libraries_not_known();
`;
