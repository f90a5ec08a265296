/**
 * Watch of a folder for changes: by the kernel's notifications, and by looking every so often in any case.
 * Notifications do not work on every file system, and the folder may come later or be exchanged.
 */
import type { WatchEventType } from "node:fs";
import { createFolderWatch } from "./folder-watch.ts";

/** Milliseconds to wait for more after a notification. */
const GATHER_MS = 50;
const POLL_MS = 1_000;
/** Largest share of the time that looking takes in a large folder. */
const POLL_SHARE = 0.02;
/**
 * Longest time between two looks, whatever the share: a look may have taken long only because the machine slept in it.
 */
const MAX_POLL_MS = 30_000;

export type TreeWatchOptions = {
  readonly path: string;
  readonly signal: AbortSignal;
  readonly clock: { monotonic(): number };
  /**
   * Looks at the folder. `touched` has the paths below it that were notified; a folder's path stands for all that is in
   * it. It is undefined if everything is to be looked at. Resolves with the milliseconds until everything must be
   * looked at again, if that is sooner than usual. Never called twice at once.
   */
  readonly look: (touched: ReadonlySet<string> | undefined) => Promise<number | undefined>;
  /** Called at once with each notification. */
  readonly onTouched?: (path: string, event: WatchEventType) => void;
  /** Called if a look failed; it is tried again. */
  readonly onError: (error: unknown) => void;
};

/** Watches until the signal. Resolves when the last look has ended. */
export async function watchTree({ path, signal, clock, look, onTouched, onError }: TreeWatchOptions): Promise<void> {
  let touched = new Set<string>();
  let wake = () => {};
  const folders = createFolderWatch(path, clock, (touchedPath, event) => {
    onTouched?.(touchedPath, event);
    touched.add(touchedPath);
    wake();
  });

  /** Waits until the time is over, something is notified, or the signal aborts. */
  function pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      if (signal.aborted || (ms > GATHER_MS && touched.size > 0)) return resolve();
      const timer = setTimeout(resolve, ms);
      wake = () => {
        if (ms <= GATHER_MS && !signal.aborted) return;
        clearTimeout(timer);
        resolve();
      };
    });
  }

  const onAbort = () => wake();
  signal.addEventListener("abort", onAbort);
  let nextFullLook = clock.monotonic() + POLL_MS;
  try {
    while (!signal.aborted) {
      folders.open();
      await pause(Math.max(nextFullLook - clock.monotonic(), GATHER_MS + 1));
      if (touched.size > 0) await pause(GATHER_MS);
      if (signal.aborted) break;
      const startedAt = clock.monotonic();
      const everything = startedAt >= nextFullLook;
      const these = touched;
      touched = new Set();
      const sooner = await look(everything ? undefined : these).catch((error: unknown) => {
        onError(error);
        return undefined;
      });
      const endedAt = clock.monotonic();
      const rest = (endedAt - startedAt) / POLL_SHARE;
      if (everything) nextFullLook = endedAt + Math.min(Math.max(POLL_MS, rest), MAX_POLL_MS);
      if (sooner !== undefined) nextFullLook = Math.min(nextFullLook, endedAt + sooner);
    }
  } finally {
    signal.removeEventListener("abort", onAbort);
    folders.close();
  }
}
