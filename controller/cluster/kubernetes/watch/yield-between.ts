import { setImmediate as nextIteration } from "node:timers/promises";

/** Milliseconds for which one iteration of the event loop is taken up. */
const MAX_BUSY_MS = 5;

/** Does something to each of many items, and lets the event loop do other work in between. */
export async function eachYielding<T>(items: readonly T[], act: (item: T) => void): Promise<void> {
  let began = performance.now();
  for (const item of items) {
    if (performance.now() - began > MAX_BUSY_MS) {
      await nextIteration();
      began = performance.now();
    }
    act(item);
  }
}
