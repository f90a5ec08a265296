import { Counter, type Registry } from "@prometheus-io/client";

const READ_PASSAGES = ["read", "useless", "failed"] as const;

/** Outcome: read; answered with what is of no use, or refused; or not answered, to be tried again. */
type ReadPassage = (typeof READ_PASSAGES)[number];

/** Counts passages of conversations by the outcome of an attempt to have them read. */
export type CountRead = (outcome: ReadPassage) => void;

/** Registers the metric of attempts to have conversations read. */
export function extractionMetrics(registry: Registry): CountRead {
  const counter = new Counter({
    name: "keyplane_read_passages_total",
    help: "Attempts to extract from passages of conversations, by outcome; each retry counts",
    labelNames: ["outcome"],
    registers: [registry],
  });
  // To Prometheus, a series that first appears as a 1 has not increased.
  for (const outcome of READ_PASSAGES) counter.inc({ outcome }, 0);
  return (outcome) => counter.inc({ outcome });
}
