/** What manages a key that the management API made, and is where it is to be changed: for people. */
export const sql = `
alter table keys add column managed_by text;
`;
