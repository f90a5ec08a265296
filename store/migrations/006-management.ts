/**
 * What the management API makes by itself: keys with the spec that they were made by, whose names are one key's each as
 * long as it lives, and what a creation that is repeated finds (docs/decisions/management-api.md).
 */
export const sql = `
-- Null for a declared key, whose declaration has it. It never holds a secret or a digest.
alter table keys add column spec jsonb;
create unique index keys_of_api_by_name on keys (team_id, namespace, name) where cluster = 'api' and state <> 'revoked';

-- Of the key and of the request the SHA-256. The object is null for as long as it is being made.
create table idempotency_keys (
  caller text not null,
  key bytea not null,
  request bytea not null,
  object_id text,
  made_at timestamptz not null default clock_timestamp(),
  primary key (caller, key)
);
create index idempotency_keys_by_time on idempotency_keys (made_at);

-- Every request of a member asks for its roles.
create index team_members_by_value on team_members (kind, value);
`;
