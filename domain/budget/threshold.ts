/** The parts of a budget at which its use is reported, in percent. */
export const THRESHOLDS = [50, 80, 100] as const;

export type Threshold = (typeof THRESHOLDS)[number];

/** So much of a budget may be left when a call is refused by it, in percent, and it counts as used up. */
const REST_PERCENT = 5;

/** What is known of a budget's use in a period, in one unit: tokens, or whatever it counts. */
type KnownUse = {
  readonly limit: number;
  /** What no call can have any more, what ended threads still hold included. */
  readonly used: number;
  /** Whether a call was refused, since what it may use is not left. */
  readonly hasRefused: boolean;
};

/**
 * The highest threshold that a budget's use has reached; undefined below the first. Few calls end a budget to the last
 * token: one that refuses with next to nothing left is used up.
 */
export function reachedThreshold({ limit, used, hasRefused }: KnownUse): Threshold | undefined {
  if (hasRefused && used * 100 >= limit * (100 - REST_PERCENT)) return 100;
  return THRESHOLDS.findLast((percent) => used * 100 >= limit * percent);
}

/** Those of a reached threshold and the ones below it, which are reported with it: a call may pass several at once. */
export function thresholdsUpTo(reached: Threshold): Threshold[] {
  return THRESHOLDS.filter((percent) => percent <= reached);
}

/** The higher of two thresholds. */
export function higherThreshold(a: Threshold | undefined, b: Threshold | undefined): Threshold | undefined {
  return (a ?? 0) >= (b ?? 0) ? a : b;
}

/** A threshold that the database has; undefined for a number that is none. */
export function asThreshold(percent: number | null): Threshold | undefined {
  return THRESHOLDS.find((one) => one === percent);
}
