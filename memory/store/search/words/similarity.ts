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

/**
 * Returns the comparison of texts with words, and phrases that they must have. A word of several is compared once.
 *
 * @param of `all` to give any text that lacks a word the score 0
 */
export function similarity(
  wanted: readonly WantedWord[],
  phrases: readonly string[],
  of: "all" | "any" = "any",
): (text: string) => Likeness {
  const total = wanted.reduce((sum, { rarity }) => sum + rarity, 0);
  const isForVersion = wanted.some(({ word }) => word.kind === "version");
  const comparers = wanted.map(({ word, rarity }) => ({
    ...comparerOf(word),
    known: new Map<string, number>(),
    rarity,
  }));
  return (text) => {
    if (total === 0 || (phrases.length > 0 && hasNot(flatten(text), phrases))) return UNLIKE;
    const present = wordsOfAtom(text);
    const words = [...present.map((each) => each.text), ...(isForVersion ? numbersIn(text) : [])];
    const letters = words.map(lettersOf);
    const joined = new Set(joinedWords(text));
    const half = TIMES_FOR_HALF * (1 - LENGTH_COUNTS + (LENGTH_COUNTS * lengthOf(present)) / USUAL_LENGTH);
    let score = 0;
    let hasAll = true;
    for (const { text: sought, mayBeLike, likenessTo, known, rarity } of comparers) {
      let best = 0;
      let times = 0;
      for (let at = 0; at < words.length; at++) {
        const word = words[at] ?? "";
        if (!mayBeLike(word, letters[at] ?? 0)) continue;
        const likeness = known.get(word) ?? likenessTo(word);
        known.set(word, likeness);
        // Beside the word itself, others that are like it do not count.
        if (likeness === 0 || (best === 1 && likeness < 1)) continue;
        times = likeness === 1 && best < 1 ? 1 : times + 1;
        best = Math.max(best, likeness);
      }
      if (best < 1 && joined.has(sought)) [best, times] = [1, Math.max(times, 1)];
      if (best === 0 && of === "all") return UNLIKE;
      hasAll &&= best > 0;
      score += (best * rarity * times) / (times + half);
    }
    return { score: score / total, hasAll };
  };
}

const UNLIKE: Likeness = { score: 0, hasAll: false };

/** Counts the words of a text, in a script without spaces by the characters. */
function lengthOf(words: readonly Word[]): number {
  return words.reduce((sum, { kind, text }) => sum + (kind === "run" ? text.length / CHARACTERS_OF_WORD : 1), 0);
}

function hasNot(text: string, phrases: readonly string[]): boolean {
  const spaced = ` ${text} `;
  // Of a script without spaces a phrase is a part of a run.
  return phrases.some((phrase) => !spaced.includes(/^[a-z0-9]/.test(phrase) ? ` ${phrase} ` : phrase));
}

/** Comparison of the words of atoms with a wanted word. */
type Comparer = {
  readonly text: string;
  /** Quick test that nearly all words fail whose likeness is 0, given a word with its {@link lettersOf}. */
  readonly mayBeLike: (present: string, presentLetters: number) => boolean;
  /** Returns the likeness of a word that passes it: 1 for the same word, 0 for another. */
  readonly likenessTo: (present: string) => number;
};

/** Returns the comparison of words with a wanted word: 1 for the same word, 0 for another. */
export function comparer(word: Word): (present: string, presentLetters: number) => number {
  const { mayBeLike, likenessTo } = comparerOf(word);
  return (present, presentLetters) => (mayBeLike(present, presentLetters) ? likenessTo(present) : 0);
}

function comparerOf({ kind, text }: Word): Comparer {
  if (kind === "word") return { text, mayBeLike: gateOf(text), likenessTo: likenessToWord(text) };
  const likenessTo = (present: string) =>
    kind === "version" ? likenessOfVersions(text, present) : Number(present.includes(text));
  return { text, mayBeLike: () => true, likenessTo };
}

function likenessToWord(wanted: string): Comparer["likenessTo"] {
  const isAsItIs = wanted.length < MIN_SHARED || /[0-9]/.test(wanted);
  const others = otherSpellings(wanted);
  const stem = stemOf(wanted);
  return (present) => {
    if (wanted === present) return 1;
    if (others.includes(present)) return OTHER_SPELLING;
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
    const likeness = Math.max(form, contained, slipLikeness(wanted, present));
    return likeness >= MIN_LIKENESS ? likeness : 0;
  };
}

function gateOf(wanted: string): Comparer["mayBeLike"] {
  if (otherSpellings(wanted).length > 0) return () => true;
  const { length } = wanted;
  const letters = lettersOf(wanted);
  const allowed = slipsIn(wanted);
  return (present, presentLetters) => {
    if (present.length < MIN_SHARED && present.length <= length) return present === wanted;
    const lacking = letters & ~presentLetters;
    const added = presentLetters & ~letters;
    // One that has all letters of the other may contain it.
    if (lacking === 0 || added === 0) return true;
    if (Math.abs(present.length - length) <= allowed && bitsIn(lacking | added) <= 2 * allowed) return true;
    return present[0] === wanted[0] && present[1] === wanted[1] && present[2] === wanted[2];
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

function slipLikeness(wanted: string, present: string): number {
  const allowed = slipsIn(wanted);
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
  const pairs = bits - ((bits >>> 1) & 0x55555555);
  const fours = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333);
  return (((fours + (fours >>> 4)) & 0x0f0f0f0f) * 0x01010101) >>> 24;
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
