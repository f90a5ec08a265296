/** Whether upstreams take the credentials that gateways have for them (store/gateways/upstream-outcomes.ts). */
export const sql = `
-- When an upstream last took its credential, which a success shows, and when it last refused it.
alter table upstream_outcomes add column accepted_at timestamptz, add column refused_at timestamptz;
`;
