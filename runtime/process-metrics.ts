import { type Aggregator, collectDefaultMetrics, type MetricObject, Registry } from "@prometheus-io/client";

/**
 * Milliseconds between two samples of the event loop's delay, which each sample includes. Each wakes the process: every
 * 10 ms, as the library has it, took a third of what a process at rest takes of the processor.
 */
export const LOOP_SAMPLE_MS = 50;

/** Milliseconds between two samples of the event loop's utilization. Each takes 0.3 ms, with the quantiles that it changes. */
const UTILIZATION_SAMPLE_MS = 2_000;

/**
 * Registers the metrics of the process itself: its memory; and of this thread its garbage collections and the delay of its
 * event loop.
 */
export function observeProcess(registry: Registry): void {
  collectDefaultMetrics({
    register: registry,
    eventLoopMonitoringPrecision: LOOP_SAMPLE_MS,
    eventLoopUtilizationTimeout: UTILIZATION_SAMPLE_MS,
  });
}

/** Metric of one thread, as the client library has it in JSON. */
export type ThreadMetric = Omit<MetricObject, "collect">;

/** Aggregations in place of the client library's, which are meant for processes: the most delayed event loop counts. */
const OF_THREADS: Partial<Record<Aggregator, Aggregator>> = { average: "max", omit: "first" };

/**
 * Returns the metrics of all threads as those of one process, in Prometheus' text format.
 *
 * @param main those of the main thread, which alone speaks for the process
 * @param others those of each other thread
 */
export async function metricsOfThreads(
  main: readonly ThreadMetric[],
  others: readonly (readonly ThreadMetric[])[],
): Promise<string> {
  const ofThreads = others.map((metrics) => metrics.filter(({ name }) => !name.startsWith("process_")));
  const all = [main, ...ofThreads].map((metrics) => metrics.map(forThreads));
  return Registry.aggregate(all).metrics();
}

function forThreads(metric: ThreadMetric): ThreadMetric {
  // Quantiles have no sum.
  if (metric.type === "summary") return { ...metric, aggregator: "max" };
  return { ...metric, aggregator: OF_THREADS[metric.aggregator] ?? metric.aggregator };
}
