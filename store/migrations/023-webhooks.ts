/** The webhooks that are notified of what happens to a team's keys, and their deliveries. */
export const sql = `
create table team_webhooks (
  id text primary key,
  team_id text not null references teams (id),
  url text not null,
  events text[] not null,
  -- Sealed with the id; null where there is none that could be read.
  secret bytea,
  unique (team_id, url)
);

-- What is to be told, or was: written in the transaction of what happened. No foreign key: what was told outlives whom it
-- was told.
create table webhook_deliveries (
  -- Sent along with every try: whoever gets one twice knows it by this.
  id text primary key,
  webhook_id text not null,
  team_id text not null,
  url text not null,
  event text not null,
  key_id text not null,
  at timestamptz not null default clock_timestamp(),
  data jsonb not null,
  state text not null default 'pending',
  tries integer not null default 0,
  -- When it is tried next, and for as long as somebody tries it, when another may: null for one that is over.
  due_at timestamptz default clock_timestamp(),
  -- Who tries it.
  claim uuid,
  tried_at timestamptz,
  -- The status of the last answer, or what was in its place.
  status integer,
  error text,
  check ((state = 'pending') = (due_at is not null))
);
create index webhook_deliveries_due on webhook_deliveries (webhook_id, due_at) where state = 'pending';
create index webhook_deliveries_of_team on webhook_deliveries (team_id, at, id);
create index webhook_deliveries_by_time on webhook_deliveries (at, id);

-- What people were warned of, so that it is told once: of each key one end, and one late version.
create table key_notices (
  key_id text not null references keys (id),
  kind text not null,
  -- The end in milliseconds since the epoch, or the version's number.
  mark bigint not null,
  primary key (key_id, kind)
);
`;
