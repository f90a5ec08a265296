import { errorText } from "../domain/error-text.ts";
import { runPeriodically } from "../runtime/periodic.ts";
import { StaleLeaderError } from "../store/database/errors.ts";
import { ClusterError } from "./cluster/port.ts";
import { titleOf } from "./cluster/titles.ts";
import type { KeyDeps } from "./key/key-deps.ts";
import { endKey } from "./key/reconcile-key.ts";
import { watchManualChanges } from "./manual-changes.ts";
import { INTERVALS_MS, type Intervals, periodicTasks } from "./periodic-tasks.ts";
import type { PolicyNamespaces } from "./policy/reconcile-policy.ts";
import { createWorkQueue, type QueueMetrics, REMAINS, type WorkQueueOptions } from "./queue/work-queue.ts";
import { earlyLane, type Item, reconcile } from "./reconcile.ts";
import { isReconciled, roundRobin } from "./resync.ts";
import { startupOrder } from "./startup-order.ts";
import { createClaimOrder } from "./team/claim-order.ts";
import { allObjects, createWatchMapping } from "./watch-mapping.ts";

/** Names that are worked on at once. */
const CONCURRENCY = 16;
/**
 * Objects that a resync takes: reconciled ones, and others. If there are few, each is looked at again within a minute,
 * whatever any watch or status says (architecture §2, I8). If there are many, the reconciled ones take turns: watches
 * have deadlines, and the feed shows when the database was rolled back.
 */
const MAX_RECONCILED_PER_RESYNC = 100;
const MAX_UNRECONCILED_PER_RESYNC = 1_000;

/** Milliseconds that a name waits while another cluster answers. */
const WHILE_REPLACED_MS = 10_000;

export type ControllerOptions = {
  readonly clock: { now(): number; monotonic(): number };
  readonly random: () => number;
  readonly metrics?: QueueMetrics;
  /** Called with each object that was brought to rest, or could not be. */
  readonly onReconciled?: (item: Item) => void;
  /** Milliseconds that the audit log is kept. */
  readonly retentionMs?: number | undefined;
  readonly intervalsMs?: Partial<Intervals>;
};

/**
 * Runs the controller until the signal: every change of the cluster, or by hand, puts a name into the queue, and the
 * object of each name is brought to the state that it declares. Each object is also looked at now and then if no change
 * is reported.
 *
 * @returns resolves once the work in hand has ended
 * @throws StaleLeaderError once another leader has taken over
 */
export async function runController(deps: KeyDeps, options: ControllerOptions, signal: AbortSignal): Promise<void> {
  const { cluster, log } = deps;
  const intervalsMs = { ...INTERVALS_MS, ...options.intervalsMs };
  const leadership = followLeadership(signal);
  const { until, whileLeading } = leadership;
  const start = startupOrder();
  const queue = createQueue(deps, options, leadership, start, enqueue);

  function enqueue(item: Item): void {
    if (start.admits(item)) queue.add(item);
  }

  const nextReconciled = roundRobin(MAX_RECONCILED_PER_RESYNC, isReconciled);
  const nextUnreconciled = roundRobin(MAX_UNRECONCILED_PER_RESYNC, (object) => !isReconciled(object));
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

  const tasks = await periodicTasks(deps, {
    ...{ intervalsMs, resync, enqueue, whileLeading, until, monotonic: options.clock.monotonic },
    retentionMs: options.retentionMs,
  });
  const working = queue.run(until);
  const requestsFor = createWatchMapping(cluster);
  await cluster.watch((change) => requestsFor(change).forEach(enqueue), until);
  await Promise.all([
    working,
    start.run(cluster, enqueue, until),
    watchManualChanges(deps, enqueue, lookAtEverything, intervalsMs.database, until),
    ...tasks.map(({ what, ...task }) =>
      runPeriodically({ ...task, onFailure: (error) => log("warn", `while ${what}: ${errorText(error)}`) }, until),
    ),
  ]);
  leadership.throwIfDeposed();
}

type Leadership = {
  /** Aborted by the caller's signal, and once another controller leads. */
  readonly until: AbortSignal;
  /** Runs a task, and aborts `until` if the store refuses it because another controller leads. */
  whileLeading<T>(task: () => Promise<T>): Promise<T>;
  throwIfDeposed(): void;
};

/** Makes the signal that stops everything once another controller leads: nothing may be written from then on. */
function followLeadership(signal: AbortSignal): Leadership {
  const deposed = new AbortController();
  return {
    until: AbortSignal.any([signal, deposed.signal]),
    async whileLeading(task) {
      try {
        return await task();
      } catch (error) {
        if (error instanceof StaleLeaderError) deposed.abort(error);
        throw error;
      }
    },
    throwIfDeposed: () => deposed.signal.throwIfAborted(),
  };
}

/** Makes the queue of names, each of which is reconciled as long as this controller leads. */
function createQueue(
  deps: KeyDeps,
  options: ControllerOptions,
  { until, whileLeading }: Leadership,
  start: ReturnType<typeof startupOrder>,
  enqueue: (item: Item) => void,
) {
  const { cluster, log } = deps;
  const policyNamespaces: PolicyNamespaces = new Map();
  const known = { claims: createClaimOrder(cluster), policyNamespaces };
  const queue = createWorkQueue<Item>({
    key: titleOf,
    work,
    earlyLane: (item) => earlyLane(cluster, item),
    group: ({ namespace }) => namespace,
    concurrency: CONCURRENCY,
    clock: options.clock,
    random: options.random,
    onFailure: (item, error, retryInMs) =>
      log("warn", `while reconciling ${titleOf(item)}: ${errorText(error)}`, { retryInMs: Math.round(retryInMs) }),
    ...(options.metrics === undefined ? {} : { metrics: options.metrics }),
  });

  async function work(item: Item, _: AbortSignal, isUrgent: boolean): ReturnType<WorkQueueOptions<Item>["work"]> {
    // Decisions about this cluster are not to be carried out on another.
    if (cluster.isReplaced()) return WHILE_REPLACED_MS;
    try {
      if (isUrgent) {
        await whileLeading(() => endKey(deps, item, until));
        return REMAINS;
      }
      const result = await whileLeading(() => reconcile(deps, known, item, enqueue, until));
      start.attempted(item);
      if ("unconfirmed" in result) {
        resumeOnceConfirmed(item, result.unconfirmed);
        return result.requeueAfterMs;
      }
      if ("done" in result) return result;
      options.onReconciled?.(item);
      return result.requeueAfterMs;
    } catch (error) {
      start.attempted(item);
      options.onReconciled?.(item);
      // The cluster may refuse this for long: meanwhile the status is to say what every replica knows.
      const uid = error instanceof ClusterError ? cluster.get(item.kind, item.namespace, item.name)?.uid : undefined;
      if (uid !== undefined && !deps.confirmations.isConfirmed(uid)) resumeOnceConfirmed(item, uid);
      throw error;
    }
  }

  function resumeOnceConfirmed(item: Item, uid: string): void {
    deps.confirmations.whenConfirmed(uid, () => queue.resume(item), until);
  }

  return queue;
}
