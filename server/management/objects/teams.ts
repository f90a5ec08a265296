import { randomUUID } from "node:crypto";
import { API_CLUSTER } from "../../../domain/api-cluster.ts";
import { declareTeam, teamSpec } from "../../../domain/team/declared-team.ts";
import type { Tx } from "../../../store/database/change.ts";
import { findTeamNamesake, type StoredTeam } from "../../../store/objects/objects.ts";
import { deleteTeam, saveTeam } from "../../../store/teams/teams.ts";
import { requireSessionStill } from "../../auth/management/principal-now.ts";
import type { ChangeContext } from "../change-context.ts";
import { UNSEEN } from "../preconditions.ts";
import { NEW_NAME, REASON, type ReasonBody } from "../request-schemas.ts";
import { requireInstallation } from "../rights.ts";
import { invalid } from "./diagnostics.ts";
import { nameTaken } from "./placement.ts";
import { type ReadTeam, readTeam, TEAM_SPEC } from "./read-team.ts";
import type { ManagedResource } from "./resource.ts";

type CreateBody = ReasonBody & { name: string; spec: unknown };

/**
 * Teams in the management API. Their namespaces are names among what is made by hand: namespaces of a cluster are
 * claimed in that cluster.
 */
export const TEAMS: ManagedResource<"team", CreateBody> = {
  kind: "team",
  path: "teams",
  declaredAs: "PlatformTeam",
  action: "change the team",
  title: "Team",
  shown: {
    namespaces: { type: "array", items: { type: "string" } },
    missingSecrets: { type: "array", description: "Webhooks that nothing is sent to.", items: { type: "string" } },
  },
  specSchema: TEAM_SPEC,
  createSchema: {
    type: "object",
    additionalProperties: false,
    required: ["name", "spec"],
    properties: { name: NEW_NAME, spec: TEAM_SPEC, reason: REASON },
  },

  example: {
    name: "research",
    spec: { displayName: "Research", members: [{ role: "admin", group: "research-leads" }] },
  },

  show: (team) => ({
    [UNSEEN]: team.webhookSecrets,
    namespaces: team.namespaces,
    missingSecrets: team.webhooks.filter(({ hasSecret }) => !hasSecret).map(({ url }) => url),
    spec: {
      ...teamSpec(team),
      ...(team.webhooks.length > 0 && { webhooks: team.webhooks.map(({ url, events }) => ({ url, events })) }),
    },
  }),

  async create(tx, context, { name, spec }) {
    requireInstallation(context.rights, "make a team");
    await requireSessionStill(tx, context.principal);
    const taken = await findTeamNamesake(tx, name);
    if (taken !== undefined) throw nameTaken("team", taken);
    return save(tx, context, { name, ownerUid: randomUUID(), generation: 0 }, readTeam({ name, namespace: "", spec }));
  },

  async replace(tx, context, stored, spec) {
    await save(tx, context, stored, readTeam({ ...stored, spec }, stored));
  },

  async remove(tx, { author, rights }, { cluster, name, ownerUid }) {
    requireInstallation(rights, "delete a team");
    await deleteTeam(tx, { cluster, name, ownerUid, by: author });
  },
};

async function save(
  tx: Tx,
  { author, keyring }: ChangeContext,
  { name, ownerUid, generation }: Pick<StoredTeam, "name" | "ownerUid" | "generation">,
  spec: ReadTeam,
): Promise<{ id: string }> {
  const draft = {
    ...declareTeam(spec, name),
    cluster: API_CLUSTER,
    name,
    ownerUid,
    webhooks: spec.webhooks,
    generation: generation + 1,
    by: author,
  };
  const { teamId: id, refused } = await saveTeam(tx, draft, keyring);
  if (refused.length > 0) {
    const message = "belongs to another team: choose another";
    const taken = new Set(refused.map(({ namespace }) => namespace));
    throw invalid(
      spec.namespaces.flatMap((namespace, i) =>
        taken.has(namespace) ? [{ path: `spec.namespaces[${i}]`, message }] : [],
      ),
    );
  }
  return { id };
}
