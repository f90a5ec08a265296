/** What the audit log is searched by (store/audit/audit-search.ts): of a million rows, none but a bounded number is read. */
export const sql = `
-- What an event is looked for by, in one index, as keys are: its kind, who did it, its team, and the key or the object that
-- it is about. An index takes no text of any length: whoever looks for one compares the whole of it besides.
create function audit_terms(kind text, actor text, key_id text, team_id text, detail jsonb) returns text[]
  language sql immutable parallel safe
  return array_remove(array['kind ' || left(kind, 255), 'actor ' || left(actor, 255), 'key ' || key_id, 'team ' || team_id,
    'object ' || left(detail ->> 'id', 255), 'name ' || left(detail ->> 'name', 255)], null);

create index audit_events_terms on audit_events
  using gin (audit_terms(kind, actor, key_id, team_id, detail)) with (fastupdate = off);
create index audit_events_in_order on audit_events (at, id);
create index audit_events_of_team on audit_events (team_id, at, id);
drop index audit_events_by_time;
`;
