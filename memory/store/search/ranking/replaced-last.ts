import { answersAsWell, MAX_PLACES, type RankedPlace } from "./newer-first.ts";

/** An atom in its place of an answer, and the one that replaces it, where one does. */
export type ReplaceablePlace = RankedPlace & { readonly id: string; readonly replacedBy?: string | undefined };

/**
 * Puts what replaces another atom in its place, where it stands behind it, and what is replaced behind all that answers
 * as well. What is replaced by an atom that the answer does not have keeps its place: nothing says the same instead.
 *
 * @param ranked the best first
 */
export function replacedLast<T extends ReplaceablePlace>(ranked: readonly T[]): readonly T[] {
  const places = ranked.slice(0, MAX_PLACES);
  const byId = new Map(places.map((atom) => [atom.id, atom]));
  const givingWay = places.filter(({ replacedBy }) => replacedBy !== undefined && byId.has(replacedBy));
  if (givingWay.length === 0) return ranked;
  const present = new Set<T>();
  /** Behind how many of those that stay each of the others stands, before it gives way. */
  const before = new Map<T, number>();
  for (const atom of places) {
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
  return [...ordered, ...ranked.slice(MAX_PLACES)];
}
