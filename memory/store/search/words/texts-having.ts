import { CODE_COUNT, CODES } from "./ascii-codes.ts";
import { identifierWords, isAscii } from "./folded-text.ts";
import { markedWords } from "./search-words.ts";

/** Codes of the mark before a word, and of any character beyond ASCII. */
const MARK = CODE_COUNT;
const OTHER = CODE_COUNT + 1;
/** Bits of a code, and of the codes of the three characters of a part. */
const BITS = 6;
const PART = (1 << (3 * BITS)) - 1;
const LAST = (1 << BITS) - 1;
/** Texts whose flags are in one number. */
const FLAGS = 32;

/**
 * Returns a function that tells which texts have a part of a word, `^` before its first letter: 1 for each that has it.
 * The parts of ASCII, by far the most frequent, are all found in one pass over the texts, which takes less than to look
 * for each of some hundreds.
 */
export function textsHaving(texts: readonly string[]): (part: string) => Uint8Array {
  const width = Math.ceil(texts.length / FLAGS);
  /** Places of the parts in `flags`, by their codes; 0 for a part that no text has. */
  const places = new Uint32Array(PART + 1);
  const flags: number[] = Array(width).fill(0);
  const others = new Map<number, string>();
  for (const [at, text] of texts.entries()) {
    const [word, flag] = [Math.floor(at / FLAGS), 1 << (at % FLAGS)];
    const isPlain = isAscii(text);
    const words = isPlain
      ? [text, ...identifierWords(text).map((within) => within.text)].join("\n")
      : markedWords(text);
    if (!isPlain) others.set(at, words);
    let codes = 0;
    for (let i = 0; i < words.length; i++) {
      const code = CODES[words.charCodeAt(i)] ?? OTHER;
      if (code !== 0 && (codes & LAST) === 0) codes = MARK;
      codes = ((codes << BITS) | code) & PART;
      let place = places[codes] ?? 0;
      if (place === 0) {
        place = flags.length;
        places[codes] = place;
        for (let more = 0; more < width; more++) flags.push(0);
      }
      flags[place + word] = (flags[place + word] ?? 0) | flag;
    }
  }
  return (part) => {
    const meets = new Uint8Array(texts.length);
    if (isAscii(part)) {
      const place = places[[...part].reduce((codes, each) => (codes << BITS) | codeOf(each), 0)] ?? 0;
      for (let at = 0; at < meets.length; at++) {
        meets[at] = ((flags[place + Math.floor(at / FLAGS)] ?? 0) >>> (at % FLAGS)) & 1;
      }
    } else for (const [at, words] of others) meets[at] = words.includes(part) ? 1 : 0;
    return meets;
  };
}

function codeOf(character: string): number {
  return character === "^" ? MARK : (CODES[character.charCodeAt(0)] ?? 0);
}
