import { Counter, Gauge, type Registry } from "@prometheus-io/client";
import type { UpstreamPools } from "./pools.ts";

/** Tells how many calls are under way to the upstreams, wait, and were refused because too many did. */
export function observeUpstreams(registry: Registry, pools: Pick<UpstreamPools, "figures">): void {
  const registers = [registry];
  new Gauge({
    name: "keyplane_upstream_calls",
    help: "Calls to upstreams that are under way, each on a connection of its own",
    registers,
    collect() {
      this.set(pools.figures().inUse);
    },
  });
  new Gauge({
    name: "keyplane_upstream_calls_queued",
    help: "Calls that wait for a connection to their upstream",
    registers,
    collect() {
      this.set(pools.figures().queued);
    },
  });
  new Counter({
    name: "keyplane_upstream_calls_refused_total",
    help: "Calls refused with 503 because too many waited for their upstream, or for too long",
    registers,
    collect() {
      this.reset();
      this.inc(pools.figures().refused);
    },
  });
}
