import { setTimeout as delay } from "node:timers/promises";
import { errorText } from "../domain/error-text.ts";
import type { ListenConnection } from "../store/database/store.ts";
import { CHANGES_CHANNEL } from "../store/feed/change-feed.ts";
import { manualKeyChanges } from "../store/feed/manual-key-changes.ts";
import type { FeedPosition } from "../store/replicas/replicas.ts";
import type { ControllerDeps } from "./context/deps.ts";

/** Milliseconds for which hints are gathered. */
const GATHER_MS = 50;
/** Position before every change: what was done while no controller ran is looked at too. */
const FROM_THE_BEGINNING: FeedPosition = { seq: -1, id: null };

/**
 * Watches the store for keys that a person revoked by hand, or wants rotated: no declaration says so, and no cluster
 * reports it. A notification is only a hint; the feed says what changed.
 *
 * @param enqueue has the declared key, or the library that has it, brought to rest again
 * @param onGap called if the database was rolled back: only the declarations know what it lost
 * @param intervalMs milliseconds between two looks if nothing hints at a change
 * @returns resolves once it has ended with the signal
 */
export async function watchManualChanges(
  deps: ControllerDeps,
  enqueue: (item: { kind: "PlatformKey" | "MemoryLibrary"; namespace: string; name: string }) => void,
  onGap: () => void,
  intervalMs: number,
  signal: AbortSignal,
): Promise<void> {
  const hints = createHints(signal);
  let listener: ListenConnection | undefined;
  let seen = FROM_THE_BEGINNING;
  while (!signal.aborted) {
    try {
      listener ??= await deps.store.listen(CHANGES_CHANNEL, hints.give, () => {
        listener = undefined;
      });
      const { head, gap, keys } = await manualKeyChanges(deps.store.db, deps.cluster.uid, seen);
      if (gap && seen !== FROM_THE_BEGINNING) onGap();
      for (const { kind, namespace, name } of keys) enqueue({ kind, namespace, name });
      seen = head;
    } catch (error) {
      deps.log("warn", `while looking for keys that were changed by hand: ${errorText(error)}`);
    }
    await hints.next(intervalMs);
  }
  await listener?.close().catch(() => {});
}

/**
 * Makes hints: `give` wakes the call of `next` that waits; a hint that comes while none waits is kept for the next
 * call.
 */
function createHints(signal: AbortSignal): { give: () => void; next: (ms: number) => Promise<void> } {
  let hinted = Promise.withResolvers<void>();
  const give = () => hinted.resolve();
  signal.addEventListener("abort", give, { once: true });
  return {
    give,
    async next(ms) {
      const timer = setTimeout(give, ms);
      await hinted.promise;
      clearTimeout(timer);
      if (signal.aborted) return;
      await delay(GATHER_MS);
      hinted = Promise.withResolvers<void>();
    },
  };
}
