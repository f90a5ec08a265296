import { setTimeout as delay } from "node:timers/promises";
import type { Logger } from "../runtime/log.ts";
import type { Store } from "../store/database/store.ts";
import { PRUNE_INTERVAL_MS, prune } from "../store/retention.ts";

/** What a replica forgets by. */
type Pruning = { readonly store: Store; readonly retentionMs: number; readonly log: Logger };

/**
 * Forgets what is over, now and then, whether there is a controller or not. Each round comes at another moment, so that
 * replicas that were started together do not all ask at once.
 *
 * @param random from 0 up to 1
 * @returns ends it, and waits for what is under way
 */
export function startPruning(
  { store, retentionMs, log }: Pruning,
  random: () => number = Math.random,
  intervalMs = PRUNE_INTERVAL_MS,
): () => Promise<void> {
  const ending = new AbortController();
  const { signal } = ending;
  async function run(): Promise<void> {
    for (;;) {
      await delay(intervalMs * (0.5 + random()), undefined, { signal, ref: false }).catch(() => {});
      if (signal.aborted) return;
      try {
        await prune(store, retentionMs, signal);
      } catch (error) {
        log.warn({ error }, "could not forget what is over; the next round tries again");
      }
    }
  }
  const running = run();
  return () => {
    ending.abort();
    return running;
  };
}
