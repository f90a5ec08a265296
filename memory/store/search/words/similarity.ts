import { stemmer } from "stemmer";
import type { Word } from "./folded-text.ts";
import { joinedWords, otherSpellings } from "./other-spellings.ts";
import { flatten, wordsOfAtom } from "./search-words.ts";
import type { WantedWord } from "./similar-condition.ts";
import { likenessOfVersions, numbersIn } from "./versions.ts";

/** Likeness from which on two words may be taken for each other, and the fewest letters that two forms share. */
const MIN_LIKENESS = 0.5;
const MIN_SHARED = 3;
/** Likeness of a word in another spelling: its short name, or its number with a `v`. */
const OTHER_SPELLING = 0.9;
/** Number of letters up to which a word may be a form of another. */
const MAX_STEMMED = 32;

/**
 * Number of occurrences at which a word counts half of its limit, as in BM25. A part of it, {@link LENGTH_COUNTS},
 * grows with the atom's length by {@link USUAL_LENGTH}: a longer atom has more words of any kind.
 */
const TIMES_FOR_HALF = 0.5;
const LENGTH_COUNTS = 0.3;
const USUAL_LENGTH = 25;
/** Number of characters that count as a word in a script without spaces. */
const CHARACTERS_OF_WORD = 2;

/** Likeness of an atom to a search. */
export type Likeness = {
  /** Share of the words that the atom has, 0 to 1, by their rarity and how often they occur. */
  readonly score: number;
  readonly hasAll: boolean;
};

/** Returns the comparison of texts with words, and phrases that they must have. A word of several is compared once. */
export function similarity(wanted: readonly WantedWord[], phrases: readonly string[]): (text: string) => Likeness {
  const weights = wanted.map(({ rarity }) => rarity);
  const comparers = wanted.map(({ word }) => comparer(word));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const isForVersion = wanted.some(({ word }) => word.kind === "version");
  const indexes = new Map(wanted.map(({ word }, at) => [word.text, at]));
  const known = new Map<string, readonly number[]>();
  const likenesses = (text: string): readonly number[] => {
    const before = known.get(text);
    if (before !== undefined) return before;
    const letters = lettersOf(text);
    const each = comparers.map((likenessTo) => likenessTo(text, letters));
    const like = each.some((likeness) => likeness > 0) ? each : NONE;
    known.set(text, like);
    return like;
  };
  return (text) => {
    if (total === 0 || (phrases.length > 0 && hasNot(flatten(text), phrases))) return { score: 0, hasAll: false };
    const best = wanted.map(() => 0);
    const times = wanted.map(() => 0);
    const present = wordsOfAtom(text);
    const numbers = isForVersion ? numbersIn(text) : [];
    for (const word of [...present.map((each) => each.text), ...numbers]) {
      const like = likenesses(word);
      for (let at = 0; at < like.length; at++) {
        const [likeness, before] = [like[at] ?? 0, best[at] ?? 0];
        // Beside the word itself, others that are like it do not count.
        if (likeness === 0 || (before === 1 && likeness < 1)) continue;
        times[at] = likeness === 1 && before < 1 ? 1 : (times[at] ?? 0) + 1;
        best[at] = Math.max(before, likeness);
      }
    }
    for (const joined of joinedWords(text)) {
      const at = indexes.get(joined);
      if (at === undefined || best[at] === 1) continue;
      best[at] = 1;
      times[at] = Math.max(times[at] ?? 0, 1);
    }
    const half = TIMES_FOR_HALF * (1 - LENGTH_COUNTS + (LENGTH_COUNTS * lengthOf(present)) / USUAL_LENGTH);
    const score =
      best.reduce((sum, likeness, at) => {
        const count = times[at] ?? 0;
        return sum + (likeness * (weights[at] ?? 0) * count) / (count + half);
      }, 0) / total;
    return { score, hasAll: best.every((likeness) => likeness > 0) };
  };
}

/** Counts the words of a text, in a script without spaces by the characters. */
function lengthOf(words: readonly Word[]): number {
  return words.reduce((sum, { kind, text }) => sum + (kind === "run" ? text.length / CHARACTERS_OF_WORD : 1), 0);
}

/** Likenesses of a word that is like none of the wanted words, as nearly all are. */
const NONE: readonly number[] = [];

function hasNot(text: string, phrases: readonly string[]): boolean {
  const spaced = ` ${text} `;
  // Of a script without spaces a phrase is a part of a run.
  return phrases.some((phrase) => !spaced.includes(/^[a-z0-9]/.test(phrase) ? ` ${phrase} ` : phrase));
}

