import { partsOf, type Word } from "./folded-text.ts";
import { lexemesOf, type TextQuery } from "./index-condition.ts";

/** What share of the atoms meets a condition, 0 to 1, by a sample. */
export type Share = (condition: TextQuery) => number;

/** Parts of one word that the index is asked for: with more it reads more lists and leaves out few atoms more. */
const MAX_PARTS_OF_WORD = 4;
/** Lexemes whose lists the index merges for one search. */
const MAX_PARTS = 96;
/** Beyond this share of the atoms the index would give more of them than are compared. */
const MAX_SHARE = 0.05;
/** What begins or ends like the word is not looked for where so many words do. */
const MAX_SHARE_OF_OTHERS = 0.02;
/** A word of fewer letters is found as it is, and where a word begins with it. */
const MIN_TYPO = 4;
/** Of words up to so many letters either half is too short to tell them by: two letters may have changed places. */
const MAX_SWAPPED = 6;

/** What the index answers about a word that is there as it is, as a part, in another form or with a slip. */
export function similarTo(word: Word, share: Share): TextQuery {
  if (word.kind === "run") return lexeme(word.text, [...word.text].length === 1);
  const letters = [...word.text];
  if (letters.length < 3) return lexeme(`^${word.text}`);
  const within = rarest(partsOf(word).slice(1), share);
  // Of numbers no other one is meant.
  if (letters.length < MIN_TYPO || /[0-9]/.test(word.text)) return within;
  const half = Math.ceil(letters.length / 2);
  const end = letters.slice(-Math.max(3, letters.length - half)).join("");
  const swapped = letters.length > MAX_SWAPPED ? [] : swaps(letters);
  const others = [
    partsOf({ kind: "word", text: letters.slice(0, half).join("") }),
    partsOf({ kind: "word", text: end }).slice(1),
    ...swapped.map((text) => partsOf({ kind: "word", text })),
  ].map((parts) => rarest(parts, share));
  return { kind: "or", of: [within, ...others.filter((other) => share(other) <= MAX_SHARE_OF_OTHERS)] };
}

/** The word with each two letters that follow one another in the other order. */
function swaps(letters: readonly string[]): string[] {
  return letters
    .slice(1)
    .map((letter, at) => [...letters.slice(0, at), letter, letters[at], ...letters.slice(at + 2)].join(""));
}

function lexeme(part: string, isPrefix = false): TextQuery {
  return { kind: "word", lexeme: `part ${part}`, isPrefix };
}

function rarest(parts: readonly string[], share: Share): TextQuery {
  return {
    kind: "and",
    of: byShare(
      parts.map((part) => lexeme(part)),
      share,
    ).slice(0, MAX_PARTS_OF_WORD),
  };
}

/**
 * What to ask the index for, so that few atoms answer it which have all the words, each in some way; null where too many
 * do.
 */
export function conditionOfAll(words: readonly Word[], share: Share): TextQuery | null {
  const conditions = conditionsOf(words, share);
  const chosen: TextQuery[] = [];
  let parts = 0;
  for (const condition of conditions) {
    parts += lexemesOf(condition).length;
    if (parts > MAX_PARTS && chosen.length > 0) break;
    chosen.push(condition);
  }
  const all: TextQuery = { kind: "and", of: chosen };
  return chosen.length === 0 || share(all) > MAX_SHARE ? null : all;
}

/** The same of atoms that have any of the words: as many of the rarest as are rare together. */
export function conditionOfAny(words: readonly Word[], share: Share): TextQuery | null {
  const chosen: TextQuery[] = [];
  let parts = 0;
  let sum = 0;
  for (const condition of conditionsOf(words, share)) {
    parts += lexemesOf(condition).length;
    sum += share(condition);
    if (parts > MAX_PARTS || sum > MAX_SHARE) break;
    chosen.push(condition);
  }
  return chosen.length === 0 ? null : { kind: "or", of: chosen };
}

function byShare(conditions: readonly TextQuery[], share: Share): TextQuery[] {
  const shares = new Map(conditions.map((condition) => [condition, share(condition)]));
  return conditions.toSorted((a, b) => (shares.get(a) ?? 0) - (shares.get(b) ?? 0));
}

function conditionsOf(words: readonly Word[], share: Share): TextQuery[] {
  return byShare(
    words.map((word) => similarTo(word, share)),
    share,
  );
}

/** What share of some texts, with their words marked, meets a condition on parts. */
export function shareIn(texts: readonly string[]): Share {
  const known = new Map<string, readonly boolean[]>();
  const having = (part: string): readonly boolean[] => {
    const before = known.get(part);
    if (before !== undefined) return before;
    const has = texts.map((text) => text.includes(part));
    known.set(part, has);
    return has;
  };
  const meets = (condition: TextQuery, at: number): boolean => {
    if (condition.kind === "word") return having(condition.lexeme.slice("part ".length))[at] === true;
    if (condition.kind === "not") return !meets(condition.of, at);
    return condition.kind === "and"
      ? condition.of.every((each) => meets(each, at))
      : condition.of.some((each) => meets(each, at));
  };
  return (condition) => texts.filter((_, at) => meets(condition, at)).length / Math.max(1, texts.length);
}
