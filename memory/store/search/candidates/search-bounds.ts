/** How much a search looks at, whatever is stored and whatever is asked (docs/decisions/memory-search.md). */
export type AtomSearchBounds = {
  /** Atoms at random, of which the words' frequencies are estimated. */
  readonly sample: number;
  /** Rows of the index. */
  readonly indexed: number;
  /** The newest atoms, and the most important ones, where the index alone does not answer. */
  readonly newest: number;
  readonly important: number;
  /** Of the words' vectors as stored, from each source. */
  readonly bytes: number;
  /** Atoms at random, of which the frequencies of parts of words are estimated. */
  readonly similarSample: number;
  /** Atoms with similar words that are read from each source and compared, and what they may hold together. */
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

/** Of as many as the index gives at most, atoms with so little to read each are read without a further bound. */
export function fewBytes({ bytes, indexed }: AtomSearchBounds): number {
  return Math.floor(bytes / indexed);
}
