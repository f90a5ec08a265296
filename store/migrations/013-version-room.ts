/**
 * Invariant I1: up to four retiring versions beside the active one. Each version knows which loss of its Secret it heals,
 * and the record of a Secret who else had a hand in it: so that a person can be told who keeps undoing it.
 */
export const sql = `
alter table key_versions
  drop constraint key_versions_check,
  add constraint key_versions_retiring check (
    state <> 'retiring' or (retiring_slot is not null and retiring_slot between 1 and 4 and retire_at is not null)
  ),
  add column heals text,
  add column heals_at timestamptz;
alter index key_versions_two_retiring rename to key_versions_four_retiring;
alter table key_secrets add column marks text[] not null default '{}';
`;
