import type { Word } from "./folded-text.ts";
import { flatten, type SearchWords, wordsOfAtom } from "./search-words.ts";
import type { Share } from "./similar-condition.ts";
import { similarTo } from "./similar-condition.ts";

/** Of so little likeness two words are not taken for each other. */
const MIN_LIKENESS = 0.5;
const MIN_SHARED = 3;

/** How near an atom comes to a search. */
export type Likeness = {
  /** 0 to 1: what share of the words it has, the rare ones counting more. */
  readonly score: number;
  readonly hasAll: boolean;
};

/** Compares atoms with one search. Words of different atoms are the same ones, and compared once. */
export function similarity(search: SearchWords, share: Share): (text: string) => Likeness {
  const words = search.wanted.map((word) => ({
    word,
    weight: rarity(share(similarTo(word, share))),
    known: new Map<string, number>(),
  }));
  const total = words.reduce((sum, { weight }) => sum + weight, 0);
  return (text) => {
    const phraseIsMissing = search.phrases.length > 0 && hasNot(flatten(text), search.phrases);
    if (total === 0 || phraseIsMissing) return { score: 0, hasAll: false };
    const present = wordsOfAtom(text);
    const found = words.map(({ word, weight, known }) => ({ weight, likeness: best(word, present, known) }));
    return {
      score: found.reduce((sum, { weight, likeness }) => sum + weight * likeness, 0) / total,
      hasAll: found.every(({ likeness }) => likeness > 0),
    };
  };
}

function rarity(share: number): number {
  return Math.log(1 + 1 / (share + 0.004));
}

function hasNot(text: string, phrases: readonly string[]): boolean {
  const spaced = ` ${text} `;
  // Of a script without spaces a phrase is a part of a run.
  return phrases.some((phrase) => !spaced.includes(/^[a-z0-9]/.test(phrase) ? ` ${phrase} ` : phrase));
}

function best(word: Word, present: readonly Word[], known: Map<string, number>): number {
  let likeness = 0;
  for (const { text } of present) {
    let of = known.get(text);
    if (of === undefined) {
      of = likenessOf(word, text);
      known.set(text, of);
    }
    if (of > likeness) likeness = of;
    if (likeness === 1) return 1;
  }
  return likeness;
}

/** How like a word of an atom is to one that is looked for: 1 for the same, 0 for another. */
export function likenessOf({ kind, text: wanted }: Word, present: string): number {
  if (wanted === present) return 1;
  if (kind === "run") return present.includes(wanted) ? 1 : 0;
  const ratio = Math.min(wanted.length, present.length) / Math.max(wanted.length, present.length);
  if (present.startsWith(wanted)) return 0.7 + 0.2 * ratio;
  if (wanted.length < MIN_SHARED) return 0;
  if (present.includes(wanted)) return 0.6 + 0.2 * ratio;
  if (/[0-9]/.test(wanted)) return 0;
  const shared = sharedBeginning(wanted, present);
  const form = shared >= MIN_SHARED ? 0.9 * (shared / Math.max(wanted.length, present.length)) : 0;
  const slip = slipLikeness(wanted, present);
  const contained = present.length > MIN_SHARED && wanted.includes(present) ? 0.4 + 0.4 * ratio : 0;
  const likeness = Math.max(form, slip, contained);
  return likeness >= MIN_LIKENESS ? likeness : 0;
}

function sharedBeginning(a: string, b: string): number {
  let at = 0;
  while (at < a.length && a[at] === b[at]) at++;
  return at;
}

function slipLikeness(wanted: string, present: string): number {
  const allowed = wanted.length < 4 ? 0 : wanted.length < 8 ? 1 : 2;
  if (allowed === 0 || Math.abs(wanted.length - present.length) > allowed) return 0;
  const slips = slipsBetween(wanted, present, allowed);
  return slips > allowed ? 0 : 0.85 - 0.1 * slips;
}

/** Letters changed, left out, added or in the other order, up to one more than `most`. */
function slipsBetween(a: string, b: string, most: number): number {
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const isSame = a[i - 1] === b[j - 1];
      let least = Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (last[j - 1] ?? 0) + (isSame ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        least = Math.min(least, (before[j - 2] ?? 0) + 1);
      row.push(least);
    }
    if (Math.min(...row) > most) return most + 1;
    before = last;
    last = row;
  }
  return last[b.length] ?? most + 1;
}
