const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const YEAR = 365 * DAY;

/** Units of an age by its length, as in kubectl. */
const STEPS: readonly (readonly [upTo: number, unit: number, sign: string, smaller?: readonly [number, string]])[] = [
  [2 * MINUTE, SECOND, "s"],
  [10 * MINUTE, MINUTE, "m", [SECOND, "s"]],
  [3 * HOUR, MINUTE, "m"],
  [8 * HOUR, HOUR, "h", [MINUTE, "m"]],
  [2 * DAY, HOUR, "h"],
  [8 * DAY, DAY, "d", [HOUR, "h"]],
  [2 * YEAR, DAY, "d"],
  [8 * YEAR, YEAR, "y", [DAY, "d"]],
  [Number.POSITIVE_INFINITY, YEAR, "y"],
];

/**
 * Formats how long ago something was, as an AGE of kubectl: `45s`, `3m20s`, `5h`, `2d4h`.
 *
 * @param time RFC 3339; a time in the future, as by another clock, counts as now
 * @param now milliseconds since the epoch
 */
export function ageText(time: string, now: number): string {
  const ms = Math.max(0, now - Date.parse(time));
  const [, unit, sign, smaller] = STEPS.find(([upTo]) => ms < upTo) ?? [0, YEAR, "y"];
  const whole = `${Math.floor(ms / unit)}${sign}`;
  if (smaller === undefined) return whole;
  const rest = Math.floor((ms % unit) / smaller[0]);
  return rest === 0 ? whole : `${whole}${rest}${smaller[1]}`;
}
