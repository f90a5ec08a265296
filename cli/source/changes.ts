import { setTimeout as delay } from "node:timers/promises";

/** Time in milliseconds within which several changes count as one. */
const GATHER_MS = 100;

/**
 * Yields whenever a watch has reported a change since the last time, once for any number of changes. Ends with the
 * watch.
 *
 * @param watch calls its argument at each change, and resolves when the watch ends
 * @throws what the watch throws
 */
export async function* changesOf(watch: (notify: () => void) => Promise<void>): AsyncGenerator<void> {
  let next = Promise.withResolvers<"changed">();
  const ended = watch(() => next.resolve("changed")).then(() => "ended" as const);
  // A failure is handled where `ended` is awaited.
  ended.catch(() => {});
  while ((await Promise.race([next.promise, ended])) === "changed") {
    next = Promise.withResolvers();
    yield;
    await delay(GATHER_MS);
  }
}

/** Calls `notify` every `ms` milliseconds, until the signal aborts. */
export async function notifyEvery(ms: number, notify: () => void, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await delay(ms, undefined, { signal }).catch(() => {});
    if (!signal.aborted) notify();
  }
}
