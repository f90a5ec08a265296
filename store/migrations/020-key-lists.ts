/** What lists of keys are found and sorted by (store/keys/search/key-search.ts): at 100,000 keys none is read whole. */
export const sql = `
-- What a key is looked for by, in one index, as atoms are: its team, whether it lives, the beginning of its name, and each
-- three characters in a row of it.
create function key_terms(team_id text, state text, name text) returns text[]
  language sql immutable parallel safe
  return array['team ' || team_id, case when state in ('active', 'suspended') then 'living' else 'ended' end,
    '^' || substr(name, 1, 1), '^' || substr(name, 1, 2)]
    || array(select substr(name, i, 3) from generate_series(1, length(name) - 2) as i);

-- The end of a key or of its active version, whichever comes first.
alter table keys add column ends_at timestamptz not null default 'infinity';

create function key_end(key_id text, expires_at timestamptz) returns timestamptz
  language sql stable
  return least(coalesce(expires_at, 'infinity'), coalesce((
    select min(v.expires_at) from key_versions v where v.key_id = key_end.key_id and v.state = 'active'), 'infinity'));

create function keep_key_end() returns trigger language plpgsql as $$
begin
  new.ends_at := key_end(new.id, new.expires_at);
  return new;
end $$;

create function keep_end_of_version() returns trigger language plpgsql as $$
begin
  update keys set ends_at = key_end(id, expires_at)
  where id = new.key_id and ends_at is distinct from key_end(id, expires_at);
  return null;
end $$;

create trigger keys_keep_end before insert or update of expires_at on keys
  for each row execute function keep_key_end();
create trigger key_versions_keep_end_new after insert on key_versions
  for each row when (new.state = 'active') execute function keep_end_of_version();
create trigger key_versions_keep_end after update of state, expires_at on key_versions
  for each row when (new.state = 'active' or old.state = 'active') execute function keep_end_of_version();

-- When a key was last used, to five minutes, for lists in that order: an index on key_usage would cost each update of it.
create table key_last_uses (
  key_id text primary key,
  team_id text not null,
  used_at timestamptz not null
);

create function begin_key_last_use() returns trigger language plpgsql as $$
begin
  insert into key_last_uses (key_id, team_id, used_at) values (new.id, new.team_id, '-infinity')
  on conflict (key_id) do update set team_id = excluded.team_id;
  return null;
end $$;

create trigger keys_begin_last_use after insert or update of team_id on keys
  for each row execute function begin_key_last_use();

update keys set ends_at = key_end(id, expires_at);
insert into key_last_uses (key_id, team_id, used_at)
  select id, team_id, coalesce(date_bin('5 minutes', (select max(last_used_at) from key_usage where key_id = id),
    timestamptz 'epoch'), '-infinity') from keys;

create index keys_terms on keys using gin (key_terms(team_id, state, name)) with (fastupdate = off);
create index keys_by_name on keys (name, id);
create index keys_of_team_by_name on keys (team_id, name, id);
create index keys_by_creation on keys (created_at, id);
create index keys_of_team_by_creation on keys (team_id, created_at, id);
create index keys_by_end on keys (ends_at, id);
create index keys_of_team_by_end on keys (team_id, ends_at, id);
create index key_last_uses_by_time on key_last_uses (used_at, key_id);
create index key_last_uses_of_team_by_time on key_last_uses (team_id, used_at, key_id);
`;
