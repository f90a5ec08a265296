import { Counter, Gauge, type Registry } from "@prometheus-io/client";
import type { OpenStreams } from "./calls.ts";

/** Counts streams that were cut because their key had ended. */
export type CountCutStream = () => void;

/** Registers the metric of streams that were cut. */
export function cutStreamMetrics(registry: Registry): CountCutStream {
  const counter = new Counter({
    name: "keyplane_streams_cut_total",
    help: "Streams cut because their key became unusable",
    registers: [registry],
  });
  return () => counter.inc();
}

/** Exports how many calls are under way, the bytes of their bodies, and how many calls and bodies were refused. */
export function observeCalls(registry: Registry, streams: Pick<OpenStreams, "figures">): void {
  const registers = [registry];
  new Gauge({
    name: "keyplane_open_calls",
    help: "Open calls with a key, from the request's head to the answer's end",
    registers,
    collect() {
      this.set(streams.figures().calls);
    },
  });
  new Gauge({
    name: "keyplane_kept_body_bytes",
    help: "Bytes of request bodies kept until their calls end",
    registers,
    collect() {
      this.set(streams.figures().keptBytes);
    },
  });
  new Counter({
    name: "keyplane_calls_without_room_total",
    help: "Calls refused by the concurrency limit of their key, team or route, or for lack of room for their bodies",
    labelNames: ["of"],
    registers,
    collect() {
      const { refusedCalls, refusedBodies } = streams.figures();
      this.reset();
      this.inc({ of: "calls" }, refusedCalls);
      this.inc({ of: "bodies" }, refusedBodies);
    },
  });
}
