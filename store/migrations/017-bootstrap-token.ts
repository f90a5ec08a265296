/** Which replicas take a bootstrap token although an issuer lets people in: the doctor asks. */
export const sql = `
alter table replicas add column bootstrap_beside_issuer boolean not null default false;
`;
