/** Keeps what the store has of policies, by which servers judge what is made by hand, as the cluster has it. */
import type { PlatformKeyPolicyStatus } from "../../domain/kinds/generated/platform-key-policy.ts";
import { change } from "../../store/database/change.ts";
import {
  type FoundPolicy,
  isPolicySaved,
  policiesOfCluster,
  removePolicies,
  renewSharedBudgets,
  savePolicy,
  saveUnreadablePolicies,
} from "../../store/policies/key-policies.ts";
import type { DeclaredObject } from "../cluster/port.ts";
import type { ControllerDeps } from "../context/deps.ts";

/** Stores a policy as it was found; writes nothing where it is stored so. */
export async function storePolicy({ store, fence }: ControllerDeps, found: FoundPolicy): Promise<void> {
  if (await isPolicySaved(store.db, found)) return;
  await change(store, fence, (tx) => savePolicy(tx, found));
}

/**
 * Stores which policies cannot be read, and again those that were forgotten by mistake; and forgets those that are being
 * deleted, or of which the cluster itself says that they are gone: a list that lacks some loosens nothing.
 */
export async function storePresence({ cluster, store, fence }: ControllerDeps): Promise<void> {
  const stored = await policiesOfCluster(store.db, cluster.uid);
  // Later than what is stored: one that another look has removed meanwhile is not there any more, and not forgotten.
  const readable = cluster.list("PlatformKeyPolicy");
  const known = new Set(readable.map(({ uid }) => uid));
  const unreadable = cluster.uids("PlatformKeyPolicy").filter((uid) => !known.has(uid));
  const present = new Set([...readable.filter(({ deleting }) => !deleting).map(({ uid }) => uid), ...unreadable]);
  const deleted = new Set(readable.filter(({ deleting }) => deleting).map(({ uid }) => uid));
  const gone: string[] = [];
  for (const { uid, name } of stored.filter((one) => !present.has(one.uid))) {
    // Of one that could never be read no name is known to ask for.
    const isGone =
      deleted.has(uid) ||
      name === "" ||
      (await cluster.lookUp({ kind: "PlatformKeyPolicy", namespace: "", name }, uid)) === "gone";
    if (isGone) gone.push(uid);
  }
  const news = unreadable.filter((uid) => !stored.some((one) => one.uid === uid && !one.isReadable));
  const forgotten = readable.filter(
    ({ uid, deleting, status }) => !deleting && status !== undefined && !stored.some((one) => one.uid === uid),
  );
  if (gone.length === 0 && news.length === 0 && forgotten.length === 0) return;
  await change(store, fence, async (tx) => {
    await removePolicies(tx, cluster.uid, gone);
    await saveUnreadablePolicies(tx, cluster.uid, news);
    for (const policy of forgotten) await savePolicy(tx, asFound(cluster.uid, policy));
  });
}

/** A policy as its status has it. */
function asFound(cluster: string, { uid, name, spec, status }: DeclaredObject<"PlatformKeyPolicy">): FoundPolicy {
  // What is written there is ours.
  const { teams = [], rules = [] } = (status ?? {}) as Partial<PlatformKeyPolicyStatus>;
  return { cluster, uid, name, spec, teams, rules };
}

/** The time between two looks at what teams share, in milliseconds. */
export const SHARED_BUDGETS_INTERVAL_MS = 600_000;

/**
 * Has teams share what policies say by now: beside this version one that knows nothing of it may serve for a while, and
 * what it saves of a team that no cluster declares comes round no other way.
 */
export async function lookAtSharedBudgets({ cluster, store, fence }: ControllerDeps): Promise<void> {
  await change(store, fence, (tx) => renewSharedBudgets(tx, cluster.uid));
}
