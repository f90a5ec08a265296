import type { Db } from "../../store/database/change.ts";
import { teamsNamed } from "../../store/teams/teams.ts";
import { type Rights, visibleTeams } from "./rights.ts";

/**
 * Returns the ids of the teams that the caller sees, limited to the given name or id if it is not empty; undefined for
 * all teams. Those who run the installation see deleted teams too.
 */
export async function requestedTeams(db: Db, rights: Rights, named: string): Promise<readonly string[] | undefined> {
  const visible = visibleTeams(rights);
  if (named === "") return visible;
  const ids = (await teamsNamed(db, named)).map(({ id }) => id);
  return visible === undefined ? ids : ids.filter((id) => visible.includes(id));
}
