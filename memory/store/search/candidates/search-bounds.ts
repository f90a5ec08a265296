/** Bounds on what a search reads, whatever is stored and whatever is asked (docs/decisions/memory-search.md). */
export type AtomSearchBounds = {
  /** Number of atoms at random, from which the frequencies of words are estimated. */
  readonly sample: number;
  /** Number of rows that the index gives. */
  readonly indexed: number;
  /** Number of the newest atoms, and of the most important ones, that are read if the index alone does not answer. */
  readonly newest: number;
  readonly important: number;
  /** Bytes of stored word vectors that are read from each source. */
  readonly bytes: number;
  /** Number of atoms at random, from which the frequencies of parts of words are estimated. */
  readonly similarSample: number;
  /** Atoms with similar words that are read from each source and compared, and the bytes of them all. */
  readonly similar: number;
  readonly similarBytes: number;
};

export const SEARCH_BOUNDS: AtomSearchBounds = {
  sample: 250,
  indexed: 10_000,
  newest: 1_500,
  important: 500,
  bytes: 8 << 20,
  similarSample: 120,
  similar: 250,
  similarBytes: 1 << 20,
};

/**
 * Returns the bytes of words up to which an atom is read without a further bound: as many such atoms as the index gives
 * at most stay within {@link AtomSearchBounds.bytes}.
 */
export function fewBytes({ bytes, indexed }: AtomSearchBounds): number {
  return Math.floor(bytes / indexed);
}
