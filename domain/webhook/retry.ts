const [SECOND, MINUTE, HOUR] = [1_000, 60_000, 3_600_000];

/** What passes between a try that failed and the next: ten tries in all, over 24 hours. Milliseconds. */
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

/** However late a receiver asks for the next try, it comes by then. */
const MAX_ASKED = 5 * HOUR;

/** By how much of itself a pause is longer or shorter, so that what failed together is not tried together. */
const JITTER = 0.1;

/**
 * How long to wait before a delivery is tried again; undefined where it is given up.
 *
 * @param tries that have failed
 * @param random from 0 up to 1
 * @param asked how long the receiver asks to wait, in milliseconds
 * @returns milliseconds
 */
export function pauseAfter(tries: number, random: number, asked = 0): number | undefined {
  const pause = PAUSES[tries - 1];
  if (pause === undefined) return undefined;
  return Math.round(Math.max(pause * (1 + JITTER * (2 * random - 1)), Math.min(asked, MAX_ASKED)));
}

/** Whether an answer means that the delivery is not wanted, now or later: 410 (Standard Webhooks). */
export function isEndpointGone(status: number | null): boolean {
  return status === 410;
}
