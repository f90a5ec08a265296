import { API_CLUSTER } from "../../../domain/api-cluster.ts";
import type { Db } from "../../../store/database/change.ts";
import { holdsNamespace, teamsNamed } from "../../../store/teams/teams.ts";
import { type Problem, problem } from "../../http/problems/problem.ts";
import { type Action, type Rights, requireRight, seesTeam } from "../rights.ts";
import { invalid } from "./diagnostics.ts";

const NO_TEAM_NAMED = "is missing: name the team that it is for";
const NO_SUCH_TEAM = "is not one of your teams: write its name, or its id";

/**
 * Finds the team that something is to be made for. A team that the caller does not belong to counts as absent.
 *
 * @param named name or id of the team
 * @throws Problem `invalid`, or `forbidden` if the caller's role does not allow it
 */
export async function teamFor(
  db: Db,
  rights: Rights,
  named: string,
  action: Action,
): Promise<{ id: string; cluster: string }> {
  const inService = (await teamsNamed(db, named)).filter(({ state }) => state === "active");
  const [team, ...more] = inService.filter(({ id }) => seesTeam(rights, id));
  if (team === undefined) throw invalid([{ path: "team", message: named === "" ? NO_TEAM_NAMED : NO_SUCH_TEAM }]);
  if (more.length > 0) {
    throw invalid([{ path: "team", message: "names a team in each of several clusters: write its id" }]);
  }
  requireRight(rights, team.id, action);
  return team;
}

/** Returns the refusal of a creation whose name is taken. */
export function nameTaken(what: string, { id }: { readonly id: string }): Problem {
  return problem("exists", `There is a ${what} of this name: \`id\` says which.`, undefined, { id });
}

/** Requires a namespace that the team holds among those of the management API. @throws Problem `invalid` */
export async function requireNamespace(db: Db, teamId: string, namespace: string): Promise<void> {
  if (namespace === "" || (await holdsNamespace(db, teamId, API_CLUSTER, namespace))) return;
  throw invalid([
    {
      path: "namespace",
      message:
        "is not among the namespaces of a team that was made here: leave it out, or add it to the team's spec.namespaces",
    },
  ]);
}
