/** The policies of platforms, so that servers hold to them what is made by hand (docs/decisions/key-policies.md). */
export const sql = `
-- As the controller of the cluster last found them. No decision on a request depends on them, so that the feed has none.
create table key_policies (
  cluster text not null,
  uid text not null,
  name text not null,
  -- Null for one that the controller cannot read.
  spec jsonb,
  -- Since when it is for each of the cluster's teams, and since when each of its rules is as it is.
  teams jsonb not null,
  rules jsonb not null,
  -- Since when its selector is as it is: for teams that no cluster declares.
  selector_since timestamptz not null,
  primary key (cluster, uid)
);
-- Of its declaration; none of a team that was made by hand.
alter table teams add column labels jsonb not null default '{}';
`;
