/** How many requests of each key were let through, for its page. */
export const sql = `
-- By the scope that let them through, and five minutes. Added to every few seconds for as long as they last.
create table key_requests (
  key_id text not null,
  slot timestamptz not null,
  scope text not null,
  count integer not null,
  primary key (key_id, slot, scope)
) with (fillfactor = 70);
create index key_requests_by_time on key_requests (slot);
`;
