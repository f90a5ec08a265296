/** How much the first places of a list outweigh the next: the constant that reciprocal rank fusion was published with. */
const K = 60;

/**
 * One ranking of several, by reciprocal rank fusion (Cormack, Clarke and Büttcher, 2009): an id counts 1 / (60 + its place)
 * in each list that has it. Of two that count the same, the one of the earlier list comes first.
 */
export function fuse(rankings: readonly (readonly string[])[]): { readonly id: string; readonly rank: number }[] {
  const ranks = new Map<string, number>();
  for (const ids of rankings) {
    for (const [i, id] of ids.entries()) ranks.set(id, (ranks.get(id) ?? 0) + 1 / (K + i + 1));
  }
  // Sorting keeps the order of what is equal.
  return [...ranks].map(([id, rank]) => ({ id, rank })).sort((a, b) => b.rank - a.rank);
}
