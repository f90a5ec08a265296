/**
 * Up to when the uses of keys are known (spec §5, overlap Adoption). A replica says up to when its own are written; what
 * a replica may have taken with it when it died is unknown for ever, so the end of that time is kept.
 */
export const sql = `
-- Null until the first time: nothing is known of what it has in memory.
alter table replicas add column usage_flushed_at timestamptz;

create table usage_lost (
  until timestamptz,
  only_one boolean not null default true check (only_one) unique
);
insert into usage_lost (until) values (null);
`;
