/** How many saves wait together to be sorted into the index of words (docs/decisions/memory-search.md). */
export const sql = `
-- An atom of 60 kB fills a list of 256 kB by itself, so that each such save sorted its own in. Of four the words that they
-- share are sorted in once, and a search reads the longer list in the same time.
alter index atoms_terms set (gin_pending_list_limit = 1024);
`;
