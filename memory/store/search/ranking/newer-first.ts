import type { Alike } from "../../embedding/alike.ts";
import { asksForQuantity, countsOtherwise, type Quantities, quantitiesOf, unitOf } from "../words/quantities.ts";
import { pairsOf, wordsOfAtom } from "../words/search-words.ts";
import { rarityOf } from "../words/similarity.ts";
import { takeTurns } from "../words/text-turns.ts";
import { saysChange } from "../words/words-of-change.ts";

/** How an atom of an answer answers. */
export type RankedPlace = {
  /** How much it has of what is asked for. */
  readonly closeness: number;
  /** `words` for one that has all the words as they stand. */
  readonly match: string;
};

/** An atom in its place of an answer, and as much of its text as shows what it is about. */
export type PlacedAtom = RankedPlace & {
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly updatedMs: number;
  readonly text: string;
  /** Whether a model took it out of a conversation. */
  readonly isExtracted: boolean;
};

/** How an answer was asked for, and what is known beside its texts. */
export type Answering = {
  /** Other texts of where the atoms are from, which show how frequent words are. */
  readonly sample: readonly string[];
  readonly query: string;
  /** Whether it was asked in so many words that they are not looked up, as the number of a ticket is. */
  readonly isQuestion: boolean;
  readonly alike: Alike;
};

/** So many places are looked at: an older atom in one of the first gives way to newer ones in any of them. */
export const MAX_PLACES = 50;
export const MAX_GIVING_WAY = 10;
/** An atom gives way to so many, those most like it. */
const MAX_NEWER = 2;
/** What has less than this share of another one's closeness does not answer as well. */
const MIN_SHARE = 0.3;
/** From so much {@link likeness} on, times the root of that share, two atoms are taken to be about the same. */
const MIN_LIKENESS = 0.11;
/** The likeness of an atom to what it says by its words that it changes counts so many times. */
const CHANGE_COUNTS = 2;
/**
 * And to one that counts otherwise what is asked for: so many times, and so many where it has a word of change too. Both
 * have a word of the question beside what is counted, at least so rare.
 */
const QUANTITY_COUNTS = 2;
const CHANGED_QUANTITY_COUNTS = 6;
const MIN_RARITY = 2.5;
/** A longer text states more than one thing: a word of change in it may be about any of them. */
const MAX_STATEMENT = 400;
/** From so much on a model says that two are about the same, whatever their words, where the newer one has this share. */
const MIN_ALIKE = 0.7;
const MIN_SHARE_OF_ALIKE = 0.2;
/** Words that begin with the same letters, so many, are forms of one, and so is a word with the `s` of many. */
const STEM = 5;
const PLURAL = /^[a-z]{2,}[a-rt-z]s$/;

/**
 * Puts what is newer before what it may contradict: of two atoms about the same, the older can have more of the words
 * that are asked for, and no longer be true. All others keep their order.
 *
 * @param ranked the best first
 */
