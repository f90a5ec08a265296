import { answersAsWell, type RankedPlace } from "./newer-first.ts";

/**
 * Puts what is true before what is no longer or not yet true: each of these comes behind the last true atom that answers
 * as well. All others keep their order.
 *
 * @param placed in the order of an answer
 */
export function validFirst<T extends RankedPlace & { readonly isValid: boolean }>(placed: readonly T[]): T[] {
  const behind = placed.map((atom, at) =>
    atom.isValid
      ? at
      : Math.max(
          at,
          placed.findLastIndex((other) => other.isValid && answersAsWell(other, atom)),
        ),
  );
  return placed
    .map((atom, at) => ({ atom, at, place: behind[at] ?? at }))
    .toSorted((a, b) => a.place - b.place || Number(b.atom.isValid) - Number(a.atom.isValid) || a.at - b.at)
    .map(({ atom }) => atom);
}
