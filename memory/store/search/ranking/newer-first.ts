import type { Alike } from "../../embedding/alike.ts";
import { asksForQuantity, countsOtherwise, type Quantities, quantitiesOf, unitOf } from "../words/quantities.ts";
import { rarityOf } from "../words/rarity.ts";
import { pairsOf, wordsOfAtom } from "../words/search-words.ts";
import { countInSample, countStems, type Stem, stemsOf, stemsOfAll } from "../words/stems.ts";
import { saysChange } from "../words/words-of-change.ts";

/** Match of an atom with a search. */
export type RankedMatch = {
  /** Closeness to the search. */
  readonly closeness: number;
  /** Kind of match: `words` if the atom has all the words as they stand. */
  readonly match: string;
};

/** Atom at its position of an answer, with as much of its text as shows what it is about. */
export type PlacedAtom = RankedMatch & {
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly updatedMs: number;
  readonly text: string;
  /** True if a model took it out of a conversation. */
  readonly isExtracted: boolean;
};

/** Query of an answer, and what is known beside the answer's texts. */
export type Answering = {
  /** Other texts of the same libraries, which show how frequent words are. */
  readonly sample: readonly string[];
  readonly query: string;
  /** True if the query has too many words to be looked up, as the number of a ticket is. */
  readonly isQuestion: boolean;
  readonly alike: Alike;
};

/**
 * Positions that are looked at: an older atom in one of the first {@link MAX_GIVING_WAY} gives way to newer atoms in
 * any of them.
 */
export const MAX_POSITIONS = 50;
export const MAX_GIVING_WAY = 10;
/** Number of atoms, those most like it, that an atom gives way to. */
const MAX_NEWER = 2;
/** Share of another atom's closeness below which an atom does not answer as well. */
const MIN_SHARE = 0.3;
/**
 * Lowest {@link likeness}, times the root of that share, at which an atom that says so contradicts an older one: by a
 * word of change, or by another number of what is asked for. Likeness alone contradicts nothing.
 */
const MIN_LIKENESS = 0.055;
/** Factor for the likeness of two atoms of which the newer has both. */
const BOTH_COUNT = 3;
/** Rarity of a word of the question that two atoms have beside different numbers, at least. */
const MIN_RARITY = 2.5;
/** Longest text that is one statement, in characters: in a longer one a word of change may be about any of several. */
const MAX_STATEMENT = 250;
/**
 * Likeness in meaning from which on a model says that two atoms are about the same, whatever their words, if the newer
 * atom has this share of the older atom's closeness.
 */
const MIN_ALIKE = 0.7;
const MIN_SHARE_OF_ALIKE = 0.2;

/**
 * Moves newer atoms before older atoms that they may contradict: of two atoms about the same, the older can have more
 * of the words that are asked for, and no longer be true. All others keep their order.
 *
 * @param ranked the best first
 */
export async function newerFirst<T extends PlacedAtom>(
  ranked: readonly T[],
  { sample, query, isQuestion, alike }: Answering,
): Promise<T[]> {
  const first = ranked.slice(0, MAX_POSITIONS);
  const stems = await stemsOfAll(first.map(({ text }) => text));
  const sampled = await countInSample(sample);
  const shareOf = (stem: Stem, count: number) =>
    (count + (sampled.get(stem) ?? 0)) / Math.max(1, sample.length + stems.length);
  const weightOf = new Map([...countStems(stems)].map(([stem, count]) => [stem, rarityOf(shareOf(stem, count)) ** 3]));
  const weighed = first.map((atom, at) => ({ atom, words: weigh(stems[at] ?? new Set(), weightOf) }));
  const changedBy = changes(weighed);
  const isCountedOtherwise = countedOtherwise<T>(query);
  /** Returns how much the likeness of two atoms counts: 0 if the newer one does not say that anything changed. */
  const counts = (newer: Placed<T>, older: Placed<T>): number => {
    if (isCountedOtherwise(newer, older)) return saysChange(newer.atom.text) ? BOTH_COUNT : 1;
    return changedBy(newer) === older ? 1 : 0;
  };
  /**
   * Returns how much the newer atom is about what the older is, by a model before all words; 0 if it may not come
   * before it.
   */
  const sameness = (newer: Placed<T>, older: Placed<T>): number => {
    if (newer.atom.updatedMs <= older.atom.updatedMs) return 0;
    // What a model makes of a conversation contradicts nothing that was written.
    if (newer.atom.isExtracted && !older.atom.isExtracted) return 0;
    const share = Math.min(1, newer.atom.closeness / older.atom.closeness);
    const meaning = alike(older.atom.id, newer.atom.id) ?? 0;
    if (meaning >= MIN_ALIKE && share >= MIN_SHARE_OF_ALIKE) return 1 + meaning;
    if (!isQuestion && isLessExact(newer.atom, older.atom)) return 0;
    const same = likeness(newer.words, older.words) * Math.sqrt(share);
    if (same * BOTH_COUNT < MIN_LIKENESS) return 0;
    const counted = same * counts(newer, older);
    return counted >= MIN_LIKENESS ? counted : 0;
  };
  const ordered = new Set<T>();
  for (const [at, older] of weighed.slice(0, MAX_GIVING_WAY).entries()) {
    const newer = weighed
      .slice(at + 1)
      .map((placed) => ({ atom: placed.atom, same: sameness(placed, older) }))
      .filter(({ same }) => same > 0)
      .toSorted((a, b) => b.same - a.same)
      .slice(0, MAX_NEWER);
    for (const { atom } of newer) ordered.add(atom);
    ordered.add(older.atom);
  }
  return [...ordered, ...ranked.filter((atom) => !ordered.has(atom))];
}

