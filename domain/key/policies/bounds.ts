/** Limits as numbers: null means no limit, and a lower number is stricter. */

/** Returns the lowest of the given numbers; null if none is given. */
export function lowest(values: readonly (number | null)[]): number | null {
  const given = values.filter((value) => value !== null);
  return given.length === 0 ? null : Math.min(...given);
}

type Values<F extends string> = Readonly<Record<F, number | null>>;

/**
 * Returns the value that holds for a number that policies bound, for a key that was issued before. The key keeps its
 * value, as far as it still asks for it and as far as the rules allow whose grace period is over.
 *
 * @param of what the key declares, what holds for it now, and what it has if neither is stated
 * @param rules the policies' default if it declares nothing, and their maximum
 * @param due the same, of the rules whose grace period is over
 */
export function boundValue(
  { asked, has, undeclared }: Values<"asked" | "has" | "undeclared">,
  rules: Values<"given" | "max">,
  due: Values<"given" | "max">,
): number | null {
  const by = ({ given, max }: Values<"given" | "max">) => lowest([asked ?? given ?? undeclared, max]);
  const strict = by(rules);
  const kept = lowest([asked ?? undeclared, has ?? undeclared, by(due)]);
  return strict === null || kept === null ? null : Math.max(strict, kept);
}
