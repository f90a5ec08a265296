/** How far the deletion of a library's atoms is, since nobody can tell from what is left how much there was (threats c52). */
export const sql = `
alter table libraries add column deleted_atoms bigint not null default 0;
`;
