/** Measures of a ranking, each 0 to 1, of one question. */
export type Measures = {
  readonly at5: number;
  readonly at10: number;
  readonly at20: number;
  /** 1 if any evidence is among the first ten. */
  readonly any10: number;
  /** One over the place of the first evidence. */
  readonly mrr: number;
  /** Discounted gain of the first ten, to the best that is possible. */
  readonly ndcg10: number;
};

export const MEASURES = ["at5", "at10", "at20", "any10", "mrr", "ndcg10"] as const satisfies (keyof Measures)[];

/** Measures a ranking of documents, the best first, by the documents that answer. */
export function measuresOf(ranked: readonly string[], evidence: readonly string[]): Measures {
  const wanted = new Set(evidence);
  const isHit = ranked.map((id) => wanted.has(id));
  const recall = (most: number) => isHit.slice(0, most).filter(Boolean).length / wanted.size;
  const first = isHit.indexOf(true);
  const gain = (hits: readonly boolean[]) => hits.reduce((sum, hit, at) => sum + (hit ? 1 / Math.log2(at + 2) : 0), 0);
  const best = gain(Array.from({ length: Math.min(10, wanted.size) }, () => true));
  return {
    ...{ at5: recall(5), at10: recall(10), at20: recall(20), any10: recall(10) > 0 ? 1 : 0 },
    mrr: first < 0 ? 0 : 1 / (first + 1),
    ndcg10: gain(isHit.slice(0, 10)) / best,
  };
}
