/** Milliseconds before the first retry, and at the longest: each failure doubles them. */
const FIRST_MS = 500;
const LONGEST_MS = 8_000;
/** Milliseconds that an upstream may ask to wait for: a call whose upstream asks for more is not retried. */
const LONGEST_ASKED_MS = 10_000;

/**
 * Returns the milliseconds to wait before a retry: at random, so that calls that failed together do not come back
 * together.
 *
 * @param retries number of retries at the same upstream before
 * @param askedMs what the upstream asks to wait; undefined if it asks for nothing
 * @param random from 0 to 1
 * @returns undefined if the upstream asks for longer than a caller is to wait
 */
export function retryDelay(retries: number, askedMs: number | undefined, random: number): number | undefined {
  if (askedMs !== undefined && askedMs > LONGEST_ASKED_MS) return undefined;
  const backoff = Math.min(FIRST_MS * 2 ** retries, LONGEST_MS);
  return (askedMs ?? backoff / 2) + (random * backoff) / 2;
}

/** Retries at once, and for each call. */
const MOST_SAVED = 10;
const FOR_EACH_CALL = 0.2;

/**
 * Budget of the retries at one upstream on one thread: a fifth of the calls that may be retried, and a few beyond, so
 * that an upstream that fails under its load is not sent a multiple of it.
 */
export class RetryBudget {
  #left = MOST_SAVED;

  /** Notes a call that may be retried. */
  earn(): void {
    this.#left = Math.min(this.#left + FOR_EACH_CALL, MOST_SAVED);
  }

  /** Takes a retry; false if none is left. */
  tryTake(): boolean {
    if (this.#left < 1) return false;
    this.#left--;
    return true;
  }
}
