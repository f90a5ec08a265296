/** From a failure to the next try, however soon or late an upstream says that it may be asked. */
const MIN_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 300_000;

/**
 * How long a library waits after a call of its model that came to nothing, in milliseconds.
 *
 * @param failures in a row before this one
 */
export function turnPauseMs(failures: number, retryAfterMs: number | undefined): number {
  const wantedMs = retryAfterMs ?? MIN_PAUSE_MS * 2 ** Math.min(failures, 10);
  return Math.min(Math.max(wantedMs, MIN_PAUSE_MS), MAX_PAUSE_MS);
}