export async function newerFirst<T extends PlacedAtom>(
  ranked: readonly T[],
  { sample, query, isQuestion, alike }: Answering,
): Promise<T[]> {
  const places = ranked.slice(0, MAX_PLACES);
  const stems = await stemsOfAll(places.map(({ text }) => text));
  const weightOf = weightsIn([...(await stemsOfAll(sample)), ...stems], new Set(stems.flatMap((own) => [...own])));
  const weighed = places.map((atom, at) => ({ atom, words: weigh(stems[at] ?? new Set(), weightOf) }));
  const changedBy = changes(weighed);
  const isCountedOtherwise = countedOtherwise<T>(query);
  const counts = (newer: Placed<T>, older: Placed<T>): number => {
    if (isCountedOtherwise(newer, older)) {
      return saysChange(newer.atom.text) ? CHANGED_QUANTITY_COUNTS : QUANTITY_COUNTS;
    }
    return changedBy(newer) === older ? CHANGE_COUNTS : 1;
  };
  /** How much the newer atom is about what the older one is, by a model before all words; 0 where it may not pass it. */
  const sameness = (newer: Placed<T>, older: Placed<T>): number => {
    if (newer.atom.updatedMs <= older.atom.updatedMs) return 0;
    // What a model makes of a conversation contradicts nothing that was written.
    if (newer.atom.isExtracted && !older.atom.isExtracted) return 0;
    const share = Math.min(1, newer.atom.closeness / older.atom.closeness);
    const meaning = alike(older.atom.id, newer.atom.id) ?? 0;
    if (meaning >= MIN_ALIKE && share >= MIN_SHARE_OF_ALIKE) return 1 + meaning;
    if (!isQuestion && isLessExact(newer.atom, older.atom)) return 0;
    const same = likeness(newer.words, older.words) * Math.sqrt(share);
    if (same * CHANGED_QUANTITY_COUNTS < MIN_LIKENESS) return 0;
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
 * Whether an atom may stand before another one that has more of what is asked for, where no text is compared.
 *
 * @param share how much of the other one's closeness it has to have
 */
export function answersAsWell(atom: RankedPlace, other: RankedPlace, share = MIN_SHARE): boolean {
  return !isLessExact(atom, other) && atom.closeness >= share * other.closeness;
}

function isLessExact(atom: RankedPlace, other: RankedPlace): boolean {
  return other.match === "words" && atom.match !== "words";
}

/** Says what an atom changes: the most like it of the older ones, where both are short and it has a word of change. */
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

/** Says whether two short statements count differently what a question asks the number of. */
function countedOtherwise<T extends PlacedAtom>(query: string): (newer: Placed<T>, older: Placed<T>) => boolean {
  if (!asksForQuantity(query)) return () => false;
  const asked = [...stemsOf(query)];
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
    return asked.some((stem) => {
      const unit = unitOf(stem);
      if (!older.words.weights.has(stem) || (now.has(unit) && before.has(unit))) return false;
      return Math.cbrt(newer.words.weights.get(stem) ?? 0) >= MIN_RARITY;
    });
  };
}

type Placed<T> = { readonly atom: T; readonly words: Weighed };

/** The words of a text with the cubes of what they weigh, and the sum of these. */
type Weighed = { readonly weights: ReadonlyMap<string, number>; readonly total: number };

function weigh(stems: ReadonlySet<string>, weightOf: ReadonlyMap<string, number>): Weighed {
  const weights = new Map<string, number>();
  let total = 0;
  for (const stem of stems) {
    const weight = weightOf.get(stem) ?? 0;
    weights.set(stem, weight);
    total += weight;
  }
  return { weights, total };
}

/** How many of their rare words two texts share, 0 to 1: the cosine of their weighed words. */
function likeness(a: Weighed, b: Weighed): number {
  const [fewer, more] = a.weights.size < b.weights.size ? [a, b] : [b, a];
  let shared = 0;
  for (const [stem, weight] of fewer.weights) if (more.weights.has(stem)) shared += weight;
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
  for (const word of wordsOfAtom(text)) {
    if (word.kind === "word") stems.add(stemOf(word.text));
    else for (const part of pairsOf(word)) stems.add(stemOf(part.text));
  }
  return stems;
}

function stemOf(word: string): string {
  return (PLURAL.test(word) ? word.slice(0, -1) : word).slice(0, STEM);
}

/** What each of some stems weighs, by how many of the texts have it. */
function weightsIn(texts: readonly ReadonlySet<string>[], wanted: ReadonlySet<string>): ReadonlyMap<string, number> {
  const counts = new Map([...wanted].map((stem) => [stem, 0]));
  for (const stems of texts) {
    for (const stem of stems) {
      const count = counts.get(stem);
      if (count !== undefined) counts.set(stem, count + 1);
    }
  }
  return new Map([...counts].map(([stem, count]) => [stem, rarityOf(count / texts.length) ** 3]));
}
