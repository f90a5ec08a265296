const UNITS = [
  ["h", 3_600_000],
  ["m", 60_000],
  ["s", 1_000],
  ["ms", 1],
] as const;

/**
 * A duration as declarations have it, such as `720h` or `1h30m`.
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
