import { pairsOf, wordsOfAtom } from "./search-words.ts";
import { rarityOf } from "./similarity.ts";
import { takeTurns } from "./turns.ts";

/** An atom in its place of an answer, and as much of its text as shows what it is about. */
export type PlacedAtom = {
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly updatedMs: number;
  readonly rank: number;
  /** `words` for one that has all the words as they stand. */
  readonly match: string;
  /** Whether it has more of what is asked for than a single word. */
  readonly isAnswer: boolean;
  readonly text: string;
};

/** So many places are looked at: an older atom in one of the first gives way to newer ones in any of them. */
export const MAX_PLACES = 50;
const MAX_GIVING_WAY = 10;
/** An atom gives way to so many, those most like it. */
const MAX_NEWER = 2;
/** What ranks lower than this share of the older one may be about the same, and does not answer. */
const MIN_SHARE_OF_RANK = 0.35;
/** From so much {@link likeness} on two atoms are taken to be about the same. */
const MIN_LIKENESS = 0.15;
/** Words that begin with the same letters, so many, are forms of one. */
const STEM = 5;

/**
 * Puts what is newer before what it may contradict: of two atoms about the same, the older can have more of the words
 * that are asked for, and no longer be true. What has a single one of several words passes nothing, and what has all words
 * as they stand, as the number of a ticket, gives way only to what has them too. All others keep their order.
 *
 * @param ranked the best first
 * @param sample other texts of where they are from, which show how frequent words are
 */
export async function newerFirst<T extends PlacedAtom>(ranked: readonly T[], sample: readonly string[]): Promise<T[]> {
  const places = ranked.slice(0, MAX_PLACES);
  const stems = await stemsOfAll(places.map(({ text }) => text));
  const rarity = rarityIn([...(await stemsOfAll(sample)), ...stems]);
  const weighed = places.map((atom, at) => ({ atom, words: weigh(stems[at] ?? new Set(), rarity) }));
  const ordered = new Set<T>();
  for (const [at, older] of weighed.slice(0, MAX_GIVING_WAY).entries()) {
    const newer = weighed
      .slice(at + 1)
      .filter(({ atom }) => mayPass(atom, older.atom))
      .map(({ atom, words }) => ({ atom, like: likeness(words, older.words) }))
      .filter(({ like }) => like >= MIN_LIKENESS)
      .toSorted((a, b) => b.like - a.like)
      .slice(0, MAX_NEWER);
    for (const { atom } of newer) ordered.add(atom);
    ordered.add(older.atom);
  }
  return [...ordered, ...ranked.filter((atom) => !ordered.has(atom))];
}

function mayPass(newer: PlacedAtom, older: PlacedAtom): boolean {
  const isAsExact = older.match !== "words" || newer.match === "words";
  const answers = newer.isAnswer && newer.rank >= MIN_SHARE_OF_RANK * older.rank;
  return newer.updatedMs > older.updatedMs && isAsExact && answers;
}

/** The words of a text with the cubes of what they weigh, and the sum of these. */
type Weighed = { readonly weights: ReadonlyMap<string, number>; readonly total: number };

function weigh(stems: ReadonlySet<string>, rarity: (stem: string) => number): Weighed {
  const weights = new Map([...stems].map((stem) => [stem, rarity(stem) ** 3]));
  return { weights, total: [...weights.values()].reduce((sum, weight) => sum + weight, 0) };
}

/** How many of their rare words two texts share, 0 to 1: the cosine of their weighed words. */
function likeness(a: Weighed, b: Weighed): number {
  const [fewer, more] = a.weights.size < b.weights.size ? [a, b] : [b, a];
  const shared = [...fewer.weights].reduce((sum, [stem, weight]) => (more.weights.has(stem) ? sum + weight : sum), 0);
  return shared === 0 ? 0 : shared / Math.sqrt(a.total * b.total);
}

/** Of many texts, between which others have their turn. */
async function stemsOfAll(texts: readonly string[]): Promise<ReadonlySet<string>[]> {
  const stems: ReadonlySet<string>[] = [];
  const turn = takeTurns();
  for (const text of texts) {
    await turn(text);
    stems.push(stemsOf(text));
  }
  return stems;
}

function stemsOf(text: string): ReadonlySet<string> {
  const stems = new Set<string>();
  for (const word of wordsOfAtom(text)) for (const part of pairsOf(word)) stems.add(part.text.slice(0, STEM));
  return stems;
}

function rarityIn(texts: readonly ReadonlySet<string>[]): (stem: string) => number {
  const counts = new Map<string, number>();
  for (const stems of texts) for (const stem of stems) counts.set(stem, (counts.get(stem) ?? 0) + 1);
  return (stem) => rarityOf((counts.get(stem) ?? 0) / texts.length);
}
