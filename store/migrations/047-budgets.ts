/** What keys and teams may use by day, week, month or in all (docs/decisions/budgets.md). */
export const sql = `
-- Null for none. Those of a team are among its limits. A server of an earlier build knows nothing of either.
alter table keys add column budgets jsonb;
create constraint trigger keys_feed_budgets after update of budgets on keys
  deferrable initially deferred for each row when (old.budgets is distinct from new.budgets)
  execute function record_change('key', 'id');

create table budget_ledger (
  -- Whose, what is counted, and how long: never the id of a key, which goes with its declaration.
  budget text not null,
  period text not null,
  -- A thread of a replica, from its start to its end.
  holder text not null,
  -- Of the holder's last line: an earlier one that comes late changes nothing.
  turn bigint not null,
  -- What it has used in this period, and what it may use besides without asking. Both as the holder knows them, so that
  -- the same line again changes nothing, and one after a restore makes good what is missing.
  spent bigint not null,
  held bigint not null,
  -- Null for a budget that never begins anew.
  ends_at timestamptz,
  written_at timestamptz not null,
  primary key (budget, period, holder)
);

-- Writes a holder's line, and grants what it wants where that is left, or up to a fiftieth of what is left.
create function draw_budget(
  of_budget text, of_period text, by_holder text, its_turn bigint, has_spent bigint, has_held bigint, wanted bigint,
  most bigint, ends timestamptz, out granted bigint, out rest bigint, out spent_by_all bigint,
  out silent bigint
) language plpgsql as $$
begin
  -- One holder after the other: each sees what those before it have got.
  perform pg_advisory_xact_lock(hashtextextended(of_budget || ' ' || of_period, 0));
  insert into budget_ledger as line (budget, period, holder, turn, spent, held, ends_at, written_at)
  values (of_budget, of_period, by_holder, its_turn, has_spent, has_held, ends, clock_timestamp())
  on conflict (budget, period, holder) do update set turn = excluded.turn, held = excluded.held,
    spent = greatest(line.spent, excluded.spent), ends_at = excluded.ends_at, written_at = excluded.written_at
  where line.turn < excluded.turn;
  if not found then wanted := 0; end if;
  -- Each thread writes its line within ten minutes: what one holds that has not for longer no call can have.
  select most - sum(spent + held), sum(spent),
      coalesce(sum(held) filter (where written_at < clock_timestamp() - interval '15 minutes'), 0)
    into rest, spent_by_all, silent
  from budget_ledger where budget = of_budget and period = of_period;
  granted := case when wanted <= 0 or rest < wanted then 0 else greatest(wanted, rest / 50) end;
  if granted > 0 then
    update budget_ledger set held = held + granted
    where budget = of_budget and period = of_period and holder = by_holder;
    rest := rest - granted;
  end if;
end
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
  t.limits as team_limits,
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
