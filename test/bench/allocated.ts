/** Preloaded into a server: on SIGUSR2 it prints the bytes that its main thread has allocated so far, as `allocated <bytes>`. */
import { getHeapStatistics } from "node:v8";
import { isMainThread } from "node:worker_threads";

if (isMainThread) {
  process.on("SIGUSR2", () => process.stdout.write(`allocated ${getHeapStatistics().total_allocated_bytes}\n`));
}
