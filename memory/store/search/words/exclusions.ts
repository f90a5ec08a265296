import { type Word, wordsOf } from "./folded-text.ts";

/** Letters of scripts without spaces that count as letters of words: of Thai, Lao, Burmese and Khmer. */
const UNPARTED = /[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]/;

/**
 * Returns a function that tells whether a text has any of these words or phrases, in whichever case, accents and widths
 * it writes them; in a script without spaces, anywhere within what it writes.
 */
export function hasAnyOf(excluded: readonly string[]): (text: string) => boolean {
  const sought = excluded.map(wordsOf).flatMap((words) => (words.length === 0 ? [] : [printed(words)]));
  return (text) => {
    const words = ` ${flat(wordsOf(text))} `;
    return sought.some((each) => words.includes(each));
  };
}

/** Prints words with the spaces that stand at their ends in a text. */
function printed(words: readonly Word[]): string {
  const [first, last] = [words.at(0), words.at(-1)].map((word) => (word && isParted(word) ? " " : ""));
  return `${first}${flat(words)}${last}`;
}

function isParted({ kind, text }: Word): boolean {
  return kind === "word" && !UNPARTED.test(text);
}

function flat(words: readonly Word[]): string {
  return words.map(({ text }) => text).join(" ");
}
