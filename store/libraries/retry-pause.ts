/** Bounds of the pause between a failure and the next attempt, whatever an upstream says of when it may be called. */
const MIN_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 300_000;

/**
 * Returns the milliseconds that a library waits after a failed call of its model.
 *
 * @param failures number of failures in a row before this one
 */
export function retryPauseMs(failures: number, retryAfterMs: number | undefined): number {
  const wantedMs = retryAfterMs ?? MIN_PAUSE_MS * 2 ** Math.min(failures, 10);
  return Math.min(Math.max(wantedMs, MIN_PAUSE_MS), MAX_PAUSE_MS);
}
