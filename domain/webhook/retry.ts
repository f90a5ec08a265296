const [SECOND, MINUTE, HOUR] = [1_000, 60_000, 3_600_000];

/** Milliseconds between a failed attempt and the next: ten attempts in all, over 24 hours. */
const PAUSES = [
  5 * SECOND,
  5 * MINUTE,
  25 * MINUTE,
  1.5 * HOUR,
  3 * HOUR,
  5 * HOUR,
  4 * HOUR,
  5 * HOUR,
  5 * HOUR,
] as const;

/** Maximum delay that a receiver may ask for, in milliseconds. */
const MAX_ASKED = 5 * HOUR;

/** Fraction by which a pause is longer or shorter, so that deliveries that failed together are not retried together. */
const JITTER = 0.1;

/**
 * Returns how long to wait before a delivery is retried; undefined if it is given up.
 *
 * @param tries number of attempts that have failed
 * @param random from 0 up to 1
 * @param asked how long the receiver asks to wait, in milliseconds
 * @returns milliseconds
 */
export function pauseAfter(tries: number, random: number, asked = 0): number | undefined {
  const pause = PAUSES[tries - 1];
  if (pause === undefined) return undefined;
  return Math.round(Math.max(pause * (1 + JITTER * (2 * random - 1)), Math.min(asked, MAX_ASKED)));
}

/** True if an answer means that the delivery is not wanted, now or later: 410 (Standard Webhooks). */
export function isEndpointGone(status: number | null): boolean {
  return status === 410;
}
