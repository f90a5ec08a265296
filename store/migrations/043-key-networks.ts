/** From which networks keys were called (docs/decisions/caller-networks.md). */
export const sql = `
-- Of each key the last networks, 16 at most, each with the last day (in UTC) that it was called from there.
create table key_networks (
  key_id text primary key,
  seen jsonb not null,
  oldest date not null
) with (fillfactor = 70);
create index key_networks_by_age on key_networks (oldest);

-- Since when every server notes them. As long as one of an earlier build serves, what it let in is not known: it says
-- nothing of this column.
alter table replicas add column notes_networks boolean not null default false;
create table networks_known (
  since timestamptz not null default clock_timestamp(),
  only_one boolean not null default true check (only_one) unique
);
insert into networks_known default values;
create function networks_not_known() returns trigger language plpgsql as $$
begin
  update networks_known set since = clock_timestamp();
  return null;
end $$;
create trigger replicas_without_networks after delete on replicas
  for each row when (not old.notes_networks) execute function networks_not_known();
`;
