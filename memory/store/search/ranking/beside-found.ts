import type { Adjacent } from "../candidates/adjacent-atoms.ts";

/** Share of its rank that an atom adds to those beside it. */
const WEIGHT = 0.5;

/**
 * Adds to the rank of each atom a part of the rank of the better one beside it: in a conversation, the turn that answers
 * is often the one before or after the turn with the words. An atom never passes one beside it by that.
 *
 * @param ranked in any order
 */
export function besideFound<T extends { readonly id: string; readonly rank: number }>(
  ranked: readonly T[],
  adjacent: Adjacent,
): T[] {
  const ranks = new Map(ranked.map(({ id, rank }) => [id, rank]));
  const best = new Map<string, number>();
  const add = (id: string, rank: number) => best.set(id, Math.max(best.get(id) ?? 0, rank));
  for (const [id, others] of adjacent) {
    for (const other of others) {
      add(other, ranks.get(id) ?? 0);
      add(id, ranks.get(other) ?? 0);
    }
  }
  return ranked.map((atom) => ({ ...atom, rank: atom.rank + WEIGHT * (best.get(atom.id) ?? 0) }));
}
