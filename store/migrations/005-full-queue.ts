/**
 * A queue of notifications that is full fails every transaction that notifies (threats c33): it fills up when one session
 * listens and stays in a transaction. A notification is a hint, so it is left out while the queue is half full; the
 * replicas see the change with their next beat. The rest of the function is as 001-foundation has it.
 */
export const sql = `
create or replace function record_change() returns trigger language plpgsql as $$
declare
  refs text[];
  entity text;
  next bigint;
begin
  if tg_op <> 'INSERT' then refs := refs || (to_jsonb(old) ->> tg_argv[1]); end if;
  if tg_op <> 'DELETE' then refs := refs || (to_jsonb(new) ->> tg_argv[1]); end if;
  foreach entity in array refs loop
    if not exists (
      select from changes where tx = this_transaction() and kind = tg_argv[0] and ref = entity
    ) then
      update feed set head = head + 1 returning head into next;
      insert into changes (seq, tx, kind, ref) values (next, this_transaction(), tg_argv[0], entity);
      if pg_notification_queue_usage() < 0.5 then
        perform pg_notify('keyplane_changes', '');
      end if;
    end if;
  end loop;
  return null;
end $$;
`;
