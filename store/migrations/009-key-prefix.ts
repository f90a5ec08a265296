/** An import asks whether its prefix identifies another key already. */
export const sql = `
create index key_versions_by_prefix on key_versions (prefix);
`;
