import type { Db } from "../../store/database/change.ts";
import { teamsNamed } from "../../store/teams.ts";
import { type Rights, visibleTeams } from "./rights.ts";

/** Those of the teams that somebody sees which have the name or the id, where one is given; undefined for all there are. */
export async function askedTeams(db: Db, rights: Rights, named: string): Promise<readonly string[] | undefined> {
  const visible = visibleTeams(rights);
  if (named === "") return visible;
  const ids = (await teamsNamed(db, named)).map(({ id }) => id);
  return visible === undefined ? ids : ids.filter((id) => visible.includes(id));
}
