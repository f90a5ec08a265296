import { CODE_COUNT, CODES } from "./ascii-codes.ts";
import { identifierWords, isAscii, type Word, wordsOf } from "./folded-text.ts";
import { pairsOf } from "./search-words.ts";
import { yieldBetweenTexts } from "./yield-between-texts.ts";

/** Characters of an atom, from its beginning, that show what it is about. */
export const MAX_BEGINNING = 600;

/** Number of letters at the beginning of a word that make its stem. A plural's `s` is not one of them. */
const STEM = 5;
/** Fewest letters of a plural. Of a longer word than a stem its `s` is cut off in any case. */
const MIN_PLURAL = 4;
const MAX_DIGIT = CODES["9".charCodeAt(0)] ?? 0;
const S = CODES["s".charCodeAt(0)] ?? 0;

/** Stem of a word: of letters and digits of ASCII a number, which takes far less than a text to compare. */
export type Stem = number | string;

/** Returns the stems of a text, in any language; of a script without spaces, its pairs of characters. */
export function stemsOf(text: string): ReadonlySet<Stem> {
  const stems = new Set<Stem>();
  if (isAscii(text)) addStems(text, stems);
  else addStemsOf(wordsOf(text), stems);
  addStemsOf(identifierWords(text), stems);
  return stems;
}

function addStemsOf(words: readonly Word[], stems: Set<Stem>): void {
  for (const word of words) {
    for (const { text } of pairsOf(word)) {
      const begun = text.slice(0, STEM);
      if (isAscii(begun)) addStems(isAscii(text) ? text : begun, stems);
      else stems.add(begun);
    }
  }
}

/** Adds the stems of a text of ASCII. */
function addStems(text: string, stems: Set<Stem>): void {
  let stem = 0;
  let length = 0;
  let digits = 0;
  let last = 0;
  let before = 0;
  for (let at = 0; at <= text.length; at++) {
    const code = at === text.length ? 0 : (CODES[text.charCodeAt(at)] ?? 0);
    if (code > 0) {
      if (length < STEM) stem = stem * CODE_COUNT + code;
      if (code <= MAX_DIGIT) digits++;
      length++;
      before = last;
      last = code;
    } else if (length > 0) {
      const isPlural = last === S && before !== S && digits === 0 && length >= MIN_PLURAL && length <= STEM;
      stems.add(isPlural ? (stem - S) / CODE_COUNT : stem);
      stem = length = digits = 0;
    }
  }
}

/** Returns the stems of each of many texts, and lets other callers run between texts. */
export async function stemsOfAll(texts: readonly string[]): Promise<ReadonlySet<Stem>[]> {
  const stems: ReadonlySet<Stem>[] = [];
  const yieldBefore = yieldBetweenTexts();
  for (const text of texts) {
    await yieldBefore(text);
    stems.push(stemsOf(text));
  }
  return stems;
}

/** Returns the number of the texts, given by their stems, that have each stem. */
export function countStems(texts: Iterable<ReadonlySet<Stem>>): ReadonlyMap<Stem, number> {
  const counts = new Map<Stem, number>();
  for (const stems of texts) for (const stem of stems) counts.set(stem, (counts.get(stem) ?? 0) + 1);
  return counts;
}

const samples = new WeakMap<readonly string[], Promise<ReadonlyMap<Stem, number>>>();

/** Counts the texts of a sample that have each stem, once for all steps of a search. */
export function countInSample(sample: readonly string[]): Promise<ReadonlyMap<Stem, number>> {
  const counts = samples.get(sample) ?? stemsOfAll(sample).then(countStems);
  samples.set(sample, counts);
  return counts;
}
