import { Counter, type Registry } from "@prometheus-io/client";
import { droppedLogLines } from "./log.ts";

/** Registers the number of log lines that this thread has dropped. */
export function observeLog(registry: Registry): void {
  new Counter({
    name: "keyplane_log_lines_dropped_total",
    help: "Log lines dropped because standard output did not take them",
    registers: [registry],
    collect() {
      this.reset();
      this.inc(droppedLogLines());
    },
  });
}
