/**
 * To gather statistics of the index of what atoms are looked up by reads every word of thousands of them, a second's work
 * on the embedded database, and no plan depends on it. Takes no lock that reading or saving waits for.
 */
export const sql = `
alter index atoms_terms alter column 1 set statistics 0;
`;
