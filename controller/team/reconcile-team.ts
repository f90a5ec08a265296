import type { BudgetStanding } from "../../domain/budget/budget-condition.ts";
import { condition, outdatedText, type StatedCondition } from "../../domain/conditions.ts";
import type { Spec } from "../../domain/kinds/kinds.ts";
import { type LeftClaim, namespaceClaims, teamLibraries } from "../../domain/object-conditions.ts";
import { isReservedNamespace } from "../../domain/reserved-namespaces.ts";
import { declareTeam } from "../../domain/team/declared-team.ts";
import { readTeamBudgets } from "../../store/budgets/read-budgets.ts";
import { change } from "../../store/database/change.ts";
import { StaleDeclarationError } from "../../store/database/errors.ts";
import { databaseTime } from "../../store/database/times.ts";
import { findInTeam } from "../../store/objects/references.ts";
import { deleteTeam, findTeam, type SavedTeam, saveTeam, type TeamDraft } from "../../store/teams/teams.ts";
import { beginsInMs, withBudgetConditions } from "../budgets/budget-status.ts";
import { reportBudgets } from "../budgets/report-budgets.ts";
import { type DeclaredObject, FINALIZER } from "../cluster/port.ts";
import type { ControllerDeps } from "../context/deps.ts";
import { declaredStatus } from "../context/object-status.ts";
import { AT_REST, type ReconcileResult } from "../context/reconcile-result.ts";
import { writeStatus } from "../context/status-write.ts";
import type { ClaimOrder } from "./claim-order.ts";
import { type ReadWebhooks, readWebhooks } from "./team-webhooks.ts";

/**
 * Milliseconds until a team is looked at again while it leaves a namespace to another team that is yet to be stored.
 */
const LEFT_INTERVAL_MS = 1_000;

/**
 * Brings a team's claims, members and policy into the store. A namespace stays with the team that holds it; a namespace
 * that no team holds is left to the team that comes first.
 *
 * @param moved called, as soon as the change is committed, with the namespaces that have another team now
 */
export async function reconcileTeam(
  deps: ControllerDeps,
  order: ClaimOrder,
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
  const stored = await order.attempt(object, () => storeTeam(deps, order, object)).catch(outdated);
  if (stored instanceof StaleDeclarationError) {
    const message = outdatedText(object.generation, stored.applied);
    const stated = condition("Accepted", "False", "Outdated", message);
    await writeStatus(deps, object, declaredStatus(object, [stated], deps.clock.now()));
    return AT_REST;
  }
  const { teamId, held, refused, left, reserved, missing, why } = stored;
  moved([...new Set(before).symmetricDifference(new Set(held))]);

  const libraries = await missingLibraries(deps, object.spec, teamId);
  const found = [namespaceClaims(refused, reserved, left), references(libraries, missing, why)];
  const now = deps.clock.now();
  const budgets = await observeBudgets(deps, object, teamId);
  const full = {
    ...withBudgetConditions(object, declaredStatus(object, found, now), budgets.standings, now),
    teamID: teamId,
    namespaces: object.spec.namespaces.filter((namespace) => held.includes(namespace)),
  };
  await reportBudgets(deps, object, full, budgets.standings);
  await writeStatus(deps, object, full);
  return left.length > 0 ? { requeueAfterMs: LEFT_INTERVAL_MS } : { requeueAfterMs: budgets.beginInMs };
}

/** Reads the use of a team's budgets, and the milliseconds until a budget that is used resets. */
async function observeBudgets(
  { store }: ControllerDeps,
  { spec, name }: DeclaredObject<"PlatformTeam">,
  teamId: string,
): Promise<{ readonly standings: readonly BudgetStanding[]; readonly beginInMs: number | undefined }> {
  const { limits } = declareTeam(spec, name);
  if (limits?.budgets === undefined) return { standings: [], beginInMs: undefined };
  const now = await databaseTime(store.db);
  const standings = await readTeamBudgets(store.db, { id: teamId, limits }, now);
  return { standings, beginInMs: beginsInMs(standings, now) };
}

/** Result of storing a team: what was stored, and what could not be. */
type StoredTeam = SavedTeam &
  Pick<ReadWebhooks, "missing" | "why"> & {
    /** Namespaces of the team that can be no team's. */
    readonly reserved: readonly string[];
    /** Namespaces that no team holds, and that go to another team. */
    readonly left: readonly LeftClaim[];
  };

/** Returns the error of a declaration that is older than the applied one; throws any other. */
function outdated(error: unknown): StaleDeclarationError {
  if (error instanceof StaleDeclarationError) return error;
  throw error;
}

/** Stores a team. @throws StaleDeclarationError if a later generation of the declaration has been applied */
async function storeTeam(
  deps: ControllerDeps,
  order: ClaimOrder,
  object: DeclaredObject<"PlatformTeam">,
): Promise<StoredTeam> {
  const { cluster, store, fence, keyring } = deps;
  if (!object.finalizers.includes(FINALIZER)) await cluster.addFinalizer(object);
  const { spec } = object;
  const reserved = spec.namespaces.filter((namespace) => isReservedNamespace(namespace, deps.ownNamespace));
  const { webhooks, missing, why } = await readWebhooks(deps, object, reserved);
  const namespaces = spec.namespaces.filter((namespace) => !reserved.includes(namespace));
  // Only now: another team may have been declared meanwhile.
  const others = order.othersBefore(object);
  const draft: TeamDraft = {
    ...declareTeam(spec, object.name),
    cluster: cluster.uid,
    name: object.name,
    labels: object.labels,
    ownerUid: object.uid,
    namespaces,
    leftToOthers: [...others.keys()],
    webhooks,
    generation: object.generation,
  };
  const { result } = await change(store, fence, (tx) => saveTeam(tx, draft, keyring));
  const settled = new Set([...result.held, ...result.refused.map(({ namespace }) => namespace)]);
  const left = namespaces.flatMap((namespace) => {
    const goesTo = others.get(namespace);
    return goesTo === undefined || settled.has(namespace) ? [] : [{ namespace, goesTo }];
  });
  return { ...result, reserved, left, missing, why };
}

/** Returns the condition for libraries that a team names and does not have; undefined if it has all of them. */
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
 * Returns the condition of a team's references.
 *
 * @param libraries condition for libraries that do not exist; undefined if all do
 * @param missing Secrets that webhooks would be signed with, and that are missing or hold no signing secret
 * @param why reason why one of them may not be read; undefined if all may
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
