import { randomUUID } from "node:crypto";
import { declareLimits, limitSpec } from "../../../domain/access/declared-limits.ts";
import { type TeamMember, teamMember } from "../../../domain/access/team-member.ts";
import { API_CLUSTER } from "../../../domain/api-cluster.ts";
import { leakActionOf } from "../../../domain/key/stored/leak.ts";
import type { Tx } from "../../../store/database/change.ts";
import { findTeamNamesake, type StoredTeam } from "../../../store/objects/objects.ts";
import { deleteTeam, saveTeam } from "../../../store/teams/teams.ts";
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

  show: ({
    name,
    displayName,
    namespaces,
    members,
    defaultLibrary,
    leakAction,
    allowedCIDRs,
    limits,
    webhooks,
    webhookSecrets,
  }) => {
    const rateLimit = limits === null ? undefined : limitSpec(limits);
    return {
      [UNSEEN]: webhookSecrets,
      namespaces,
      missingSecrets: webhooks.filter(({ hasSecret }) => !hasSecret).map(({ url }) => url),
      spec: {
        ...(displayName === name ? {} : { displayName }),
        namespaces,
        members: members.map(memberJson),
        ...(defaultLibrary && { mcpAgentPolicy: { defaultLibraryRef: libraryRef(defaultLibrary) } }),
        ...(leakAction === "Alert" ? {} : { leaks: { action: leakAction } }),
        ...(allowedCIDRs && { allowedCIDRs }),
        ...(rateLimit && { rateLimit }),
        ...(limits?.budgets && { budgets: limits.budgets }),
        ...(webhooks.length > 0 && { webhooks: webhooks.map(({ url, events }) => ({ url, events })) }),
      },
    };
  },

  async create(tx, context, { name, spec }) {
    requireInstallation(context.rights, "make a team");
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
    cluster: API_CLUSTER,
    name,
    ownerUid,
    displayName: spec.displayName ?? name,
    namespaces: spec.namespaces,
    members: spec.members.map(teamMember),
    defaultLibrary: spec.mcpAgentPolicy?.defaultLibraryRef ?? null,
    leakAction: leakActionOf(spec),
    allowedCIDRs: spec.allowedCIDRs ?? null,
    limits: declareLimits(spec.rateLimit, spec.budgets),
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

/** Returns a reference to a library; without a namespace if the library has none. */
function libraryRef({ namespace, name }: { readonly namespace: string; readonly name: string }) {
  return { ...(namespace !== "" && { namespace }), name };
}

function memberJson({ role, kind, value, libraryRefs }: TeamMember) {
  const reach = libraryRefs && { libraryRefs: libraryRefs.map(libraryRef) };
  if (kind !== "serviceAccount") return { role, [kind]: value, ...reach };
  const [namespace, name] = value.split("/");
  return { role, serviceAccount: { namespace, name }, ...reach };
}
