import { isDeepStrictEqual } from "node:util";
import { budgetsOfPolicy, declareBudgets, policyOwner } from "../../domain/budget/budget.ts";
import type { BudgetStanding } from "../../domain/budget/budget-condition.ts";
import { rulesInForce, rulesOnRecord } from "../../domain/key/policies/rules-in-force.ts";
import { selectsTeam } from "../../domain/key/policies/team-selector.ts";
import type { PlatformKeyPolicyStatus } from "../../domain/kinds/generated/platform-key-policy.ts";
import type { PlatformTeamStatus } from "../../domain/kinds/generated/platform-team.ts";
import { policyDeleting, policyInForce, policySelection } from "../../domain/object-conditions.ts";
import { rfc3339 } from "../../domain/rfc3339.ts";
import { readUses } from "../../store/budgets/read-budgets.ts";
import { databaseTime } from "../../store/database/times.ts";
import { findStoredPolicy } from "../../store/policies/key-policies.ts";
import { teamsBesides } from "../../store/teams/teams.ts";
import { beginsInMs, withBudgetConditions } from "../budgets/budget-status.ts";
import { reportBudgets } from "../budgets/report-budgets.ts";
import type { DeclaredObject, ObjectRef } from "../cluster/port.ts";
import type { ControllerDeps } from "../context/deps.ts";
import { declaredStatus } from "../context/object-status.ts";
import type { ReconcileResult } from "../context/reconcile-result.ts";
import { writeStatus } from "../context/status-write.ts";
import { storePolicy, storePresence } from "./stored-policies.ts";

/** Namespaces that each policy was last found to be for, by its name. */
export type PolicyNamespaces = Map<string, readonly string[]>;

/**
 * Notes in a policy's status, and in the store, which teams it is for, and since when each of its rules holds. Enqueues
 * the keys that it is for, or was for. A policy that is being deleted is for none.
 *
 * @param known changed by this
 * @param enqueue called once the status is written: keys are held to what the status says
 */
export async function reconcilePolicy(
  deps: ControllerDeps,
  known: PolicyNamespaces,
  name: string,
  enqueue: (object: ObjectRef) => void,
): Promise<ReconcileResult> {
  const { cluster } = deps;
  const object = cluster.get("PlatformKeyPolicy", "", name);
  const isUnreadable =
    object === undefined && cluster.uids("PlatformKeyPolicy").length > cluster.list("PlatformKeyPolicy").length;
  const before = known.get(name) ?? [];
  const applied = object === undefined || object.deleting ? undefined : await applyPolicy(deps, object);
  const isForgotten = applied === undefined && (await storePresence(deps));
  if (object?.deleting) {
    const deleting = policyDeleting(object.finalizers);
    await writeStatus(deps, object, declaredStatus(object, [deleting], deps.clock.now()));
  }
  const after = { requeueAfterMs: applied?.beginInMs };
  // Before this process met the policy, its keys were judged without it.
  if (applied?.isNews === false && known.has(name)) return after;
  if (applied === undefined) known.delete(name);
  else known.set(name, applied.namespaces);
  const concerned = new Set([...before, ...(applied?.namespaces ?? [])]);
  const keys = cluster.list("PlatformKey");
  (isUnreadable || isForgotten ? keys : keys.filter(({ namespace }) => concerned.has(namespace))).forEach(enqueue);
  return after;
}

type AppliedPolicy = {
  /** Namespaces of the teams that the policy is for. */
  readonly namespaces: readonly string[];
  /** True if its keys are held to something else than its status said. */
  readonly isNews: boolean;
  /** Milliseconds until a budget that is used resets; undefined if none does. */
  readonly beginInMs: number | undefined;
};

async function applyPolicy(deps: ControllerDeps, object: DeclaredObject<"PlatformKeyPolicy">): Promise<AppliedPolicy> {
  const { cluster, store, databaseClock } = deps;
  const { uid, name, spec } = object;
  const { now } = await databaseClock.timed(async () => ({ now: await databaseTime(store.db) }));
  const shown = cluster.list("PlatformTeam");
  const unseen = await teamsBesides(
    store.db,
    cluster.uid,
    shown.map(({ name }) => name),
  );
  const teams = [...shown.map((team) => ({ ...team, namespaces: heldNamespaces(team) })), ...unseen]
    // Teams that are being deleted, too: their keys are held to the policy for as long as they are there.
    .filter((team) => selectsTeam(object.spec.teamSelector, team))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const namespaces = [...new Set(teams.flatMap(({ namespaces }) => namespaces))].sort();
  // We write this status.
  const before = object.status as PlatformKeyPolicyStatus | undefined;
  const at = rfc3339(now);
  const stored = await findStoredPolicy(store.db, { cluster: cluster.uid, uid });
  const facts = {
    teams: teams.map(({ name }) => ({ name, since: before?.teams?.find((one) => one.name === name)?.since ?? at })),
    namespaces,
    rules: rulesInForce(spec, rulesOnRecord(before?.rules ?? [], stored.rules), at, stored.spec),
  };
  const { teams: selects, rules: says } = facts;
  // Before its status: keys made by hand from here on are held to it, even if the status cannot be written.
  await storePolicy(deps, { cluster: cluster.uid, uid, name, spec, teams: selects, rules: says });
  const budgets = await observeShared(deps, object, now);
  const changedAt = deps.clock.now();
  const status = declaredStatus(object, [policyInForce(), policySelection(teams.length)], changedAt);
  const full = { ...withBudgetConditions(object, status, budgets, changedAt), ...facts };
  await reportBudgets(deps, object, full, budgets);
  await writeStatus(deps, object, full);
  const { teams: selected = [], namespaces: held = [], rules = [] } = before ?? {};
  const isSame = isDeepStrictEqual(facts, { teams: selected, namespaces: held, rules });
  return {
    ...{ namespaces, isNews: !isSame || before?.observedGeneration !== object.generation },
    beginInMs: beginsInMs(budgets, now),
  };
}

/** Reads the use of the budgets that the policy's teams share. */
async function observeShared(
  { cluster, store }: ControllerDeps,
  { name, spec }: DeclaredObject<"PlatformKeyPolicy">,
  now: number,
): Promise<readonly BudgetStanding[]> {
  const items = declareBudgets(spec.sharedBudgets);
  if (items === null) return [];
  return readUses(store.db, budgetsOfPolicy({ owner: policyOwner(cluster.uid, name), items }), now);
}

/**
 * Returns a team's namespaces as its status has them, or those that it claims if no controller has reconciled it yet.
 */
function heldNamespaces({ spec, status }: DeclaredObject<"PlatformTeam">): readonly string[] {
  // We write this status.
  return (status as PlatformTeamStatus | undefined)?.namespaces ?? spec.namespaces;
}
