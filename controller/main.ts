import { randomBytes } from "node:crypto";
import { defined } from "../domain/defined.ts";
import { watchDatabaseClock } from "../runtime/database-clock.ts";
import type { LogLine } from "../runtime/log-line.ts";
import { takeLeadership } from "../store/database/change.ts";
import type { Store } from "../store/database/store.ts";
import type { Keyring } from "../store/encryption/keyring.ts";
import { recordClusterName } from "../store/objects/cluster-names.ts";
import type { Cluster } from "./cluster/port.ts";
import { watchConfirmations } from "./context/confirmations.ts";
import { createPendingEvents } from "./context/pending-events.ts";
import { type ControllerOptions, runController } from "./controller.ts";
import { createKeyChanges } from "./key/key-changes.ts";
import { newKeyMemory } from "./key/key-memory.ts";
import type { ControllerMetrics } from "./metrics.ts";

export type ControllerSetup = {
  readonly cluster: Cluster;
  readonly store: Store;
  readonly keyring: Keyring;
  readonly publicUrl: string;
  readonly clock: { now(): number; monotonic(): number };
  readonly log: LogLine;
  readonly metrics?: ControllerMetrics;
  readonly onReconciled?: ControllerOptions["onReconciled"];
  readonly retentionMs?: number;
  readonly ownNamespace?: string | undefined;
  /** Name that people call the cluster by; if undefined, the name that was kept before stays. */
  readonly clusterName?: string | undefined;
};

/** Takes the leadership of the cluster's scope and runs the controller until the signal. */
export async function startController(setup: ControllerSetup, signal: AbortSignal): Promise<void> {
  const { cluster, clusterName, store, clock, metrics, onReconciled, retentionMs } = setup;
  const fence = await takeLeadership(store, leadershipScope(cluster));
  if (clusterName !== undefined) await recordClusterName(store, fence, clusterName);
  const deps = {
    ...setup,
    fence,
    keyChanges: createKeyChanges(store, fence),
    confirmations: watchConfirmations(store, clock.monotonic, metrics?.confirmed),
    databaseClock: watchDatabaseClock(clock.monotonic, setup.log),
    keyMemory: newKeyMemory(),
    pendingEvents: createPendingEvents(clock.monotonic),
    randomBytes,
    ...(metrics === undefined ? {} : { onCollected: metrics.collected }),
  };
  const options = defined({ clock, random: Math.random, retentionMs, metrics: metrics?.queue, onReconciled });
  await runController(deps, options, signal);
}

/**
 * Returns the scope of a leadership, which has a single leader at a time: the cluster, or the namespaces of it that
 * this controller serves, so that controllers with namespaces of their own do not depose one another.
 */
export function leadershipScope({ uid, namespaces }: Pick<Cluster, "uid" | "namespaces">): string {
  return namespaces === null ? uid : `${uid}/${[...namespaces].sort().join(",")}`;
}

/**
 * Returns the namespaces that the leader of a scope has served, null for all; undefined for a scope of another cluster.
 */
export function namespacesOfScope(scope: string, uid: string): readonly string[] | null | undefined {
  if (scope === uid) return null;
  return scope.startsWith(`${uid}/`) ? scope.slice(uid.length + 1).split(",") : undefined;
}
