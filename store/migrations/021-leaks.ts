/** What is known of keys that were reported as leaked, and what each team wants done then. */
export const sql = `
alter table teams add column leak_action text not null default 'Alert';

-- Once for each version: a new one of the key has not leaked.
create table key_leaks (
  key_id text not null,
  version integer not null,
  -- Who reported it first: a team's own, GitHub, or nobody known.
  reporter text not null,
  first_reported_at timestamptz not null,
  last_reported_at timestamptz not null,
  primary key (key_id, version),
  foreign key (key_id, version) references key_versions (key_id, number)
);
-- A controller says so in the key's status.
create constraint trigger key_leaks_feed after insert on key_leaks
  deferrable initially deferred for each row execute function record_change('key', 'key_id');
`;
