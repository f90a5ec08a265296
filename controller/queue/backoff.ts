/** Longest back-off in milliseconds (architecture §2, I8). */
const MAX_BACKOFF_MS = 30_000;

/**
 * Returns how long to wait before the next attempt. The wait doubles with each failure.
 *
 * @param firstMs the longest wait after one failure
 * @param failed number of failures in a row before this one
 * @param random uniform in [0, 1): takes up to half of the wait away
 * @returns milliseconds
 */
export function backoffMs(firstMs: number, failed: number, random: number): number {
  return Math.min(MAX_BACKOFF_MS, firstMs * 2 ** Math.min(failed, 30)) * (1 - random / 2);
}
