import { answersAsWell, MAX_POSITIONS, type RankedMatch } from "./newer-first.ts";

/** Match of an atom with a search, and the id of the atom that replaces it, if any. */
export type ReplaceableMatch = RankedMatch & { readonly id: string; readonly replacedBy?: string | undefined };

/**
 * Moves an atom that replaces another to the position of the replaced one, if it is behind it, and the replaced atom
 * behind all atoms that answer as well. An atom whose replacement is not in the answer keeps its position: nothing says
 * the same instead.
 *
 * @param ranked the best first
 */
export function replacedLast<T extends ReplaceableMatch>(ranked: readonly T[]): readonly T[] {
  const first = ranked.slice(0, MAX_POSITIONS);
  const byId = new Map(first.map((atom) => [atom.id, atom]));
  const givingWay = first.filter(({ replacedBy }) => replacedBy !== undefined && byId.has(replacedBy));
  if (givingWay.length === 0) return ranked;
  const present = new Set<T>();
  /** Number of staying atoms before each atom that gives way, at its former position. */
  const before = new Map<T, number>();
  for (const atom of first) {
    const by = givingWay.includes(atom) ? byId.get(atom.replacedBy ?? "") : undefined;
    present.add(by ?? atom);
    if (by !== undefined) before.set(atom, present.size);
  }
  const staying = [...present];
  const placed = Map.groupBy(givingWay, (old) => {
    const last = staying.findLastIndex((atom) => atom.id === old.replacedBy || answersAsWell(atom, old));
    return Math.max(before.get(old) ?? 0, last + 1);
  });
  const ordered = [...staying, undefined].flatMap((atom, at) => [...(placed.get(at) ?? []), ...(atom ? [atom] : [])]);
  return [...ordered, ...ranked.slice(MAX_POSITIONS)];
}
