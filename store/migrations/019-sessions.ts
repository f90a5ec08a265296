/** Who is signed in to the console, and the links and logout tokens that sign a person in or out once. */
export const sql = `
-- By the SHA-256 of what the session's cookie holds: whoever reads the table signs in as nobody. An ended one is gone.
create table sessions (
  digest bytea primary key check (octet_length(digest) = 32),
  -- Who it is; null for the installation's own, who came by a one-time link.
  issuer text,
  subject text,
  groups text[] not null,
  -- As the issuer knows the session, where it says.
  sid text,
  display_name text not null,
  created_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz not null,
  check ((issuer is null) = (subject is null))
);
-- An issuer that says that somebody has signed out names the subject, the session or both.
create index sessions_by_subject on sessions (issuer, subject);
create index sessions_by_sid on sessions (issuer, sid) where sid is not null;
create index sessions_by_end on sessions (expires_at);

-- One-time links, by the SHA-256 of what they hold. A used one is gone.
create table sign_in_links (
  digest bytea primary key check (octet_length(digest) = 32),
  expires_at timestamptz not null
);

-- The logout tokens that were taken, each of them once, for as long as it would be taken again.
create table logout_tokens (
  issuer text not null,
  jti text not null,
  expires_at timestamptz not null,
  primary key (issuer, jti)
);
`;
