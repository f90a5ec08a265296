export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;

/** Units of durations, longest first. */
const UNITS = [
  ["h", HOUR_MS],
  ["m", 60_000],
  ["s", 1_000],
  ["ms", 1],
] as const;
const MILLISECONDS: ReadonlyMap<string, number> = new Map(UNITS);
/** Pattern of a duration, as in the schemas in `crds/`: numbers have up to six digits, so that no sum can overflow. */
const DURATION = /^([0-9]{1,6}(\.[0-9]{1,3})?(h|m|s|ms))+$/;
const PARTS = /([0-9.]+)(h|ms|m|s)/g;

/**
 * Parses a duration as Go and Kubernetes write it, such as `720h`, `1h30m` or `500ms`.
 *
 * @returns whole milliseconds, as all times are
 * @throws RangeError when the text is no duration
 */
export function parseDuration(text: string): number {
  if (!DURATION.test(text))
    throw new RangeError(`${JSON.stringify(text)} is no duration: write one such as 720h or 1h30m`);
  const ms = [...text.matchAll(PARTS)].reduce(
    (sum, [, number, unit]) => sum + Number(number) * (MILLISECONDS.get(unit ?? "") ?? 0),
    0,
  );
  return Math.round(ms);
}

/**
 * Writes a duration as declarations have it, such as `720h` or `1h30m`: what {@link parseDuration} reads.
 *
 * @param ms milliseconds, not negative
 */
export function durationText(ms: number): string {
  let left = Math.floor(ms);
  const parts = UNITS.flatMap(([unit, length]) => {
    const count = Math.floor(left / length);
    left -= count * length;
    return count === 0 ? [] : [`${count}${unit}`];
  });
  return parts.length === 0 ? "0s" : parts.join("");
}
