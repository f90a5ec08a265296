/** Which reserved versions may have been read from a Secret: they end with an overlap, as delivered ones do. */
export const sql = `
-- Set right before the Secret is written. A controller of an earlier build does not say: what it reserves may be read.
alter table key_versions add column may_be_read boolean not null default true;
`;
