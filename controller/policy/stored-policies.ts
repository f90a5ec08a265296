/** Keeps the policies in the store, by which servers judge what is made by hand, as the cluster has them. */
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

/** Stores a policy as it was found; writes nothing if it is stored so. */
export async function storePolicy({ store, fence }: ControllerDeps, found: FoundPolicy): Promise<void> {
  if (await isPolicySaved(store.db, found)) return;
  await change(store, fence, (tx) => savePolicy(tx, found));
}

/**
 * Stores which policies cannot be read, and stores again those that were forgotten by mistake. Forgets policies that
 * are being deleted, or that the cluster itself says are gone: a list that lacks some loosens nothing.
 *
 * @returns true if it has forgotten a policy
 */
export async function storePresence({ cluster, store, fence }: ControllerDeps): Promise<boolean> {
  const stored = await policiesOfCluster(store.db, cluster.uid);
  // Read after what is stored, so that a policy that another look has removed meanwhile is not taken for forgotten.
  const readable = cluster.list("PlatformKeyPolicy");
  const known = new Set(readable.map(({ uid }) => uid));
  const unreadable = cluster.uids("PlatformKeyPolicy").filter((uid) => !known.has(uid));
  const present = new Set([...readable.filter(({ deleting }) => !deleting).map(({ uid }) => uid), ...unreadable]);
  const deleted = new Set(readable.filter(({ deleting }) => deleting).map(({ uid }) => uid));
  const gone: string[] = [];
  for (const { uid, name } of stored.filter((one) => !present.has(one.uid))) {
    // A policy that could never be read has no known name, and cannot be looked up: a list of its kind has to lack it.
    const isUnlisted = name === "" && cluster.listedNamespaces("PlatformKeyPolicy")?.length !== 0;
    const isGone =
      deleted.has(uid) ||
      isUnlisted ||
      (name !== "" && (await cluster.lookUp({ kind: "PlatformKeyPolicy", namespace: "", name }, uid)) === "gone");
    if (isGone) gone.push(uid);
  }
  const news = unreadable.filter((uid) => !stored.some((one) => one.uid === uid && !one.isReadable));
  const forgotten = readable.filter(
    ({ uid, deleting, status }) => !deleting && status !== undefined && !stored.some((one) => one.uid === uid),
  );
  if (gone.length === 0 && news.length === 0 && forgotten.length === 0) return false;
  await change(store, fence, async (tx) => {
    await removePolicies(tx, cluster.uid, gone);
    await saveUnreadablePolicies(tx, cluster.uid, news);
    for (const policy of forgotten) await savePolicy(tx, asFound(cluster.uid, policy));
  });
  return gone.length > 0;
}

/** Returns a policy as its status has it. */
function asFound(cluster: string, { uid, name, spec, status }: DeclaredObject<"PlatformKeyPolicy">): FoundPolicy {
  // We write this status.
  const { teams = [], rules = [] } = (status ?? {}) as Partial<PlatformKeyPolicyStatus>;
  return { cluster, uid, name, spec, teams, rules };
}

/** Milliseconds between two looks at what teams share. */
export const SHARED_BUDGETS_INTERVAL_MS = 600_000;

/**
 * Makes teams share what policies say by now. A version that knows nothing of shared budgets may serve beside this one
 * for a while. Without this look, a team that it saves and that no cluster declares would not be put right.
 */
export async function lookAtSharedBudgets({ cluster, store, fence }: ControllerDeps): Promise<void> {
  await change(store, fence, (tx) => renewSharedBudgets(tx, cluster.uid));
}
