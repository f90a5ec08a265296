/**
 * How a query and a text are written alike, and taken apart into words: as the functions `folded_text` and `text_parts`
 * of the database do it, which a test holds these to.
 */

/** Of which nothing but capitals is folded: the most frequent text by far. */
const ASCII = /^[\0-\x7f]*$/;
/** One character that stands for a whole phrase. */
const PHRASES = /[\u3200-\u33ff\ufb50-\ufdff]/g;
/**
 * So long without a space, nor a letter of Latin, Han, Kana and Hangul, that it is parted: to put many marks behind one
 * letter in their order takes the square of their number.
 */
const UNBROKEN = /[^\0-\u02ff\u3041-\u3096\u309b-\u9fff\uac00-\ud7a3]{200}/gu;
const ACCENTS = /[\u0300-\u036f]+/g;
const CAPITALS =
  "ABCDEFGHIJKLMNOPQRSTUVWXYZАБВГДЕЖЗИЙКЛМНОПРСТУФХЦЧШЩЪЫЬЭЮЯЂЄЅІЇЈЉЊЋЏҐΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣΤΥΦΧΨΩςØøĐđÐðŁłĦħŦŧıŊŋ";
const LETTERS =
  "abcdefghijklmnopqrstuvwxyzабвгдежзийклмнопрстуфхцчшщъыьэюяђєѕіїјљњћџґαβγδεζηθικλμνξοπρστυφχψωσooddddllhhttinn";
const FOLDED = new Map([
  ...[...CAPITALS].map((capital, at) => [capital, [...LETTERS][at] ?? capital] as const),
  ...(["ßss", "Æae", "æae", "Œoe", "œoe", "Þth", "þth"] as const).map(
    (pair) => [pair.charAt(0), pair.slice(1)] as const,
  ),
]);
const FOLDS = new RegExp(`[${[...FOLDED.keys()].join("")}]`, "g");

/** Without case, accents and compatibility forms, in letters that a keyboard of another language has. */
export function foldText(text: string): string {
  if (ASCII.test(text)) return text.toLowerCase();
  return text
    .replace(PHRASES, " ")
    .replace(UNBROKEN, "$& ")
    .normalize("NFKD")
    .replace(ACCENTS, "")
    .normalize("NFC")
    .replace(FOLDS, (letter) => FOLDED.get(letter) ?? letter);
}

/** `run`: of a script without spaces, whose words begin and end anywhere. `version`: as `versionsIn` has it. */
export type Word = {
  readonly kind: "word" | "run" | "version";
  readonly text: string;
  /** Of an identifier that is looked for, the words within it. */
  readonly within?: readonly Word[];
};

const WORD = "a-z0-9\\u00c0-\\u00d6\\u00d8-\\u00f6\\u00f8-\\u1fff\\u2c00-\\u2dff\\ua640-\\uabff";
const RUN =
  "\\u3005-\\u3007\\u3041-\\u3096\\u309d-\\u309f\\u30a1-\\u30fa\\u30fc-\\u30ff\\u3400-\\u4dbf\\u4e00-\\u9fff\\uac00-\\ud7af\\uf900-\\ufaff\\u{20000}-\\u{3ffff}";
const WORDS = new RegExp(`([${WORD}]+)|[${RUN}]+`, "gu");
const ASCII_WORDS = /[a-z0-9]+/g;
const CAMEL_CASE = /[a-z0-9][A-Z]/;
const NAMES = /[A-Za-z0-9]+/g;

/** The words of a text, folded, in their order. */
export function wordsOf(text: string): Word[] {
  if (ASCII.test(text)) {
    return (text.toLowerCase().match(ASCII_WORDS) ?? []).map((word) => ({ kind: "word", text: word }));
  }
  return Array.from(foldText(text).matchAll(WORDS), ([word, isWord]) => ({
    kind: isWord === undefined ? "run" : "word",
    text: word,
  }));
}

/** The text's identifiers, folded, each with the words within it: `get`, `user` and `id` of `getUserId`. */
export function identifiersIn(text: string): { readonly name: string; readonly within: readonly Word[] }[] {
  if (!CAMEL_CASE.test(text)) return [];
  const names = (text.match(NAMES) ?? []).filter((name) => CAMEL_CASE.test(name));
  return names.map((name) => ({
    name: name.toLowerCase(),
    within: wordsOf(name.replace(/([a-z0-9])([A-Z])/g, "$1 $2")),
  }));
}

/** The words within all of the text's identifiers. */
export function identifierWords(text: string): Word[] {
  return identifiersIn(text).flatMap(({ within }) => within);
}

/** What the index has of a word; of one that stands alone in a run, what begins with it. */
export function partsOf({ kind, text }: Word): string[] {
  const characters = [...(kind === "word" ? `^${text}` : text)];
  const size = kind === "word" ? 3 : 2;
  const last = kind === "word" ? Math.max(1, characters.length - 2) : characters.length;
  return Array.from({ length: last }, (_, at) => characters.slice(at, at + size).join(""));
}
