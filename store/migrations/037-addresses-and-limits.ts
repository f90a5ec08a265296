/**
 * The networks that a key may be used from, and those of a team's keys and of its members' tokens
 * (docs/decisions/source-addresses.md); and rate limits that hold for the whole installation
 * (docs/decisions/rate-limits.md).
 */
export const sql = `
-- Null for anywhere. A server of an earlier build knows nothing of it, and would let such a key in from anywhere: it is
-- shown a state that it refuses.
alter table keys add column allowed_cidrs text[];
alter table teams add column allowed_cidrs text[];
create constraint trigger keys_feed_networks after update of allowed_cidrs on keys
  deferrable initially deferred for each row when (old.allowed_cidrs is distinct from new.allowed_cidrs)
  execute function record_change('key', 'id');
create constraint trigger teams_feed_networks after update of allowed_cidrs on teams
  deferrable initially deferred for each row when (old.allowed_cidrs is distinct from new.allowed_cidrs)
  execute function record_change('team', 'id');

-- Null where each replica counts by itself.
alter table keys add column rate_scope text;
create constraint trigger keys_feed_rate_scope after update of rate_scope on keys
  deferrable initially deferred for each row when (old.rate_scope is distinct from new.rate_scope)
  execute function record_change('key', 'id');

-- What all replicas have drawn of a limit, in microseconds by this database's clock. It does not outlive a crash of the
-- database: each limit begins anew with its whole burst.
create unlogged table limit_cells (
  limit_id text primary key,
  paid_at bigint not null,
  -- Of the last draw: when it was, what it asked for by which limit, and what it got.
  drawn_at bigint not null,
  wanted bigint not null,
  cost bigint not null,
  burst bigint not null,
  granted bigint not null
) with (fillfactor = 50);

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
  case
    when k.state = 'active' and (k.allowed_cidrs is not null or t.allowed_cidrs is not null) then 'of_networks'
    when k.state = 'active' and k.subject is not null then 'of_subject'
    else k.state
  end as state,
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
  k.concurrent,
  k.subject,
  k.allowed_cidrs,
  t.allowed_cidrs as team_allowed_cidrs,
  k.rate_scope
from key_versions v
join keys k on k.id = v.key_id
join teams t on t.id = k.team_id
left join team_namespaces n on n.cluster = k.cluster and n.namespace = k.namespace
left join gateways g on g.id = k.gateway_id and g.team_id = k.team_id and g.state = 'active'
left join libraries d on d.cluster = t.cluster and d.namespace = t.default_library_namespace
  and d.name = t.default_library_name and d.team_id = t.id and d.state = 'active';
`;
