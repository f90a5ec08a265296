import { pairsOf, wordsOfAtom } from "./search-words.ts";
import { yieldBetweenTexts } from "./yield-between-texts.ts";

/** Characters of an atom, from its beginning, that show what it is about. */
export const MAX_BEGINNING = 600;

/** Number of letters at the beginning of a word that make its stem. A plural's `s` is not one of them. */
const STEM = 5;
const PLURAL = /^[a-z]{2,}[a-rt-z]s$/;

/** Returns the stems of a text, in any language; of a script without spaces, its pairs of characters. */
export function stemsOf(text: string): ReadonlySet<string> {
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

/** Returns the stems of each of many texts, and lets other callers run between texts. */
export async function stemsOfAll(texts: readonly string[]): Promise<ReadonlySet<string>[]> {
  const stems: ReadonlySet<string>[] = [];
  const yieldBefore = yieldBetweenTexts();
  for (const text of texts) {
    await yieldBefore(text);
    stems.push(stemsOf(text));
  }
  return stems;
}

const samples = new WeakMap<readonly string[], Promise<readonly ReadonlySet<string>[]>>();

/** Returns the stems of each text of a sample, which is read once for all steps of a search. */
export function stemsOfSample(sample: readonly string[]): Promise<readonly ReadonlySet<string>[]> {
  const stems = samples.get(sample) ?? stemsOfAll(sample);
  samples.set(sample, stems);
  return stems;
}

/** Returns the share of some texts, given by their stems, that has each of the wanted stems, 0 to 1. */
export function sharesOf(
  texts: readonly ReadonlySet<string>[],
  wanted: ReadonlySet<string>,
): ReadonlyMap<string, number> {
  const counts = new Map([...wanted].map((stem) => [stem, 0]));
  for (const stems of texts) {
    for (const stem of stems) {
      const count = counts.get(stem);
      if (count !== undefined) counts.set(stem, count + 1);
    }
  }
  return new Map([...counts].map(([stem, count]) => [stem, count / Math.max(1, texts.length)]));
}
