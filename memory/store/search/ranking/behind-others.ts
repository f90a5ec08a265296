/**
 * Moves each atom that gives way behind the last staying atom that is to come before it. All others keep their order.
 *
 * @param isBefore true if a staying atom is to come before an atom that gives way
 */
export function behindOthers<T>(
  placed: readonly T[],
  givesWay: (atom: T) => boolean,
  isBefore: (staying: T, givingWay: T) => boolean,
): T[] {
  const behind = placed.map((atom, at) =>
    givesWay(atom)
      ? Math.max(
          at,
          placed.findLastIndex((other) => !givesWay(other) && isBefore(other, atom)),
        )
      : at,
  );
  return placed
    .map((atom, at) => ({ atom, at, position: behind[at] ?? at }))
    .toSorted((a, b) => a.position - b.position || Number(givesWay(a.atom)) - Number(givesWay(b.atom)) || a.at - b.at)
    .map(({ atom }) => atom);
}
