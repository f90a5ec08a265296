import { Counter, type Registry } from "@prometheus-io/client";

const SPAN_OUTCOMES = ["exported", "failed"] as const;

/** Counts spans by the outcome of sending them to the collector. */
export type CountSpans = (outcome: (typeof SPAN_OUTCOMES)[number], spans: number) => void;

/** Registers the metric of spans that were sent. */
export function spanMetrics(registry: Registry): CountSpans {
  const counter = new Counter({
    name: "keyplane_trace_spans_total",
    help: "Spans sent to the collector of --otlp-endpoint, by outcome",
    labelNames: ["outcome"],
    registers: [registry],
  });
  // To Prometheus, a series that first appears as a 1 has not increased.
  for (const outcome of SPAN_OUTCOMES) counter.inc({ outcome }, 0);
  return (outcome, spans) => counter.inc({ outcome }, spans);
}
