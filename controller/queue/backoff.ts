/** No back-off is longer (architecture §2, I8). */
const MAX_BACKOFF_MS = 30_000;

/**
 * How long to wait before the next attempt, which doubles with each failure.
 *
 * @param firstMs the longest wait after one failure
 * @param failed how often it had failed before this time, in a row
 * @param random uniform in [0, 1): takes up to half of the wait away
 * @returns milliseconds
 */
export function backoffMs(firstMs: number, failed: number, random: number): number {
  return Math.min(MAX_BACKOFF_MS, firstMs * 2 ** Math.min(failed, 30)) * (1 - random / 2);
}
