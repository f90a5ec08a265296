import { Counter, Gauge, type Registry } from "@prometheus-io/client";
import type { UpstreamPools } from "./pools.ts";
import type { UpstreamOutcomes } from "./upstream-outcomes.ts";

/** Registers the metrics of upstreams: open, queued and refused calls, refused credentials, those left out, and retries. */
export function observeUpstreams(
  registry: Registry,
  pools: Pick<UpstreamPools, "figures">,
  outcomes: Pick<UpstreamOutcomes, "credentialsRefused" | "retries">,
): void {
  const registers = [registry];
  new Gauge({
    name: "keyplane_upstream_calls",
    help: "Open calls to upstreams, each on its own connection",
    registers,
    collect() {
      this.set(pools.figures().inUse);
    },
  });
  new Gauge({
    name: "keyplane_upstream_calls_queued",
    help: "Calls waiting for a connection to their upstream",
    registers,
    collect() {
      this.set(pools.figures().queued);
    },
  });
  new Counter({
    name: "keyplane_upstream_calls_refused_total",
    help: "Calls refused with 503 because too many waited, or for too long",
    registers,
    collect() {
      this.reset();
      this.inc(pools.figures().refused);
    },
  });
  new Gauge({
    name: "keyplane_upstreams_left_out",
    help: "Upstreams that routes leave out, by thread",
    registers,
    collect() {
      this.set(pools.figures().leftOut);
    },
  });
  new Counter({
    name: "keyplane_upstream_credentials_refused_total",
    help: "Attempts that an upstream refused for the gateway's credential",
    registers,
    collect() {
      this.reset();
      this.inc(outcomes.credentialsRefused);
    },
  });
  new Counter({
    name: "keyplane_upstream_retries_total",
    help: "Calls sent to the same upstream again",
    registers,
    collect() {
      this.reset();
      this.inc(outcomes.retries);
    },
  });
}