/** Returns the likeness of a word of an atom, given with its {@link lettersOf}: 1 for the same word, 0 for another. */
type Comparer = (present: string, presentLetters: number) => number;

/** Returns the comparison of the words of atoms with a wanted word. */
export function comparer({ kind, text: wanted }: Word): Comparer {
  if (kind === "run") return (present) => (present.includes(wanted) ? 1 : 0);
  if (kind === "version") return (present) => likenessOfVersions(wanted, present);
  const isAsItIs = wanted.length < MIN_SHARED || /[0-9]/.test(wanted);
  const allowed = slipsIn(wanted);
  const letters = lettersOf(wanted);
  const others = otherSpellings(wanted);
  const stem = stemOf(wanted);
  return (present, presentLetters) => {
    if (wanted === present) return 1;
    if (others.length > 0 && others.includes(present)) return OTHER_SPELLING;
    const [lacking, added] = [letters & ~presentLetters, presentLetters & ~letters];
    const mayHaveSlips = bitsIn(lacking | added) <= 2 * allowed;
    // Spares most of the comparisons: neither has all letters of the other, and they differ from the first one on.
    if (lacking !== 0 && added !== 0 && !mayHaveSlips && wanted[0] !== present[0]) return 0;
    const ratio = Math.min(wanted.length, present.length) / Math.max(wanted.length, present.length);
    const shared = sharedBeginning(wanted, present);
    if (!isAsItIs && shared >= MIN_SHARED && stemOf(present) === stem) return 1;
    if (present.length > wanted.length) {
      const at = present.indexOf(wanted);
      if (at === 0) return 0.7 + 0.2 * ratio;
      if (at > 0 && wanted.length >= MIN_SHARED) return 0.6 + 0.2 * ratio;
    }
    if (isAsItIs || present.length < MIN_SHARED) return 0;
    const form = shared >= MIN_SHARED ? 0.9 * (shared / Math.max(wanted.length, present.length)) : 0;
    const contained = present.length > MIN_SHARED && wanted.includes(present) ? 0.4 + 0.4 * ratio : 0;
    const slipped = mayHaveSlips ? slipLikeness(wanted, present, allowed) : 0;
    const likeness = Math.max(form, contained, slipped);
    return likeness >= MIN_LIKENESS ? likeness : 0;
  };
}

/** Returns the English stem of a word, as the index of words has it; of a very long one, the word. */
function stemOf(word: string): string {
  return word.length > MAX_STEMMED ? word : stemmer(word);
}

function sharedBeginning(a: string, b: string): number {
  let at = 0;
  while (at < a.length && a[at] === b[at]) at++;
  return at;
}

/** Returns the number of slips that leave a word recognizable. One slip changes at most two kinds of letters. */
function slipsIn({ length }: string): number {
  return length < 4 ? 0 : length < 8 ? 1 : 2;
}

function slipLikeness(wanted: string, present: string, allowed: number): number {
  if (allowed === 0 || Math.abs(wanted.length - present.length) > allowed) return 0;
  const slips = slipsBetween(wanted, present, allowed);
  return slips > allowed ? 0 : 0.85 - 0.1 * slips;
}

/** Returns the letters that a word has, as bits: one bit for all letters with the same last five bits. */
export function lettersOf(word: string): number {
  let letters = 0;
  for (let at = 0; at < word.length; at++) letters |= 1 << (word.charCodeAt(at) & 31);
  return letters;
}

function bitsIn(bits: number): number {
  let count = 0;
  for (let rest = bits; rest !== 0; rest &= rest - 1) count++;
  return count;
}

/**
 * Counts the letters that are changed, left out, added or swapped between two words, up to one more than `most`. Equal
 * letters are skipped, which leaves few ways to try: a table of all positions takes seconds for words of thousands of
 * letters.
 */
function slipsBetween(a: string, b: string, most: number): number {
  const isWithin = (slips: number, i: number, j: number): boolean => {
    while (i < a.length && a[i] === b[j]) {
      i++;
      j++;
    }
    if (i === a.length || j === b.length) return a.length - i + b.length - j <= slips;
    if (slips === 0) return false;
    return (
      isWithin(slips - 1, i + 1, j + 1) ||
      isWithin(slips - 1, i + 1, j) ||
      isWithin(slips - 1, i, j + 1) ||
      (a[i] === b[j + 1] && a[i + 1] === b[j] && isWithin(slips - 1, i + 2, j + 2))
    );
  };
  let slips = 0;
  while (slips <= most && !isWithin(slips, 0, 0)) slips++;
  return slips;
}