/**
 * True if an atom may come before another atom that is closer to the search, without a comparison of texts.
 *
 * @param share lowest share of the other atom's closeness
 */
export function answersAsWell(atom: RankedMatch, other: RankedMatch, share = MIN_SHARE): boolean {
  return !isLessExact(atom, other) && atom.closeness >= share * other.closeness;
}

function isLessExact(atom: RankedMatch, other: RankedMatch): boolean {
  return other.match === "words" && atom.match !== "words";
}

/**
 * Returns a look-up of the atom that a newer atom changes: the most alike of the older atoms, if both are short and the
 * newer has a word of change.
 */
function changes<T extends PlacedAtom>(placed: readonly Placed<T>[]): (newer: Placed<T>) => Placed<T> | undefined {
  const known = new Map<Placed<T>, Placed<T> | undefined>();
  const find = (newer: Placed<T>): Placed<T> | undefined => {
    if (newer.atom.text.length > MAX_STATEMENT || !saysChange(newer.atom.text)) return undefined;
    const older = placed.filter(({ atom }) => atom.updatedMs < newer.atom.updatedMs);
    const likest = older
      .map((other) => ({ other, like: likeness(newer.words, other.words) }))
      .reduce<{ other?: Placed<T>; like: number }>((best, each) => (each.like > best.like ? each : best), { like: 0 });
    return (likest.other?.atom.text.length ?? 0) > MAX_STATEMENT ? undefined : likest.other;
  };
  return (newer) => {
    if (!known.has(newer)) known.set(newer, find(newer));
    return known.get(newer);
  };
}

/** Returns a predicate: true if two short statements give different numbers of what a question asks the number of. */
function countedOtherwise<T extends PlacedAtom>(query: string): (newer: Placed<T>, older: Placed<T>) => boolean {
  if (!asksForQuantity(query)) return () => false;
  const words = wordsOfAtom(query).flatMap(pairsOf);
  const asked = words.flatMap(({ text }) => [...stemsOf(text)].map((stem) => ({ stem, unit: unitOf(text) })));
  const known = new Map<Placed<T>, Quantities>();
  const read = (placed: Placed<T>): Quantities => {
    const { text } = placed.atom;
    const quantities = known.get(placed) ?? (text.length > MAX_STATEMENT ? new Map() : quantitiesOf(text));
    known.set(placed, quantities);
    return quantities;
  };
  return (newer, older) => {
    const [now, before] = [read(newer), read(older)];
    if (!countsOtherwise(now, before)) return false;
    return asked.some(({ stem, unit }) => {
      if (!older.words.weights.has(stem) || (now.has(unit) && before.has(unit))) return false;
      return Math.cbrt(newer.words.weights.get(stem) ?? 0) >= MIN_RARITY;
    });
  };
}

type Placed<T> = { readonly atom: T; readonly words: Weighed };

/** Words of a text with the cubes of their weights, and the sum of the cubes. */
type Weighed = { readonly weights: ReadonlyMap<Stem, number>; readonly total: number };

function weigh(stems: ReadonlySet<Stem>, weightOf: ReadonlyMap<Stem, number>): Weighed {
  const weights = new Map<Stem, number>();
  let total = 0;
  for (const stem of stems) {
    const weight = weightOf.get(stem) ?? 0;
    weights.set(stem, weight);
    total += weight;
  }
  return { weights, total };
}

/** Returns the share of their rare words that two texts have in common, 0 to 1: the cosine of their weighed words. */
function likeness(a: Weighed, b: Weighed): number {
  const [fewer, more] = a.weights.size < b.weights.size ? [a, b] : [b, a];
  let shared = 0;
  for (const [stem, weight] of fewer.weights) if (more.weights.has(stem)) shared += weight;
  return shared === 0 ? 0 : shared / Math.sqrt(a.total * b.total);
}
