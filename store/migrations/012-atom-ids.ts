/**
 * `uuidv7()` is in PostgreSQL from version 18 on, and 15 is the oldest that is promised (threats c64): atoms get their ids
 * from a function of our own, which is that one where the server has it. Elsewhere the twelve bits behind the milliseconds
 * go on counting, as there, so that what is saved later sorts later.
 */
export const sql = `
do $$ begin
  if to_regprocedure('pg_catalog.uuidv7()') is not null then
    create function new_atom_id() returns uuid language sql volatile parallel safe as 'select pg_catalog.uuidv7()';
  else
    create function new_atom_id() returns uuid language sql volatile parallel safe as '
      select encode(
        substring(int8send(us / 1000) from 3) || int2send((x''7000''::integer + us % 1000 * 4096 / 1000)::int2)
          -- The variant, and 62 random bits.
          || substring(uuid_send(gen_random_uuid()) from 9),
        ''hex'')::uuid
      from (select (extract(epoch from clock_timestamp()) * 1000000)::bigint as us offset 0) now';
  end if;
end $$;
alter table atoms alter column id set default new_atom_id();

-- The one that 002-atoms was given for its default, where the server had none.
do $$ begin
  execute format('drop function if exists %I.uuidv7()', current_schema());
end $$;
`;

/** Before 002-atoms, which asks for it: a function of the name that PostgreSQL 18 has. Gone with this migration. */
export const uuidv7Before18 = `
do $$ begin
  if to_regprocedure('uuidv7()') is null then
    create function uuidv7() returns uuid language sql as 'select gen_random_uuid()';
  end if;
end $$;
`;
