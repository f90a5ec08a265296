/** Places in the feed for the events of before it (045). */
export const sql = `
-- Their ids, in order, are the places that the feed left free.
insert into audit_feed (seq, event_id)
  select id, id from audit_events
  where id <= (select coalesce((select min(seq) - 1 from audit_feed), (select audit_head from feed)))
  on conflict do nothing;
`;
