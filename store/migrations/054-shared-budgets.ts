/** What the keys of several teams may use together (docs/decisions/budgets.md). */
export const sql = `
-- Of the policies that select the team, each with whose it is; null for none. A server of an earlier build knows nothing
-- of them.
alter table teams add column shared_budgets jsonb;
create constraint trigger teams_feed_shared_budgets after update of shared_budgets on teams
  deferrable initially deferred for each row when (old.shared_budgets is distinct from new.shared_budgets)
  execute function record_change('team', 'id');

-- What holds of the calls of a team: what it declares, and what it shares with others.
create function limits_in_force(limits jsonb, shared jsonb) returns jsonb language sql immutable as $$
  select case when shared is null then limits
    else coalesce(limits, '{"rate": null, "concurrent": null}') || jsonb_build_object('shared', shared) end
$$;

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
  k.rate_scope,
  limits_in_force(t.limits, t.shared_budgets) as team_limits,
  k.tokens_per_minute,
  -- By its name in its team: a key that is declared again goes on with what it has used.
  case when k.budgets is not null then jsonb_build_object(
    'owner', k.team_id || ' ' || k.cluster || '/' || k.namespace || '/' || k.name, 'items', k.budgets) end as budgets
from key_versions v
join keys k on k.id = v.key_id
join teams t on t.id = k.team_id
left join team_namespaces n on n.cluster = k.cluster and n.namespace = k.namespace
left join gateways g on g.id = k.gateway_id and g.team_id = k.team_id and g.state = 'active'
left join libraries d on d.cluster = t.cluster and d.namespace = t.default_library_namespace
  and d.name = t.default_library_name and d.team_id = t.id and d.state = 'active';
`;
