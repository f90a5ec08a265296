/** The audit log in the order of commits, for collectors (docs/decisions/audit-log.md). */
export const sql = `
-- First, and before the row of feed is locked: every event that is not in the feed by the trigger below is committed by
-- now. 050 gives these their places, without keeping those who write waiting.
lock table audit_events in share row exclusive mode;

-- Which event comes next for a reader that goes on from where it was. The ids of events are in no such order: one may be
-- committed after a later one was read. An event whose detail was completed comes once more. The mark tells a database
-- that was put back in time, which gives its numbers again.
create table audit_feed (
  seq bigint primary key,
  event_id bigint not null,
  mark integer not null default floor(random() * 2147483647)::integer
);

alter table feed add column audit_head bigint not null default 0;
update feed set audit_head = coalesce((select max(id) from audit_events), 0);

-- Runs at commit, as record_change does, and takes the same row's lock: by another one, two transactions that have both
-- kinds of changes could wait for each other.
create function record_audit_event() returns trigger language plpgsql as $$
declare
  next bigint;
begin
  update feed set audit_head = audit_head + 1 returning audit_head into next;
  insert into audit_feed (seq, event_id) values (next, new.id);
  return null;
end $$;
create constraint trigger audit_events_feed after insert or update of detail on audit_events
  deferrable initially deferred for each row execute function record_audit_event();

-- What writes the log to its standard output, for all servers, and up to where it has.
create table audit_outputs (
  name text primary key,
  seq bigint not null default 0,
  holder text not null default '',
  held_until timestamptz not null default '-infinity'
);
`;
