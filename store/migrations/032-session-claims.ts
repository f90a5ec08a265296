/** How old what an issuer has said of a session is: the groups of one that is old count no more. */
export const sql = `
-- When the issuer last said who it is, and in which groups.
alter table sessions add column claims_at timestamptz not null default clock_timestamp();
`;
