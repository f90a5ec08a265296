import { teamMember } from "../../domain/access/team-member.ts";
import { condition, OUTDATED, type StatedCondition } from "../../domain/conditions.ts";
import { leakActionOf } from "../../domain/key/leak.ts";
import type { Spec } from "../../domain/kinds/kinds.ts";
import { namespaceClaims, teamLibraries } from "../../domain/object-conditions.ts";
import { isReservedNamespace } from "../../domain/reserved-namespaces.ts";
import { change } from "../../store/database/change.ts";
import { StaleDeclarationError } from "../../store/database/errors.ts";
import { findInTeam } from "../../store/objects/references.ts";
import { deleteTeam, findTeam, saveTeam, type TeamDraft } from "../../store/teams/teams.ts";
import { type DeclaredObject, FINALIZER } from "../cluster/port.ts";
import type { ControllerDeps } from "../context/deps.ts";
import { declaredStatus } from "../context/object-status.ts";
import { AT_REST, type ReconcileResult } from "../context/reconcile-result.ts";
import { writeStatus } from "../context/status-write.ts";
import { readWebhooks } from "./team-webhooks.ts";

/**
 * Brings a team's claims, members and policy into the store. The first stored claim of a namespace wins.
 *
 * @param moved called, as soon as the change is committed, with the namespaces that have another team now
 */
export async function reconcileTeam(
  deps: ControllerDeps,
  object: DeclaredObject<"PlatformTeam">,
  moved: (namespaces: readonly string[]) => void,
): Promise<ReconcileResult> {
  const { cluster, store, fence } = deps;
  const before = (await findTeam(store.db, cluster.uid, object.name))?.namespaces ?? [];
  if (object.deleting) {
    await change(store, fence, (tx) =>
      deleteTeam(tx, { cluster: cluster.uid, name: object.name, ownerUid: object.uid }),
    );
    moved(before);
    await cluster.removeFinalizer(object);
    return AT_REST;
  }
  if (!object.finalizers.includes(FINALIZER)) await cluster.addFinalizer(object);
  const { spec } = object;
  const defaultLibrary = spec.mcpAgentPolicy?.defaultLibraryRef ?? null;
  const reserved = spec.namespaces.filter((namespace) => isReservedNamespace(namespace, deps.ownNamespace));
  const { webhooks, missing, why } = await readWebhooks(deps, object, reserved);
  const result = await save(deps, {
    cluster: cluster.uid,
    name: object.name,
    ownerUid: object.uid,
    displayName: spec.displayName ?? object.name,
    namespaces: spec.namespaces.filter((namespace) => !reserved.includes(namespace)),
    members: spec.members.map(teamMember),
    defaultLibrary,
    leakAction: leakActionOf(spec),
    webhooks,
    generation: object.generation,
  });
  if (result === undefined) {
    const outdated = condition("Accepted", "False", "Outdated", OUTDATED);
    await writeStatus(deps, object, declaredStatus(object, [outdated], deps.clock.now()));
    return AT_REST;
  }
  const refused = new Set([...reserved, ...result.refused.map(({ namespace }) => namespace)]);
  const held = spec.namespaces.filter((namespace) => !refused.has(namespace));
  moved([...new Set(before).symmetricDifference(new Set(held))]);

  const libraries = await missingLibraries(deps, spec, result.teamId);
  const found = [namespaceClaims(result.refused, reserved), references(libraries, missing, why)];
  await writeStatus(deps, object, {
    ...declaredStatus(object, found, deps.clock.now()),
    teamID: result.teamId,
    namespaces: held,
  });
  return AT_REST;
}

/** Undefined when a later generation of the declaration has been applied. */
async function save(
  { store, fence, keyring }: ControllerDeps,
  draft: TeamDraft,
): Promise<Awaited<ReturnType<typeof saveTeam>> | undefined> {
  try {
    return (await change(store, fence, (tx) => saveTeam(tx, draft, keyring))).result;
  } catch (error) {
    if (error instanceof StaleDeclarationError) return undefined;
    throw error;
  }
}

/** What a team says of libraries that it does not have; undefined where it has all that it names. */
async function missingLibraries(
  { store, cluster }: ControllerDeps,
  { mcpAgentPolicy, members }: Spec<"PlatformTeam">,
  teamId: string,
): Promise<StatedCondition | undefined> {
  const policy = mcpAgentPolicy?.defaultLibraryRef;
  const refs = [...(policy ? [policy] : []), ...members.flatMap(({ libraryRefs = [] }) => libraryRefs)];
  const found = await findInTeam(store.db, "libraries", teamId, refs, cluster.uid);
  const absent = refs.filter((_, i) => found[i] === "absent");
  const ofMembers = absent.filter((ref) => ref !== policy).map(({ namespace, name }) => `${namespace}/${name}`);
  return teamLibraries(policy !== undefined && absent.includes(policy), ofMembers);
}

/**
 * @param libraries what is said of libraries that do not exist; undefined where all do
 * @param missing the Secrets that webhooks would be signed with
 * @param why one of them may not be read; undefined where all may
 */
function references(
  libraries: StatedCondition | undefined,
  missing: readonly string[],
  why: string | undefined,
): StatedCondition {
  if (libraries !== undefined) return libraries;
  if (why !== undefined) {
    const message = `A webhook's signing secret cannot be read: ${why}. The webhook goes on as it was.`;
    return condition("ResolvedRefs", "False", "SecretUnreadable", message);
  }
  return missing.length > 0
    ? condition("ResolvedRefs", "False", "WebhookSecretNotFound", `There is no usable ${missing.join(", and no ")}.`)
    : condition("ResolvedRefs", "True", "Resolved", "Everything that is referred to exists.");
}
