import { setTimeout as delay } from "node:timers/promises";

/** Ends what hangs; on a loaded machine much that is quick takes half a minute. */
const LONG_MS = 120_000;

/**
 * Waits for a condition: the first truthy result of `probe`, which may throw meanwhile.
 *
 * @param what the condition in words, for the error when it does not come about in time
 */
export async function until<T>(
  what: string,
  probe: () => T | Promise<T>,
  { timeoutMs = LONG_MS }: { timeoutMs?: number } = {},
): Promise<NonNullable<T>> {
  const deadline = performance.now() + timeoutMs;
  let last: unknown;
  for (;;) {
    try {
      const result = await probe();
      if (result) return result;
      last = undefined;
    } catch (error) {
      last = error;
    }
    if (performance.now() > deadline) throw new Error(`not within ${timeoutMs} ms: ${what}`, { cause: last });
    await delay(20);
  }
}

/**
 * Waits until something holds no longer.
 *
 * @returns when it last held, on the steady clock: what a busy machine adds to a wait does not count
 */
export async function untilNoLonger(what: string, holds: () => boolean | Promise<boolean>): Promise<number> {
  let last = performance.now();
  await until(what, async () => {
    const at = performance.now();
    if (!(await holds())) return true;
    last = at;
    return false;
  });
  return last;
}
