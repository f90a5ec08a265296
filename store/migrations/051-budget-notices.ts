/** Which parts of budgets are used, as it was reported (docs/decisions/budgets.md). */
export const sql = `
-- Each part of a budget is reported once in a period, for as long as the budget is as large: by whichever thread of a
-- replica writes the row.
create table budget_notices (
  budget text not null,
  period text not null,
  -- How large the budget was.
  most bigint not null,
  -- 50, 80 or 100.
  percent integer not null,
  -- What was used then.
  used bigint not null,
  -- Null for a budget that never begins anew.
  ends_at timestamptz,
  at timestamptz not null,
  primary key (budget, period, most, percent)
);
create index budget_notices_by_time on budget_notices (at);
create index budget_notices_by_end on budget_notices (ends_at);

-- Of a key whose declaration was changed, an earlier build has stored them as a text.
update keys set budgets = (budgets #>> '{}')::jsonb where jsonb_typeof(budgets) = 'string';

-- What happens to a team's budget is no key's. A server of an earlier build leaves such a delivery to one of this build.
alter table webhook_deliveries alter column key_id drop not null;
`;
