import { UsageError } from "../command/usage-error.ts";
import type { ManagementClient, ObjectJson } from "./management-client.ts";

/**
 * Finds the team that an argument names, by its name or id.
 *
 * @throws Error if there is none
 * @throws UsageError if several clusters have a team of the name
 */
export async function findNamedTeam(client: ManagementClient, text: string): Promise<ObjectJson> {
  const found = (await client.listObjects("PlatformTeam")).filter(({ id, name }) => id === text || name === text);
  const [team, ...others] = found;
  if (team === undefined) throw new Error(`there is no team ${text}: see keyplane get teams`);
  if (others.length === 0) return team;
  const ids = found.map(({ id }) => id).join(", ");
  throw new UsageError(`there are ${found.length} teams ${text}, in several clusters: say which by its id: ${ids}`);
}
