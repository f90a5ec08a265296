import { errorText } from "../domain/error-text.ts";
import type { Kind } from "../domain/kinds/kinds.ts";
import { DEFAULT_RETENTION_MS } from "../domain/protocol.ts";
import { type PeriodicTask, runPeriodically } from "../runtime/periodic.ts";
import { StaleLeaderError } from "../store/database/errors.ts";
import { PRUNE_INTERVAL_MS, prune } from "../store/retention.ts";
import { watchReachedBudgets } from "./budgets/reached-budgets.ts";
import { type Cluster, ClusterError } from "./cluster/port.ts";
import { titleOf } from "./cluster/titles.ts";
import { AT_REST, type ReconcileResult } from "./context/reconcile-result.ts";
import { PENDING_EVENTS_INTERVAL_MS, recordPendingEvents } from "./context/record-event.ts";
import { createGarbageCollector, GARBAGE_COLLECTION_INTERVAL_MS } from "./garbage-collection.ts";
import { reconcileGateway } from "./gateway/reconcile-gateway.ts";
import { watchRefusedCredentials } from "./gateway/refused-credentials.ts";
import type { KeyDeps } from "./key/key-deps.ts";
import { endKey, reconcileKey } from "./key/reconcile-key.ts";
import { reconcileLibrary } from "./library/reconcile-library.ts";
import { watchManualChanges } from "./manual-changes.ts";
import { watchMovedNamespaces } from "./moved-namespaces.ts";
import { createMadeKeyHolder } from "./policy/hold-made-keys.ts";
import { type PolicyNamespaces, reconcilePolicy } from "./policy/reconcile-policy.ts";
import { lookAtSharedBudgets, SHARED_BUDGETS_INTERVAL_MS } from "./policy/stored-policies.ts";
import type { EarlyLane } from "./queue/waiting-line.ts";
import { createWorkQueue, type QueueMetrics, REMAINS, type WorkQueueOptions } from "./queue/work-queue.ts";
import { isReconciled, roundRobin } from "./resync.ts";
import { startupOrder } from "./startup-order.ts";
import { type ClaimOrder, createClaimOrder } from "./team/claim-order.ts";
import { reconcileTeam } from "./team/reconcile-team.ts";
import {
  allObjects,
  createWatchMapping,
  requestsForGateway,
  requestsForLibrary,
  requestsForMove,
} from "./watch-mapping.ts";

/** How many names are worked on at once. */
const CONCURRENCY = 16;
/**
 * How many objects a resync takes: of those that are reconciled, and of those that are not. Where there are few, each is
 * looked at again within a minute, whatever any watch or status says (architecture §2, I8). Where there are many, the
 * reconciled ones take turns: watches have deadlines, and the feed shows when the database was rolled back.
 */
const MAX_RECONCILED_PER_RESYNC = 100;
const MAX_UNRECONCILED_PER_RESYNC = 1_000;

/** The time between two rounds of a kind. Milliseconds. */
const INTERVALS_MS = {
  resync: 25_000,
  /** Of looking at keys that were made by hand, which no policy reports. */
  madeKeys: 10_000,
  /** Of asking the database what no watch reports: claims of other controllers, and what servers have written. */
  database: 5_000,
};

/** How long a name waits while another cluster answers. */
const WHILE_REPLACED_MS = 10_000;

/** What the controller does besides its queue; `what` is for the log, after "while". */
type NamedTask = Omit<PeriodicTask, "onFailure"> & { readonly what: string };

type Item = { readonly kind: Kind; readonly namespace: string; readonly name: string };

export type ControllerOptions = {
  readonly clock: { now(): number; monotonic(): number };
  readonly random: () => number;
  readonly metrics?: QueueMetrics;
  /** Called with each object that was brought to rest, or could not be. */
  readonly onReconciled?: (item: Item) => void;
  /** How long the audit log is kept, in milliseconds. */
  readonly retentionMs?: number | undefined;
  readonly intervalsMs?: Partial<typeof INTERVALS_MS>;
};

/**
 * Runs the controller until the signal: every change of the cluster, or by hand, puts a name into the queue, and the
 * object of each name is brought to where its declaration says. Each is also looked at now and then when no change is
 * reported.
 *
 * @returns resolves once the work in hand has ended
 * @throws StaleLeaderError once another leader has taken over
 */
