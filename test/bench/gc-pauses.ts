/** Preloaded into the server: on SIGUSR2 it prints its longest garbage collection so far, in milliseconds, as `gc <longest>`. */
import { PerformanceObserver } from "node:perf_hooks";
import { isMainThread } from "node:worker_threads";

if (isMainThread) {
  let longest = 0;
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) longest = Math.max(longest, duration);
  }).observe({ entryTypes: ["gc"] });
  process.on("SIGUSR2", () => process.stdout.write(`gc ${longest.toFixed(1)}\n`));
}
