import { createHash } from "node:crypto";
import { ACCENTS } from "./accents.ts";
import { negationsIn } from "./negations.ts";

/** Characters of a folded statement that are compared: a longer one is compared by its beginning and its length. */
const MAX_COMPARED = 2_048;
/** Share of their parts in common from which on two statements are near-duplicates. */
const NEAR = 0.7;
/** Number of bands: two statements that share {@link NEAR} of their parts have a band in common in 99 of 100 cases. */
const BANDS = 12;
const HASHES_OF_BAND = 3;
const SEEDS = Uint32Array.from({ length: BANDS * HASHES_OF_BAND }, (_, i) => mix(i + 1));

/** Marks that make no other word, and those that only say how a sign is drawn. */
const MARKS = new RegExp(`[${ACCENTS}\\p{Me}\\ufe00-\\ufe0f]+`, "gu");
/** More marks behind one letter than any text has: to put many in their order takes the square of their number. */
const TOO_MANY_MARKS = /(\p{M}{30})\p{M}+/gu;
/** Signs that make another statement: currencies, comparisons, emoji, and those of names such as C#. */
const SIGN = "\\p{Sc}\\p{Sm}\\p{So}#%";
const SIGNS = new RegExp(`[${SIGN}]|!(?==)`, "gu");
const SIGNS_WITH_SPACE = new RegExp(` ?([${SIGN}!]+) ?`, "gu");
const BETWEEN = new RegExp(`(?:(?!!=)[^\\p{L}\\p{M}\\p{N}${SIGN}])+`, "gu");
/** Characters before a hyphen that is no minus: those of a word, but in scripts without spaces, or of a range. */
const BEFORE_HYPHEN = "(?![\\p{Script=Han}\\p{Script=Hiragana}])[\\p{L}\\p{M}\\p{N}-]|\\p{N}[\\p{L}\\p{Sc}%°.)]";
/** Minus sign before a number or an amount. */
const MINUS = new RegExp(`(?<!${BEFORE_HYPHEN})[-\\u2013\\u2212](\\p{Sc}?)\\.?(?=\\p{N})`, "gu");
/** Numerals of Chinese and Japanese, everyday and formal: but for the first they count as letters. */
const HAN = "〇零一二三四五六七八九十百千万萬億亿两兩壹壱贰貳弐叁參参肆伍陆陸柒捌玖拾佰仟廿卅";
/**
 * Runs of these numerals, and words of scripts with spaces, in which letters beside a digit are part of a number, as in
 * versions and ids.
 */
const RUNS = new RegExp(`[${HAN}]+|(?:(?!〇)[\\p{Script=Latin}\\p{Script=Greek}\\p{Script=Cyrillic}\\p{N}])+`, "gu");
const DIGIT = new RegExp(`[\\p{N}${HAN}]`, "u");
/** Numeral that by itself makes no other statement: it is an article, or a part of many words. */
const PART_OF_WORDS = /^[一參参伍陆陸拾]$/;
/** Text between Roman numerals of one character. */
const NO_ROMAN_NUMERALS = /[^\u2160-\u2188]+/g;

/** Fingerprints by which a statement is found again. Each is a number of 64 bits, as text. */
export type Sketch = {
  /** Fingerprint of the statement, whatever its case, accents, punctuation and spaces are. */
  readonly same: string;
  /** Fingerprint of the statement, whatever its numbers and signs are. */
  readonly numberless: string;
  /** Fingerprints of its parts: two statements that are alike most probably share one. */
  readonly bands: readonly string[];
};

/** Folds a statement: lower case without accents, and one space for whatever is neither letter, number nor sign. */
export function foldStatement(text: string): string {
  const folded = text
    // An inequality sign is an equals sign with a mark.
    .replace(/\u2260|=\u0338/g, "!=")
    .replace(MARKS, "")
    .replace(TOO_MANY_MARKS, "$1")
    // A Roman numeral stays a number: its letters are none.
    .replace(NO_ROMAN_NUMERALS, (part) => part.normalize("NFKD"))
    .replace(MARKS, "")
    .normalize("NFC")
    .toLowerCase()
    .replace(MINUS, "$1minus")
    .replace(BETWEEN, " ")
    .replace(SIGNS_WITH_SPACE, "$1")
    .trim();
  // A statement of other signs alone stays as it is.
  return folded === "" ? text.trim() : folded;
}

