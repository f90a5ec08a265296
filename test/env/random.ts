/** A source of choices that a seed plays again. */
export type Random = {
  /** Uniform in [0, 1). */
  next(): number;
  /** A whole number from 0 up to the limit. */
  below(limit: number): number;
  /** A whole number from one to the other, both included. */
  between(low: number, high: number): number;
  chance(part: number): boolean;
  pick<T>(from: readonly [T, ...T[]]): T;
  /** Undefined of an empty list. */
  pickAny<T>(from: readonly T[]): T | undefined;
};

/** Mulberry32: small, and good enough to choose what goes wrong next. */
export function randomFrom(seed: number): Random {
  let state = seed | 0;
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit: number) => Math.floor(next() * limit);
  return {
    next,
    below,
    between: (low, high) => low + below(high - low + 1),
    chance: (part) => next() < part,
    pick: (from) => from[below(from.length)] ?? from[0],
    pickAny: (from) => from[below(from.length)],
  };
}

/** A name of the table, more often the more it weighs. */
export function weighted(random: Random, table: Readonly<Record<string, { readonly weight: number }>>): string {
  const entries = Object.entries(table);
  let left = random.next() * entries.reduce((sum, [, { weight }]) => sum + weight, 0);
  for (const [name, { weight }] of entries) {
    left -= weight;
    if (left < 0) return name;
  }
  return entries[0]?.[0] ?? "";
}
