/** What people call the clusters that keys are declared in, so that pages show it in place of an id. */
export const sql = `
-- A record and no state: no decision depends on it.
create table cluster_names (
  cluster text primary key,
  name text not null
);
`;
