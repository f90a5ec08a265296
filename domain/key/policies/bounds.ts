/** Numbers of which null is none, and a lower one the stricter. */

/** The lowest of some numbers; null where none is given. */
export function lowest(values: readonly (number | null)[]): number | null {
  const given = values.filter((value) => value !== null);
  return given.length === 0 ? null : Math.min(...given);
}

/**
 * What holds of a number that a policy bounds, for a key that was issued before.
 *
 * @param asked what the key declares
 * @param given what the policies give where it declares nothing
 * @param max the highest that they allow
 * @param has what holds of the key now
 * @param isDue whether the grace period is over; until then the key keeps what it has, as far as it still asks for it
 */
export function boundValue(
  { asked, given, max, has }: Readonly<Record<"asked" | "given" | "max" | "has", number | null>>,
  isDue: boolean,
): number | null {
  const strict = lowest([asked ?? given, max]);
  if (isDue || strict === null) return strict;
  const kept = lowest([asked, has]);
  return kept === null ? null : Math.max(strict, kept);
}
