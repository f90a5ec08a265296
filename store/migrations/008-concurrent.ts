/**
 * How many calls a key may have under way at once: a column of `keys`, which reaches the feed and the view of records as
 * the other limits do. The column is null in all rows there are, so that nothing is rewritten.
 */
export const sql = `
alter table keys add column concurrent integer;

drop trigger keys_feed_update on keys;
create constraint trigger keys_feed_update after update of
    cluster, namespace, team_id, state, scopes, gateway_bound, gateway_id, library_mode,
    mcp_default_library_id, allowed_models, expires_at, requests_per_minute, burst, concurrent,
    rotation_requested_at on keys
  deferrable initially deferred for each row when ((
    old.cluster, old.namespace, old.team_id, old.state, old.scopes, old.gateway_bound, old.gateway_id,
    old.library_mode, old.mcp_default_library_id, old.allowed_models, old.expires_at, old.requests_per_minute,
    old.burst, old.concurrent, old.rotation_requested_at
  ) is distinct from (
    new.cluster, new.namespace, new.team_id, new.state, new.scopes, new.gateway_bound, new.gateway_id,
    new.library_mode, new.mcp_default_library_id, new.allowed_models, new.expires_at, new.requests_per_minute,
    new.burst, new.concurrent, new.rotation_requested_at
  ))
  execute function record_change('key', 'id');

create or replace view key_records as
select
  v.key_id,
  v.number as version,
  v.digest,
  v.prefix,
  v.changed_tx,
  v.source_kind <> 'minted' as is_foreign,
  k.team_id,
  k.namespace,
  (k.namespace = '' or coalesce(n.team_id = k.team_id, false)) and t.state = 'active' as team_holds_namespace,
  k.state,
  v.state as version_state,
  (extract(epoch from least(k.expires_at, v.expires_at, case when v.state = 'retiring' then v.retire_at end))
    * 1000)::float8 as expires_ms,
  array_to_string(k.scopes, ' ') as scopes,
  case when k.gateway_bound then coalesce(g.id, '') end as bound_gateway_id,
  case when k.library_mode <> 'all' then coalesce((
    select string_agg(l.id, ' ' order by l.id)
    from key_libraries kl join libraries l on l.id = kl.library_id
    where kl.key_id = k.id and l.team_id = k.team_id and l.state = 'active'
  ), '') end as library_ids,
  k.mcp_default_library_id,
  d.id as team_default_library_id,
  k.allowed_models,
  k.requests_per_minute,
  k.burst,
  k.concurrent
from key_versions v
join keys k on k.id = v.key_id
join teams t on t.id = k.team_id
left join team_namespaces n on n.cluster = k.cluster and n.namespace = k.namespace
left join gateways g on g.id = k.gateway_id and g.team_id = k.team_id and g.state = 'active'
left join libraries d on d.cluster = t.cluster and d.namespace = t.default_library_namespace
  and d.name = t.default_library_name and d.team_id = t.id and d.state = 'active';
`;
