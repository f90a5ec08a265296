/** Numbers of which null is none, and a lower one the stricter. */

/** The lowest of some numbers; null where none is given. */
export function lowest(values: readonly (number | null)[]): number | null {
  const given = values.filter((value) => value !== null);
  return given.length === 0 ? null : Math.min(...given);
}

type Values<F extends string> = Readonly<Record<F, number | null>>;

/**
 * What holds of a number that policies bound, for a key that was issued before: it keeps what it has, as far as it still
 * asks for it, and as far as the rules let it whose grace period is over.
 *
 * @param of what the key declares, what holds of it now, and what it has where neither is said
 * @param rules what the policies give where it declares nothing, and the highest that they allow
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
