/** Requests and tokens by hour and by day, for longer than by five minutes (docs/decisions/usage.md). */
export const sql = `
-- Whether a row of five minutes is in the sums of its hour. What is added to it makes it one that is not, also where a
-- server of an earlier build adds it.
alter table key_requests add column is_rolled boolean not null default false;
alter table key_tokens add column is_rolled boolean not null default false;
create function not_rolled() returns trigger language plpgsql as $$
begin
  new.is_rolled := false;
  return new;
end $$;
create trigger key_requests_added before update of count on key_requests
  for each row when (old.is_rolled) execute function not_rolled();
create trigger key_tokens_added before update of calls on key_tokens
  for each row when (old.is_rolled) execute function not_rolled();

-- By the hour that begins at slot, in UTC. The team is the key's.
create table key_request_hours (
  key_id text not null,
  slot timestamptz not null,
  scope text not null,
  team_id text not null,
  count bigint not null,
  -- Whether it is in the sums of its day.
  is_rolled boolean not null default false,
  primary key (key_id, slot, scope)
);
create index key_request_hours_by_time on key_request_hours (slot);
create index key_request_hours_of_team on key_request_hours (team_id, slot);
create index key_request_hours_to_roll on key_request_hours (date_bin('1 day', slot, 'epoch'), key_id)
  where not is_rolled;
create table key_request_days (
  key_id text not null,
  slot timestamptz not null,
  scope text not null,
  team_id text not null,
  count bigint not null,
  primary key (key_id, slot, scope)
);
create index key_request_days_by_time on key_request_days (slot);
create index key_request_days_of_team on key_request_days (team_id, slot);

create table key_token_hours (
  key_id text not null,
  slot timestamptz not null,
  gateway_id text not null,
  -- Empty where no route was named.
  route_id text not null,
  model text not null,
  team_id text not null,
  calls bigint not null,
  cut bigint not null,
  unreported bigint not null,
  unread bigint not null,
  doubtful bigint not null,
  input bigint not null,
  cached bigint not null,
  cache_write_5m bigint not null,
  cache_write_1h bigint not null,
  output bigint not null,
  reasoning bigint not null,
  tool_calls bigint not null,
  is_rolled boolean not null default false,
  primary key (key_id, slot, gateway_id, route_id, model)
);
create index key_token_hours_by_time on key_token_hours (slot);
create index key_token_hours_of_team on key_token_hours (team_id, slot);
create index key_token_hours_to_roll on key_token_hours (date_bin('1 day', slot, 'epoch'), key_id)
  where not is_rolled;
create table key_token_days (
  key_id text not null,
  slot timestamptz not null,
  gateway_id text not null,
  route_id text not null,
  model text not null,
  team_id text not null,
  calls bigint not null,
  cut bigint not null,
  unreported bigint not null,
  unread bigint not null,
  doubtful bigint not null,
  input bigint not null,
  cached bigint not null,
  cache_write_5m bigint not null,
  cache_write_1h bigint not null,
  output bigint not null,
  reasoning bigint not null,
  tool_calls bigint not null,
  primary key (key_id, slot, gateway_id, route_id, model)
);
create index key_token_days_by_time on key_token_days (slot);
create index key_token_days_of_team on key_token_days (team_id, slot);
`;

/** What is to be rolled up next. */
export const indexes = ["key_requests", "key_tokens"].map((table) => ({
  name: `${table}_to_roll`,
  on: `${table} (date_bin('1 hour', slot, 'epoch'), key_id) where not is_rolled`,
}));
