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

/** By how much of itself a pause is longer or shorter, so that what failed together is not tried together. */
const JITTER = 0.1;

/**
 * How long to wait before a delivery is tried again; undefined where it is given up.
 *
 * @param tries that have failed
 * @param random from 0 up to 1
 * @returns milliseconds
 */
export function pauseAfter(tries: number, random: number): number | undefined {
  const pause = PAUSES[tries - 1];
  return pause === undefined ? undefined : Math.round(pause * (1 + JITTER * (2 * random - 1)));
}

/** Whether an answer means that the delivery is not wanted, now or later: 410 (Standard Webhooks). */
export function isEndpointGone(status: number | null): boolean {
  return status === 410;
}
