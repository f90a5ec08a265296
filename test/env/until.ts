import { setTimeout as delay } from "node:timers/promises";

/** Ends what hangs; on a loaded machine much that is quick takes half a minute. */
const LONG_MS = 120_000;

/** Between two probes, milliseconds: a twentieth of what has been waited, within these bounds. */
const SHORTEST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 100;

/**
 * Waits for a condition: the first truthy result of `probe`, which may throw meanwhile.
 *
 * @param what the condition in words, for the error when it does not come about in time
 */
export async function until<T>(
  what: string,
  probe: () => T | Promise<T>,
  { timeoutMs = LONG_MS, longestPauseMs = LONGEST_PAUSE_MS }: { timeoutMs?: number; longestPauseMs?: number } = {},
): Promise<NonNullable<T>> {
  const started = performance.now();
  let last: unknown;
  for (;;) {
    try {
      const result = await probe();
      if (result) return result;
      last = undefined;
    } catch (error) {
      last = error;
    }
    const waitedMs = performance.now() - started;
    if (waitedMs > timeoutMs) throw new Error(`not within ${timeoutMs} ms: ${what}`, { cause: last });
    await delay(Math.min(Math.max(SHORTEST_PAUSE_MS, waitedMs / 20), longestPauseMs));
  }
}

/**
 * Waits until something holds no longer.
 *
 * @returns when it last held, on the steady clock: what a busy machine adds to a wait does not count
 */
export async function untilNoLonger(what: string, holds: () => boolean | Promise<boolean>): Promise<number> {
  let last = performance.now();
  const probe = async () => {
    const at = performance.now();
    if (!(await holds())) return true;
    last = at;
    return false;
  };
  await until(what, probe, { longestPauseMs: SHORTEST_PAUSE_MS });
  return last;
}
