import { Counter, type Registry } from "@prometheus-io/client";
import { LEAK_REPORTERS, type LeakReporter } from "../../store/keys/events/key-leaks.ts";
import { LEAK_OUTCOMES, type LeakOutcome } from "./act.ts";

/**
 * Outcome as it is counted. `unknown` is no key of this installation; `dropped` exceeded a limit, or came while this
 * server ended.
 */
type CountedOutcome = LeakOutcome | "unknown" | "dropped";

/** Counts a reported secret by its reporter and outcome. */
export type CountLeak = (reporter: LeakReporter, outcome: CountedOutcome) => void;

/** Registers the metric of reported secrets. */
export function leakMetrics(registry: Registry): CountLeak {
  const counter = new Counter({
    name: "keyplane_leaks_reported_total",
    help: "Secrets reported as leaked, by reporter and outcome",
    labelNames: ["reporter", "outcome"],
    registers: [registry],
  });
  // To Prometheus, a series that first appears as a 1 has not increased.
  for (const reporter of LEAK_REPORTERS) for (const outcome of LEAK_OUTCOMES) counter.inc({ reporter, outcome }, 0);
  return (reporter, outcome) => counter.inc({ reporter, outcome });
}