export async function runController(deps: KeyDeps, options: ControllerOptions, signal: AbortSignal): Promise<void> {
  const { cluster, store, log } = deps;
  const deposed = new AbortController();
  const until = AbortSignal.any([signal, deposed.signal]);
  const start = startupOrder();
  const claims = createClaimOrder(cluster);
  const policyNamespaces: PolicyNamespaces = new Map();
  const queue = createWorkQueue<Item>({
    key: titleOf,
    work,
    earlyLane: (item) => earlyLane(cluster, item),
    turn: ({ namespace }) => namespace,
    concurrency: CONCURRENCY,
    clock: options.clock,
    random: options.random,
    onFailure: (item, error, retryInMs) =>
      log("warn", `while reconciling ${titleOf(item)}: ${errorText(error)}`, { retryInMs: Math.round(retryInMs) }),
    ...(options.metrics === undefined ? {} : { metrics: options.metrics }),
  });
  const enqueue = (item: Item) => {
    if (start.admits(item)) queue.add(item);
  };

  async function work(item: Item, _: AbortSignal, isUrgent: boolean): ReturnType<WorkQueueOptions<Item>["work"]> {
    // What is known of the one cluster is not to be done to the other.
    if (cluster.isReplaced()) return WHILE_REPLACED_MS;
    try {
      if (isUrgent) {
        await whileLeading(() => endKey(deps, item, until));
        return REMAINS;
      }
      const result = await whileLeading(() => reconcile(deps, { claims, policyNamespaces }, item, enqueue, until));
      start.attempted(item);
      if ("unconfirmed" in result) {
        resumeOnceConfirmed(item, result.unconfirmed);
        return undefined;
      }
      if ("done" in result) return result;
      options.onReconciled?.(item);
      return result.requeueAfterMs;
    } catch (error) {
      start.attempted(item);
      options.onReconciled?.(item);
      // What the cluster refuses it may refuse for long: meanwhile the status is to say what every replica knows.
      const uid = error instanceof ClusterError ? cluster.get(item.kind, item.namespace, item.name)?.uid : undefined;
      if (uid !== undefined && !deps.confirmations.isConfirmed(uid)) resumeOnceConfirmed(item, uid);
      throw error;
    }
  }

  function resumeOnceConfirmed(item: Item, uid: string): void {
    deps.confirmations.whenConfirmed(uid, () => queue.resume(item), until);
  }

  /** Stops everything where the store refuses the task because another controller leads: nothing may be written. */
  async function whileLeading<T>(task: () => Promise<T>): Promise<T> {
    try {
      return await task();
    } catch (error) {
      if (error instanceof StaleLeaderError) deposed.abort(error);
      throw error;
    }
  }

  /** Spread over the time until the next one, so that many objects are no burst. */
  async function resync(): Promise<void> {
    for (const item of [...nextReconciled(cluster), ...nextUnreconciled(cluster)]) {
      if (start.admits(item)) queue.addAfter(item, options.random() * intervalsMs.resync);
    }
  }

  function lookAtEverything(): void {
    log("warn", "the database was rolled back: everything is reconciled again");
    allObjects(cluster).forEach(enqueue);
  }

  const intervalsMs = { ...INTERVALS_MS, ...options.intervalsMs };
  const nextReconciled = roundRobin(MAX_RECONCILED_PER_RESYNC, isReconciled);
  const nextUnreconciled = roundRobin(MAX_UNRECONCILED_PER_RESYNC, (object) => !isReconciled(object));
  const forget = async () => {
    await prune(store, options.retentionMs ?? DEFAULT_RETENTION_MS, until);
  };
  const findMoved = watchMovedNamespaces(deps);
  const lookAtMoved = async () => requestsForMove(cluster, undefined, await findMoved()).forEach(enqueue);
  const findRefused = watchRefusedCredentials(deps);
  const findReached = watchReachedBudgets(deps);
  // What is there now is looked at as the controller starts; where the database is away, the next question is the first.
  await Promise.all([findMoved(), findRefused(), findReached()]).catch(() => {});
  const holdMadeKeys = createMadeKeyHolder(deps);
  const collectGarbage = createGarbageCollector(deps, options.clock.monotonic, until);
  const periodic: readonly NamedTask[] = [
    { what: "looking for namespaces that moved", intervalMs: intervalsMs.database, run: lookAtMoved },
    {
      what: "looking for credentials that upstreams refuse",
      intervalMs: intervalsMs.database,
      run: async () => (await findRefused()).forEach(enqueue),
    },
    {
      what: "looking for budgets that are used",
      intervalMs: intervalsMs.database,
      run: async () => (await findReached()).forEach(enqueue),
    },
    {
      what: "recording the refusals that last",
      intervalMs: PENDING_EVENTS_INTERVAL_MS,
      run: () => recordPendingEvents(deps, until),
    },
    { what: "resyncing", intervalMs: intervalsMs.resync, run: resync },
    {
      what: "collecting garbage",
      intervalMs: GARBAGE_COLLECTION_INTERVAL_MS,
      // Leaders that come and go would else leave it all to the last, for whom it may be too much to be believed.
      isDueAtOnce: true,
      run: () => whileLeading(collectGarbage),
    },
    {
      what: "holding keys that were made by hand to policies",
      intervalMs: intervalsMs.madeKeys,
      run: () => whileLeading(holdMadeKeys),
    },
    {
      what: "looking at what teams share",
      intervalMs: SHARED_BUDGETS_INTERVAL_MS,
      isDueAtOnce: true,
      run: () => whileLeading(() => lookAtSharedBudgets(deps)),
    },
    { what: "forgetting what is over", intervalMs: PRUNE_INTERVAL_MS, run: forget },
  ];
  const working = queue.run(until);
  const requestsFor = createWatchMapping(cluster);
  await cluster.watch((change) => requestsFor(change).forEach(enqueue), until);
  await Promise.all([
    working,
    start.run(cluster, enqueue, until),
    watchManualChanges(deps, enqueue, lookAtEverything, intervalsMs.database, until),
    ...periodic.map(({ what, ...task }) =>
      runPeriodically({ ...task, onFailure: (error) => log("warn", `while ${what}: ${errorText(error)}`) }, until),
    ),
  ]);
  deposed.signal.throwIfAborted();
}

