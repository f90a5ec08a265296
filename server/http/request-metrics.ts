import { Histogram, type Registry } from "@prometheus-io/client";
import { registerCounted } from "../context/counted-metric.ts";

export type RequestMetrics = {
  /** Counts an answered request. @param tookMs milliseconds from its head to the end of its answer */
  countRequest(operation: string, status: number, tookMs: number): void;
};

/** Bounds in seconds: from a read of the memory to a streamed answer of a model. */
const DURATION_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** Counts of an operation's answers. */
type Answered = {
  readonly byStatus: Map<number, number>;
  readonly durations: { observe(seconds: number): void };
};

/** Registers the metrics of answered requests. */
export function requestMetrics(registry: Registry): RequestMetrics {
  const requests = new Map<string, Answered>();
  registerCounted(registry, {
    name: "keyplane_requests_total",
    help: "Answered requests by operation and status",
    labelNames: ["operation", "status"],
    read: () =>
      [...requests].flatMap(([operation, { byStatus }]) =>
        [...byStatus].map(([status, count]) => [{ operation, status }, count] as const),
      ),
  });
  const durations = new Histogram({
    name: "keyplane_request_duration_seconds",
    help: "How long a request took from its head to the end of its answer, a stream's included",
    labelNames: ["operation"],
    buckets: DURATION_BUCKETS,
    registers: [registry],
  });
  return {
    countRequest(operation, status, tookMs) {
      let answered = requests.get(operation);
      if (answered === undefined) {
        answered = { byStatus: new Map(), durations: durations.labels(operation) };
        requests.set(operation, answered);
      }
      answered.byStatus.set(status, (answered.byStatus.get(status) ?? 0) + 1);
      answered.durations.observe(tookMs / 1_000);
    },
  };
}
