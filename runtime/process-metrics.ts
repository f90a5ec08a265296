import { collectDefaultMetrics, type Registry } from "@prometheus-io/client";

/**
 * Milliseconds between two samples of the event loop's delay, which each sample includes. Each wakes the process: every
 * 10 ms, as the library has it, took a third of what a process at rest takes of the processor.
 */
export const LOOP_SAMPLE_MS = 50;

/** Milliseconds between two samples of the event loop's utilization. Each takes 0.3 ms, with the quantiles that it changes. */
const UTILIZATION_SAMPLE_MS = 2_000;

/** Registers the metrics of the process itself: its memory, its garbage collections, the delay of its event loop. */
export function observeProcess(registry: Registry): void {
  collectDefaultMetrics({
    register: registry,
    eventLoopMonitoringPrecision: LOOP_SAMPLE_MS,
    eventLoopUtilizationTimeout: UTILIZATION_SAMPLE_MS,
  });
}