/**
 * What works and is to end passes whatever is to begin, and keys, which end by the store alone, pass the rest. A
 * declaration that has no key yet begins, whatever state it asks for.
 */
function earlyLane(cluster: Cluster, { kind, namespace, name }: Item): EarlyLane | undefined {
  const object = cluster.get(kind, namespace, name);
  if (object === undefined) return undefined;
  if (object.deleting) return kind === "PlatformKey" ? "urgent" : "remaining";
  const hasKey = object.status?.keyID !== undefined;
  const isToEnd = hasKey && "state" in object.spec && object.spec.state !== "Active" && !isReconciled(object);
  return isToEnd ? "urgent" : undefined;
}

async function reconcile(
  deps: KeyDeps,
  { claims, policyNamespaces }: { readonly claims: ClaimOrder; readonly policyNamespaces: PolicyNamespaces },
  { kind, namespace, name }: Item,
  enqueue: (item: Item) => void,
  signal: AbortSignal,
): Promise<ReconcileResult> {
  const { cluster } = deps;
  switch (kind) {
    case "PlatformKey":
      return reconcileKey(deps, { namespace, name }, signal);
    case "PlatformTeam": {
      const team = cluster.get(kind, namespace, name);
      if (team === undefined) {
        claims.forget(name);
        cluster.list("PlatformKeyPolicy").forEach(enqueue);
        return AT_REST;
      }
      const move = (moved: readonly string[]) => requestsForMove(cluster, team, moved).forEach(enqueue);
      const result = await reconcileTeam(deps, claims, team, move);
      cluster.list("PlatformKeyPolicy").forEach(enqueue);
      return result;
    }
    case "PlatformKeyPolicy":
      return reconcilePolicy(deps, policyNamespaces, name, enqueue);
    case "ModelGateway": {
      const gateway = cluster.get(kind, namespace, name);
      if (gateway === undefined) return AT_REST;
      return reconcileGateway(deps, gateway, () => requestsForGateway(cluster, gateway).forEach(enqueue));
    }
    case "MemoryLibrary": {
      const library = cluster.get(kind, namespace, name);
      if (library === undefined) return AT_REST;
      return reconcileLibrary(deps, library, () => requestsForLibrary(cluster, library).forEach(enqueue));
    }
  }
}
