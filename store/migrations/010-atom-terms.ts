/**
 * One index for what a search looks for: the words of an atom together with its team, its library and its tags. So a
 * search merges the lists of its own team's atoms alone, and costs nothing for what another team stores. It takes the
 * place of the indexes of the words and of the tags; a build of before works without them, and searches slowly, until it
 * is replaced. A space sets the terms apart from words, which hold none.
 *
 * The index is built in the migration's transaction: reading goes on, and whoever saves an atom waits, about two seconds
 * for 100,000 atoms. Its list of what is yet to be sorted in is kept short, because a save that finds it full sorts in all
 * of it.
 *
 * No plan depends on statistics about the wide columns, and to gather them reads every word of thousands of atoms.
 */
export const sql = `
create function atom_terms(team_id text, library_id text, tags text[]) returns tsvector
  language sql immutable parallel safe
  return array_to_tsvector(array['team ' || team_id, 'library ' || library_id]
    || (select coalesce(array_agg('tag ' || tag), '{}') from unnest(tags) tag));
drop index atoms_search;
drop index atoms_tags;
create index atoms_terms on atoms using gin ((search || atom_terms(team_id, library_id, tags)))
  with (gin_pending_list_limit = 256);
alter table atoms
  alter column content set statistics 0,
  alter column tags set statistics 0,
  alter column source set statistics 0,
  alter column search set statistics 0;
`;
