/**
 * Preloaded into the controller: on SIGUSR2 it prints how late the event loop has been since the last time, in
 * milliseconds, as `loop <p99.9> <longest>`.
 */
import { monitorEventLoopDelay } from "node:perf_hooks";

const RESOLUTION_MS = 1;
const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
delays.enable();
process.on("SIGUSR2", () => {
  const late = (nanoseconds: number) => Math.max(0, nanoseconds / 1e6 - RESOLUTION_MS).toFixed(1);
  process.stdout.write(`loop ${late(delays.percentile(99.9))} ${late(delays.max)}\n`);
  delays.reset();
});
