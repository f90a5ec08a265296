/**
 * Folding of queries and texts to the same spelling, and their division into words, as the functions `folded_text` and
 * `text_parts` of the database do it, which a test holds these to.
 */

import { ACCENTS } from "../../../rules/accents.ts";

/** Text of which only capitals are folded: the most frequent kind by far. */
const ASCII = /^[\0-\x7f]*$/;
/** Characters each of which stands for a whole phrase. */
const PHRASES = /[\u3200-\u33ff\ufb50-\ufdff]/g;
/** Characters after which an unbroken text is parted. */
const MAX_UNBROKEN = 200;
/**
 * Run of characters without a space or a letter of Latin, Han, Kana or Hangul, which is parted by a space: normalizing
 * many marks behind one letter takes the square of their number.
 */
const UNBROKEN = new RegExp(`[^\\0-\\u02ff\\u3041-\\u3096\\u309b-\\u9fff\\uac00-\\ud7a3]{${MAX_UNBROKEN}}`, "gu");
const MARKS = new RegExp(`[${ACCENTS}]+`, "g");
const CAPITALS =
  "ABCDEFGHIJKLMNOPQRSTUVWXYZАБВГДЕЖЗИЙКЛМНОПРСТУФХЦЧШЩЪЫЬЭЮЯЂЄЅІЇЈЉЊЋЏҐΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣΤΥΦΧΨΩςØøĐđÐðŁłĦħŦŧıŊŋ";
const LETTERS =
  "abcdefghijklmnopqrstuvwxyzабвгдежзийклмнопрстуфхцчшщъыьэюяђєѕіїјљњћџґαβγδεζηθικλμνξοπρστυφχψωσooddddllhhttinn";
/** Code points of the zeros of scripts with digits of their own, which follow one another. */
const ZEROS = [
  ...[0x660, 0x6f0, 0x7c0, 0x966, 0x9e6, 0xa66, 0xae6, 0xb66, 0xbe6, 0xc66, 0xce6, 0xd66, 0xe50, 0xed0, 0xf20, 0x1040],
  ...[0x17e0, 0x1810],
];
const DIGITS = ZEROS.flatMap((zero) => Array.from({ length: 10 }, (_, digit) => zero + digit));
const FOLDED = new Map([
  ...DIGITS.map((code, at) => [String.fromCodePoint(code), String(at % 10)] as const),
  ...(["یي", "کك"] as const).map((pair) => [pair.charAt(0), pair.charAt(1)] as const),
  ...[...CAPITALS].map((capital, at) => [capital, [...LETTERS][at] ?? capital] as const),
  ...(["ßss", "Æae", "æae", "Œoe", "œoe", "Þth", "þth"] as const).map(
    (pair) => [pair.charAt(0), pair.slice(1)] as const,
  ),
]);
const FOLDS = new RegExp(`[${[...FOLDED.keys()].join("")}]`, "g");

/** True if a text has characters of ASCII alone. */
export function isAscii(text: string): boolean {
  return ASCII.test(text);
}

/** Folds a text: without case, accents, points and compatibility forms, in letters and digits of every keyboard. */
export function foldText(text: string): string {
  if (ASCII.test(text)) return text.toLowerCase();
  const spaced = text.replace(PHRASES, " ");
  // To look for this in a short text, which cannot have it, would take most of the time.
  const parted = spaced.length < MAX_UNBROKEN ? spaced : spaced.replace(UNBROKEN, "$& ");
  return parted
    .normalize("NFKD")
    .replace(MARKS, "")
    .normalize("NFC")
    .replace(FOLDS, (letter) => FOLDED.get(letter) ?? letter);
}

/**
 * Word of a text. `run`: of a script without spaces, whose words begin and end anywhere. `version`: as `versionsIn`
 * returns it.
 */
export type Word = {
  readonly kind: "word" | "run" | "version";
  readonly text: string;
  /** Words within an identifier that is looked for. */
  readonly within?: readonly Word[];
};

const WORD = "a-z0-9\\u00c0-\\u00d6\\u00d8-\\u00f6\\u00f8-\\u1fff\\u2c00-\\u2dff\\ua640-\\uabff";
const RUN =
  "\\u3005-\\u3007\\u3041-\\u3096\\u309d-\\u309f\\u30a1-\\u30fa\\u30fc-\\u30ff\\u3400-\\u4dbf\\u4e00-\\u9fff\\uac00-\\ud7af\\uf900-\\ufaff\\u{20000}-\\u{3ffff}";
const WORDS = new RegExp(`[${WORD}]+|[${RUN}]+`, "gu");
const IS_RUN = new RegExp(`^[${RUN}]`, "u");
const ASCII_WORDS = /[a-z0-9]+/g;
const CAMEL_CASE = /[a-z0-9][A-Z]/;
const NAMES = /[A-Za-z0-9]+/g;

/** Returns the words of a text, folded, in their order. */
export function wordsOf(text: string): Word[] {
  if (ASCII.test(text)) {
    return (text.toLowerCase().match(ASCII_WORDS) ?? []).map((word) => ({ kind: "word", text: word }));
  }
  return (foldText(text).match(WORDS) ?? []).map((word) => ({ kind: IS_RUN.test(word) ? "run" : "word", text: word }));
}

/** Returns the text's identifiers, folded, each with the words within it: `get`, `user` and `id` of `getUserId`. */
export function identifiersIn(text: string): { readonly name: string; readonly within: readonly Word[] }[] {
  if (!CAMEL_CASE.test(text)) return [];
  const names = (text.match(NAMES) ?? []).filter((name) => CAMEL_CASE.test(name));
  return names.map((name) => ({
    name: name.toLowerCase(),
    within: wordsOf(name.replace(/([a-z0-9])([A-Z])/g, "$1 $2")),
  }));
}

/** Returns the words within all of the text's identifiers. */
export function identifierWords(text: string): Word[] {
  return identifiersIn(text).flatMap(({ within }) => within);
}

/**
 * Returns the parts of a word that the index has: each three characters, `^` before the first, or of a run each two,
 * and the last alone.
 */
export function partsOf({ kind, text }: Word): string[] {
  const characters = [...(kind === "word" ? `^${text}` : text)];
  const size = kind === "word" ? 3 : 2;
  const last = kind === "word" ? Math.max(1, characters.length - 2) : characters.length;
  return Array.from({ length: last }, (_, at) => characters.slice(at, at + size).join(""));
}
