import { Counter, type Registry } from "@prometheus-io/client";

const EMBEDDED_ATOMS = ["embedded", "refused", "failed"] as const;

/** Outcome: embedded; refused by the upstream, to be tried alone and set aside; or failed as a whole, to be retried. */
type EmbeddedAtoms = (typeof EMBEDDED_ATOMS)[number];

/** Counts atoms by the outcome of an attempt to embed them. */
export type CountEmbedded = (outcome: EmbeddedAtoms, atoms: number) => void;

/** Registers the metric of attempts to embed atoms. */
export function embeddingMetrics(registry: Registry): CountEmbedded {
  const counter = new Counter({
    name: "keyplane_embedded_atoms_total",
    help: "Attempts to embed atoms, by outcome; each retry counts",
    labelNames: ["outcome"],
    registers: [registry],
  });
  // To Prometheus, a series that first appears as a 1 has not increased.
  for (const outcome of EMBEDDED_ATOMS) counter.inc({ outcome }, 0);
  return (outcome, atoms) => counter.inc({ outcome }, atoms);
}
