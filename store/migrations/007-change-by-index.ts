/**
 * 005 asked for the transaction's name in the condition itself: being volatile, it kept the index from being used, and
 * each change read all that were ever made, in part while it held the feed's row. It is asked for once again, as in
 * 001-foundation; the rest of the function is as 005-full-queue has it.
 */
export const sql = `
create or replace function record_change() returns trigger language plpgsql as $$
declare
  this uuid := this_transaction();
  refs text[];
  entity text;
  next bigint;
begin
  if tg_op <> 'INSERT' then refs := refs || (to_jsonb(old) ->> tg_argv[1]); end if;
  if tg_op <> 'DELETE' then refs := refs || (to_jsonb(new) ->> tg_argv[1]); end if;
  foreach entity in array refs loop
    if not exists (
      select from changes where tx = this and kind = tg_argv[0] and ref = entity
    ) then
      update feed set head = head + 1 returning head into next;
      insert into changes (seq, tx, kind, ref) values (next, this, tg_argv[0], entity);
      if pg_notification_queue_usage() < 0.5 then
        perform pg_notify('keyplane_changes', '');
      end if;
    end if;
  end loop;
  return null;
end $$;
`;
