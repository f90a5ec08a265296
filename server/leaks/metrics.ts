import { Counter } from "@prometheus-io/client";
import type { LeakReporter } from "../../store/keys/key-leaks.ts";
import type { ServerMetrics } from "../metrics.ts";
import type { LeakOutcome } from "./act.ts";

/** `unknown` is no key of ours; `dropped` was one report too many, or came while this server ended. */
type CountedOutcome = LeakOutcome | "unknown" | "dropped";

/** Counts reported secrets: who reported them, and what came of it. */
export type CountLeak = (reporter: LeakReporter, outcome: CountedOutcome) => void;

export function leakMetrics({ registry }: Pick<ServerMetrics, "registry">): CountLeak {
  const counter = new Counter({
    name: "keyplane_leaks_reported_total",
    help: "Secrets that were reported as leaked, by who reported them and what came of it",
    labelNames: ["reporter", "outcome"],
    registers: [registry],
  });
  return (reporter, outcome) => counter.inc({ reporter, outcome });
}
