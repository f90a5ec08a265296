/** What is reported to people about gateways' upstreams (store/gateways/upstream-outcomes.ts). */
export const sql = `
-- Since when it is this credential; of those that were there before this column, that is not known.
alter table gateway_upstreams add column credential_at timestamptz;

-- How an upstream was last heard of, by any replica: each writes what is newer, every few seconds at most.
create table upstream_outcomes (
  gateway_id text not null,
  upstream text not null,
  answered_at timestamptz,
  status integer,
  failed_at timestamptz,
  failure text,
  primary key (gateway_id, upstream),
  foreign key (gateway_id, upstream) references gateway_upstreams (gateway_id, name) on delete cascade
);
`;
