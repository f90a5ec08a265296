import { Counter, Gauge, Histogram, Registry } from "@prometheus-io/client";
import type { Kind } from "../domain/kinds/kinds.ts";
import { observeLog } from "../runtime/log-metrics.ts";
import type { QueueMetrics } from "./queue/work-queue.ts";

export type ControllerMetrics = {
  readonly registry: Registry;
  readonly queue: QueueMetrics;
  /** Counts an answer of the API server; null for a request that got none. */
  countAnswer(method: string, status: number | null): void;
  leads(isLeader: boolean): void;
  /** Notes how long a changed key waited until every replica decided by the change. */
  confirmed(waitedMs: number): void;
  /** Notes if garbage collection of a kind is paused, since too many of its declarations have gone at once. */
  collected(kind: Kind, isPaused: boolean): void;
  /** Exports the age of each watch, as read at each scrape: seconds since its last sign of life. */
  observeWatches(read: () => Iterable<readonly [what: string, ageSeconds: number]>): void;
};

/** Label under which other controllers' dashboards find ours. */
const NAME = "keyplane";
/** Seconds, from a reconciliation that finds nothing to do to a reconciliation that waits for a lease to run out. */
const BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** Makes the controller's metrics, under the names that every dashboard for controllers reads. */
export function createControllerMetrics(): ControllerMetrics {
  const registry = new Registry();
  observeLog(registry);
  const registers = [registry];
  const counter = <T extends string>(name: string, help: string, labelNames: readonly T[]) =>
    new Counter({ name, help, labelNames, registers });
  const gauge = <T extends string>(name: string, help: string, labelNames: readonly T[]) =>
    new Gauge({ name, help, labelNames, registers });
  const histogram = <T extends string>(name: string, help: string, labelNames: readonly T[]) =>
    new Histogram({ name, help, labelNames, buckets: BUCKETS, registers });

  const depth = gauge("workqueue_depth", "Objects that wait in the work queue", ["name"]);
  const adds = counter("workqueue_adds_total", "Objects added to the work queue", ["name"]);
  const retries = counter("workqueue_retries_total", "Retries of objects whose reconciliation failed", ["name"]);
  const waited = histogram("workqueue_queue_duration_seconds", "Time that an object waited in the work queue", [
    "name",
  ]);
  const worked = histogram("workqueue_work_duration_seconds", "Time that a worker spent on an object", ["name"]);
  const reconciled = counter("controller_runtime_reconcile_total", "Reconciliations by result", [
    "controller",
    "result",
  ]);
  const errors = counter("controller_runtime_reconcile_errors_total", "Reconciliations that failed", ["controller"]);
  const took = histogram("controller_runtime_reconcile_time_seconds", "Duration of a reconciliation", ["controller"]);
  const active = gauge("controller_runtime_active_workers", "Objects that workers are busy with", ["controller"]);
  const answers = counter("rest_client_requests_total", "Requests to the API server", ["method", "code"]);
  const confirmed = histogram(
    "keyplane_confirmation_seconds",
    "Time from a change of a key until every replica confirmed it",
    [],
  );
  const paused = gauge(
    "keyplane_garbage_collection_paused",
    "1 while garbage collection of a kind is paused, since too many of its declarations disappeared at once",
    ["kind"],
  );
  const leader = gauge("leader_election_master_status", "1 while this process leads", ["name"]);
  const queue = { name: NAME };
  const controller = { controller: NAME };

  depth.set(queue, 0);
  leader.set(queue, 0);
  return {
    registry,
    queue: {
      depth: (waiting) => depth.set(queue, waiting),
      added: () => adds.inc(queue),
      retried() {
        retries.inc(queue);
        errors.inc(controller);
      },
      started(waitedMs) {
        waited.observe(queue, waitedMs / 1_000);
        active.inc(controller);
      },
      finished(tookMs, result) {
        worked.observe(queue, tookMs / 1_000);
        took.observe(controller, tookMs / 1_000);
        active.dec(controller);
        reconciled.inc({ ...controller, result });
      },
    },
    countAnswer: (method, status) => answers.inc({ method, code: status === null ? "<error>" : String(status) }),
    confirmed: (waitedMs) => confirmed.observe(waitedMs / 1_000),
    collected: (kind, isPaused) => paused.set({ kind }, isPaused ? 1 : 0),
    leads: (isLeader) => leader.set(queue, isLeader ? 1 : 0),
    observeWatches(read) {
      new Gauge({
        name: "keyplane_watch_age_seconds",
        help: "Seconds since a watch last received anything",
        labelNames: ["watch"],
        registers,
        collect() {
          this.reset();
          for (const [watch, age] of read()) this.set({ watch }, age);
        },
      });
    },
  };
}
