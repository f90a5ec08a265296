import { rarityOf } from "../words/rarity.ts";
import { countInSample, MAX_BEGINNING, type Stem, stemsOf, stemsOfAll } from "../words/stems.ts";

/** Atom with the share of a query's words that it has, 0 to 1, and the text that was compared. */
type Compared = { readonly score: number; readonly text: string };

/** Number of atoms, the closest ones, whose stems are added to the query, and the number of these, the rarest. */
const BELIEVED = 5;
const ADDED = 20;
/** Weight of the best of them, beside 1 for a word of the query that is as rare. */
const WEIGHT = 0.13;
/**
 * Share of its own score that an atom gains at most: with the weights of importance and of age, an atom with half of the
 * words does not pass one with all of them.
 */
const MOST = 0.24;
/** Number of atoms, the closest ones, that are ranked again. */
const RANKED_AGAIN = 80;

/**
 * Ranks atoms by a query and by what its closest atoms have beside it: their rare words count a little for all
 * (pseudo-relevance feedback, docs/decisions/recall-ranking.md).
 *
 * @param compared in any order; the rank of those behind the first {@link RANKED_AGAIN} is their score
 * @param asked words of the query
 * @param sample texts of the same libraries, which show how frequent words are
 * @param total weight of all words of the query, of which a score is a share
 */
export async function withFeedback<T extends Compared>(
  compared: readonly T[],
  { asked, sample, total }: { readonly asked: string; readonly sample: readonly string[]; readonly total: number },
): Promise<(T & { readonly rank: number })[]> {
  const closest = compared.toSorted((a, b) => b.score - a.score);
  const best = closest[0]?.score ?? 0;
  const again = best === 0 ? [] : closest.slice(0, RANKED_AGAIN);
  const stems = await stemsOfAll(again.map(({ text }) => text.slice(0, MAX_BEGINNING)));
  const known = stemsOf(asked);
  const belief = new Map<Stem, number>();
  for (const [at, { score }] of again.slice(0, BELIEVED).entries()) {
    for (const stem of stems[at] ?? []) {
      if (!known.has(stem)) belief.set(stem, (belief.get(stem) ?? 0) + (score / best) ** 2);
    }
  }
  const counts = await countInSample(sample);
  const added = [...belief]
    .map(([stem, believed]) => ({
      stem,
      believed,
      rarity: rarityOf((counts.get(stem) ?? 0) / Math.max(1, sample.length)),
    }))
    .map(({ stem, believed, rarity }) => ({ stem, rarity, worth: believed * rarity }))
    .toSorted((a, b) => b.worth - a.worth)
    .slice(0, ADDED);
  const most = added[0]?.worth ?? 1;
  const gain = (own: ReadonlySet<Stem>) =>
    added.reduce((sum, { stem, rarity, worth }) => sum + (own.has(stem) ? (rarity * worth) / most : 0), 0);
  return closest.map((atom, at) => {
    const own = stems[at];
    const gained = own === undefined ? 0 : Math.min((WEIGHT * gain(own)) / total, MOST * atom.score);
    return { ...atom, rank: atom.score + gained };
  });
}
