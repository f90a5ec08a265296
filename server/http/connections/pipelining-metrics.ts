import { Gauge, type Registry } from "@prometheus-io/client";
import type { PipeliningLimit } from "./pipelining-limit.ts";

/** Registers the metric of requests that wait for the request before them on their connection. */
export function observePipelining(registry: Registry, limit: Pick<PipeliningLimit, "waiting">): void {
  new Gauge({
    name: "keyplane_pipelined_requests_waiting",
    help: "Requests waiting for the previous answer on their connection",
    registers: [registry],
    collect() {
      this.set(limit.waiting);
    },
  });
}
