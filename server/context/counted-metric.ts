import { Counter, type Registry } from "@prometheus-io/client";

/**
 * A counter whose series are kept in plain maps, and read when they are scraped: for what is counted for each request,
 * where a labelled counter costs more than the decision itself.
 */
type CountedMetric = {
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly string[];
  /** Each series by its labels. */
  read(): readonly (readonly [Readonly<Record<string, string | number>>, number])[];
};

/** Registers a counter that is read as it is scraped. */
export function registerCounted(registry: Registry, { name, help, labelNames, read }: CountedMetric): void {
  new Counter({
    name,
    help,
    labelNames: [...labelNames],
    registers: [registry],
    collect() {
      this.reset();
      for (const [labels, count] of read()) this.inc(labels, count);
    },
  });
}
