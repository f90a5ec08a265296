import type { Aggregator, MetricType } from "@prometheus-io/client";
import { expect, test } from "vitest";
import { metricsOfThreads, type ThreadMetric } from "../../runtime/process-metrics.ts";

const metric = (name: string, value: number, aggregator: Aggregator, type: MetricType = "gauge"): ThreadMetric =>
  ({ ...{ name, help: name, type, aggregator }, values: [{ value, labels: {} }] }) as ThreadMetric;

test("threads' metrics are one process's, with its start and the delay of the most delayed event loop", async () => {
  const threadOf = (lag: number) => [
    metric("process_start_time_seconds", 1_796_000_000, "omit"),
    metric("process_resident_memory_bytes", 100, "sum"),
    metric("nodejs_heap_size_used_bytes", 10, "sum"),
    metric("nodejs_eventloop_lag_p99_seconds", lag, "average"),
    metric("calls_total", 2, "sum", "counter"),
  ];
  const text = await metricsOfThreads(threadOf(0.01), [threadOf(0.8), threadOf(0.02)]);
  expect(text.split("\n").filter((line) => /^\w/.test(line))).toEqual([
    "process_start_time_seconds 1796000000",
    "process_resident_memory_bytes 100",
    "nodejs_heap_size_used_bytes 30",
    "nodejs_eventloop_lag_p99_seconds 0.8",
    "calls_total 6",
  ]);
});
