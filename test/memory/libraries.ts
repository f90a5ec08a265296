import { sql } from "kysely";
import type { Store } from "../../store/database/store.ts";

/** The libraries that the tests of the memory are about, as (id, team, namespace, name). */
const LIBRARIES = [
  ["lib-handbook", "team-a", "a-dev", "handbook"],
  ["lib-diary", "team-a", "a-dev", "diary"],
  ["lib-ops", "team-a", "a-prod", "ops"],
  ["lib-b-notes", "team-b", "b", "b-notes"],
] as const;

export async function addTeamsWithLibraries(store: Store): Promise<void> {
  for (const team of ["team-a", "team-b"]) await addTeam(store, team);
  for (const [id, team, namespace, name] of LIBRARIES) await addLibrary(store, { id, team, namespace, name });
}

/** Adds a team of this id and name. */
export async function addTeam(store: Store, team: string): Promise<void> {
  await sql`insert into teams (id, cluster, name, display_name, state, generation)
    values (${team}, 'c', ${team}, ${team}, 'active', 1)`.execute(store.db);
}

export async function addLibrary(
  store: Store,
  library: { id: string; team: string; namespace: string; name: string; ownerUid?: string },
): Promise<void> {
  await sql`insert into libraries (id, cluster, namespace, name, team_id, owner_uid, display_name, description, deletion_policy, state)
    values (${library.id}, 'c', ${library.namespace}, ${library.name}, ${library.team}, ${library.ownerUid ?? "uid-1"},
      ${library.name}, ${`What ${library.name} is for.`}, 'Delete', 'active')`.execute(store.db);
}
