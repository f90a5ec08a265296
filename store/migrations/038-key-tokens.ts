/** What the answers of models to each key used (docs/decisions/token-counts.md). */
export const sql = `
-- By gateway, route, model and five minutes. Added to every few seconds for as long as they last.
create table key_tokens (
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
  primary key (key_id, slot, gateway_id, route_id, model)
) with (fillfactor = 70);
create index key_tokens_by_time on key_tokens (slot);
`;