/** Returns the sketch of a statement: MinHash over its runs of three characters, which no language splits wrongly. */
export function sketchOf(text: string): Sketch {
  const folded = foldStatement(text);
  const hashes = [...partsOf(folded)].map(hashOf);
  const minima = SEEDS.map((seed) => {
    let least = 0xffff_ffff;
    for (const hash of hashes) least = Math.min(least, mix(hash ^ seed));
    return least;
  });
  const bands = Array.from({ length: BANDS }, (_, band) =>
    digest(["band", band, ...minima.slice(band * HASHES_OF_BAND, (band + 1) * HASHES_OF_BAND)]),
  );
  return { same: digest(["same", folded]), numberless: digest(["numberless", withoutNumbers(folded)]), bands };
}

/** Likeness of two statements that say almost the same. */
export type Nearness = {
  /** Share of their parts that they have in common: 1 for the same statement. */
  readonly similarity: number;
  /**
   * True if they have other numbers or signs, or one has more negations: of two builds, ports, versions or dates each is
   * worth remembering. They are no duplicates.
   */
  readonly otherNumbers: boolean;
};

/**
 * Returns a function that compares statements with this statement: undefined if two do not say almost the same,
 * whatever their numbers and signs are. What is computed of this statement is computed once.
 */
export function nearnessTo(one: string): (other: string) => Nearness | undefined {
  const statement = new Folded(foldStatement(one));
  return (other) => nearness(statement, new Folded(foldStatement(other)));
}

function nearness(a: Folded, b: Folded): Nearness | undefined {
  if (a.text === b.text) return { similarity: 1, otherNumbers: false };
  const otherNumbers = a.numbers !== b.numbers || a.signs !== b.signs || a.negations !== b.negations;
  const isNear = otherNumbers ? areNear(a.numberless, b.numberless) : areNear(a, b);
  // What differs behind the characters that are compared is not the same.
  return isNear ? { similarity: Math.min(0.99, Math.round(shareOf(a, b) * 100) / 100), otherNumbers } : undefined;
}

/** Folded statement, and the forms that it is compared by, each computed when it is asked for. */
class Folded {
  readonly text: string;
  #numbers: string | undefined;
  #signs: string | undefined;
  #negations: number | undefined;
  #numberless: Folded | undefined;
  #parts: ReadonlySet<string> | undefined;

  constructor(text: string) {
    this.text = text;
  }

  get numbers(): string {
    this.#numbers ??= numbersOf(this.text);
    return this.#numbers;
  }

  get signs(): string {
    this.#signs ??= (this.text.match(SIGNS) ?? []).join("");
    return this.#signs;
  }

  get negations(): number {
    this.#negations ??= negationsIn(this.text);
    return this.#negations;
  }

  get numberless(): Folded {
    this.#numberless ??= new Folded(withoutNumbers(this.text));
    return this.#numberless;
  }

  get parts(): ReadonlySet<string> {
    this.#parts ??= partsOf(this.text);
    return this.#parts;
  }
}

function areNear(a: Folded, b: Folded): boolean {
  if (a.text === b.text) return true;
  const isAboutAsLong = Math.min(a.text.length, b.text.length) >= NEAR * Math.max(a.text.length, b.text.length);
  return isAboutAsLong && shareOf(a, b) >= NEAR;
}

/** Returns the share of their parts that two folded statements have in common. */
function shareOf(a: Folded, b: Folded): number {
  const common = [...a.parts].filter((part) => b.parts.has(part)).length;
  return common / (a.parts.size + b.parts.size - common);
}

function numbersOf(folded: string): string {
  return (folded.match(RUNS) ?? []).filter((run) => DIGIT.test(run) && !PART_OF_WORDS.test(run)).join(" ");
}

/** Puts one sign in place of each number, and of what is written as several: a version, a date, thousands. */
function withoutNumbers(folded: string): string {
  const signless = folded.replace(SIGNS, " ").replace(/ {2,}/g, " ").trim();
  // A statement of signs alone has no other part.
  if (signless === "") return folded;
  return signless.replace(RUNS, (run) => (DIGIT.test(run) ? "#" : run)).replace(/#(?: ?#)+/g, "#");
}

function partsOf(folded: string): Set<string> {
  const padded = ` ${folded.slice(0, MAX_COMPARED)} `;
  return new Set(Array.from({ length: Math.max(1, padded.length - 2) }, (_, i) => padded.slice(i, i + 3)));
}

function hashOf(part: string): number {
  let hash = 0x811c_9dc5;
  for (let i = 0; i < part.length; i++) hash = Math.imul(hash ^ part.charCodeAt(i), 0x0100_0193);
  return hash;
}

/** Spreads the 32 bits of a value over all of them, as the last step of MurmurHash3 does. */
function mix(value: number): number {
  let mixed = Math.imul(value ^ (value >>> 16), 0x85eb_ca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2_ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}

function digest(of: readonly (string | number)[]): string {
  return createHash("sha256").update(JSON.stringify(of)).digest().readBigInt64BE().toString();
}
