/** What suspended keys are found by: of themselves, and with their namespace (store/keys/search/key-search.ts). */
export const sql = `
create index keys_suspended on keys (team_id, id) where state = 'suspended';
create index keys_by_place on keys (team_id, cluster, namespace);
`;
