import { DEFAULT_RETENTION_MS } from "../domain/protocol.ts";
import { whileSteady } from "../runtime/database-clock.ts";
import type { PeriodicTask } from "../runtime/periodic.ts";
import { unlessIdle } from "../runtime/polling.ts";
import { databaseTime } from "../store/database/times.ts";
import { PRUNE_INTERVAL_MS, prune } from "../store/retention.ts";
import { watchReachedBudgets } from "./budgets/reached-budgets.ts";
import { PENDING_EVENTS_INTERVAL_MS, recordPendingEvents } from "./context/record-event.ts";
import { createGarbageCollector, GARBAGE_COLLECTION_INTERVAL_MS } from "./garbage-collection.ts";
import { watchRefusedCredentials } from "./gateway/refused-credentials.ts";
import type { KeyDeps } from "./key/key-deps.ts";
import { watchMovedNamespaces } from "./moved-namespaces.ts";
import { createMadeKeyHolder } from "./policy/hold-made-keys.ts";
import { lookAtSharedBudgets, SHARED_BUDGETS_INTERVAL_MS } from "./policy/stored-policies.ts";
import type { Item } from "./reconcile.ts";
import { requestsForMove } from "./watch-mapping.ts";

/** Milliseconds between two rounds of a kind. */
export const INTERVALS_MS = {
  resync: 25_000,
  /** Looks at keys that were made by hand, which no policy reports. */
  madeKeys: 10_000,
  /** Asks the database for what no watch reports: claims of other controllers, and what servers have written. */
  database: 5_000,
};
export type Intervals = typeof INTERVALS_MS;

/** A task that the controller repeats beside its queue; `what` is for the log, after "while". */
type NamedTask = Omit<PeriodicTask, "onFailure"> & { readonly what: string };

type TaskOptions = {
  readonly intervalsMs: Intervals;
  /** Milliseconds that the audit log is kept. */
  readonly retentionMs: number | undefined;
  readonly monotonic: () => number;
  readonly resync: () => Promise<void>;
  readonly enqueue: (item: Item) => void;
  /** Runs a task, and ends everything if another controller leads. */
  readonly whileLeading: <T>(task: () => Promise<T>) => Promise<T>;
  readonly until: AbortSignal;
};

/** Returns the controller's repeated tasks, after a first look at what the database reports. */
export async function periodicTasks(
  deps: KeyDeps,
  { intervalsMs, retentionMs, monotonic, resync, enqueue, whileLeading, until }: TaskOptions,
): Promise<readonly NamedTask[]> {
  const { cluster, store, databaseClock } = deps;
  const forget = whileSteady(
    databaseClock,
    () => databaseTime(store.db),
    (signal) => prune(store, retentionMs ?? DEFAULT_RETENTION_MS, signal),
  );
  const findMoved = watchMovedNamespaces(deps);
  const lookAtMoved = async () => requestsForMove(cluster, undefined, await findMoved()).forEach(enqueue);
  const findRefused = watchRefusedCredentials(deps);
  const findReached = watchReachedBudgets(deps);
  // What is there now is looked at as the controller starts; where the database is away, the next question is the first.
  await Promise.all([findMoved(), findRefused(), findReached()]).catch(() => {});
  const holdMadeKeys = createMadeKeyHolder(deps, () => cluster.list("PlatformKey").forEach(enqueue));
  const collectGarbage = createGarbageCollector(deps, monotonic, until);
  return [
    {
      what: "looking for namespaces that moved",
      intervalMs: intervalsMs.database,
      run: unlessIdle(store.writes, lookAtMoved),
    },
    {
      what: "looking for credentials that upstreams refuse",
      intervalMs: intervalsMs.database,
      run: unlessIdle(store.writes, async () => (await findRefused()).forEach(enqueue)),
    },
    {
      what: "looking for budgets that are used",
      intervalMs: intervalsMs.database,
      run: unlessIdle(store.writes, async () => (await findReached()).forEach(enqueue)),
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
      // Keys wait for a stored policy that was deleted while no controller ran.
      isDueAtOnce: true,
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
}
