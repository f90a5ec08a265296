/** Percentages of a budget at which its use is reported. */
export const THRESHOLDS = [50, 80, 100] as const;

export type Threshold = (typeof THRESHOLDS)[number];

/** Percentage of a budget that may be left if a call is refused by it and it counts as used up. */
const REST_PERCENT = 5;

/** Known use of a budget in a period, in one unit: tokens, or another unit that it counts. */
type KnownUse = {
  readonly limit: number;
  /** Amount that no call can get any more, including amounts that ended threads still hold. */
  readonly used: number;
  /** True if a call was refused because the rest was too small for what it may use. */
  readonly hasRefused: boolean;
};

/**
 * Returns the highest threshold that a budget's use has reached; undefined below the first. Few calls use a budget up
 * to
 * the last token, so a budget that refuses a call with almost nothing left counts as used up.
 */
export function reachedThreshold({ limit, used, hasRefused }: KnownUse): Threshold | undefined {
  if (hasRefused && used * 100 >= limit * (100 - REST_PERCENT)) return 100;
  return THRESHOLDS.findLast((percent) => used * 100 >= limit * percent);
}

/** Returns a reached threshold and those below it, which are reported with it: a call may pass several at once. */
export function thresholdsUpTo(reached: Threshold): Threshold[] {
  return THRESHOLDS.filter((percent) => percent <= reached);
}

/** Returns the higher of two thresholds. */
export function higherThreshold(a: Threshold | undefined, b: Threshold | undefined): Threshold | undefined {
  return (a ?? 0) >= (b ?? 0) ? a : b;
}

/** Converts a stored percentage to a threshold; undefined if it is none. */
export function asThreshold(percent: number | null): Threshold | undefined {
  return THRESHOLDS.find((one) => one === percent);
}
