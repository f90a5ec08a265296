/** Each replica writes the lease that it was started with: a process that waits for it may have to wait so long. */
export const sql = `
alter table replicas add column lease_ms integer not null default 5000;
`;
