import { lexemesOf, type TextQuery } from "../../rows/text-query.ts";
import { partsOf, type Word } from "./folded-text.ts";
import { otherSpellings, partedAtDigits } from "./other-spellings.ts";

/** What share of the atoms meets a condition, 0 to 1, by a sample. */
export type Share = (condition: TextQuery) => number;

/** Parts of one word that the index is asked for: with more it reads more lists and leaves out few atoms more. */
const MAX_PARTS_OF_WORD = 4;
/** Of a longer word the first letters: what has them is compared with all of it. */
const MAX_LETTERS = 64;
/** Lexemes whose lists the index merges for one search. */
const MAX_PARTS = 96;
/** Beyond this share of the atoms the index would give more of them than are compared. */
const MAX_SHARE = 0.05;
/** What begins or ends like the word is not looked for where so many words do. */
const MAX_SHARE_OF_OTHERS = 0.02;
/** A word of fewer letters is found as it is, and where a word begins with it. */
const MIN_TYPO = 4;
/** Words up to so many letters are also looked for with two letters swapped: their halves are too short to go by. */
const MAX_SWAPPED = 6;
/** In a longer question the other words show what is meant. */
const MAX_FEW = 6;

/** What the index is asked for. */
export type SimilarCondition = {
  readonly condition: TextQuery;
  /** Every atom that is meant meets the condition; else there are so many that the newest are looked at too. */
  readonly isComplete: boolean;
};

/** What the index answers about a word that is there in some way, or in another spelling. */
function similarTo(word: Word, share: Share, isOneOfFew: boolean): SimilarCondition {
  if (word.kind === "version") return similarVersions(word.text, share);
  const similar = similarAsWritten(word, share, isOneOfFew);
  const others = otherSpellings(word.text).map((text) => rarest(partsOf({ kind: "word", text }), share));
  for (const parted of [partedAtDigits(word.text), word.within ?? []]) {
    if (parted.length > 0) others.push(rarest(parted.flatMap(partsOf), share));
  }
  return others.length === 0 ? similar : { ...similar, condition: { kind: "or", of: [similar.condition, ...others] } };
}

/** What has the first two numbers of a version, the first one with a `v` or without: what has more is compared. */
function similarVersions(version: string, share: Share): SimilarCondition {
  const [first = "", second = ""] = version.split(".");
  const having = (text: string) => rarest(partsOf({ kind: "word", text }), share);
  const firsts: TextQuery = { kind: "or", of: [having(first), ...otherSpellings(first).map(having)] };
  return { condition: { kind: "and", of: [firsts, having(second)] }, isComplete: true };
}

/** What the index answers about a word that is there as it is, as a part, in another form or with a slip. */
function similarAsWritten(word: Word, share: Share, isOneOfFew: boolean): SimilarCondition {
  if (word.kind === "run") return { condition: lexeme(word.text, [...word.text].length === 1), isComplete: true };
  const letters = [...word.text].slice(0, MAX_LETTERS);
  if (letters.length < 3) return { condition: lexeme(`^${word.text}`), isComplete: true };
  const within = rarest(partsOf({ kind: "word", text: letters.join("") }).slice(1), share);
  // Of numbers no other one is meant.
  if (letters.length < MIN_TYPO || /[0-9]/.test(word.text)) return { condition: within, isComplete: true };
  const half = Math.ceil(letters.length / 2);
  const end = letters.slice(-Math.max(3, letters.length - half)).join("");
  const swapped = letters.length > MAX_SWAPPED || !isOneOfFew ? [] : swaps(letters);
  const others = [
    partsOf({ kind: "word", text: letters.slice(0, half).join("") }),
    partsOf({ kind: "word", text: end }).slice(1),
    ...swapped.map((text) => partsOf({ kind: "word", text })),
  ].map((parts) => rarest(parts, share));
  const rare = others.filter((other) => share(other) <= MAX_SHARE_OF_OTHERS);
  return {
    condition: { kind: "or", of: [within, ...rare] },
    // A word that is there as it is has no slip in it.
    isComplete: rare.length === others.length || share(within) > 0,
  };
}

/** The first half of a word's letters, three at least where it has as many: what forms and most slips leave as it is. */
export function beginningOf(word: string): string {
  const letters = [...word].slice(0, MAX_LETTERS);
  return letters.slice(0, Math.max(3, Math.ceil(letters.length / 2))).join("");
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

/** A word that is looked for, with what the index is asked for it, and what share of the atoms answers that. */
export type WantedWord = SimilarCondition & { readonly word: Word; readonly share: number };

/** The words of a search, the rarest first. */
export function wantedWords(words: readonly Word[], share: Share): WantedWord[] {
  const wanted = words.map((word) => {
    const similar = similarTo(word, share, words.length <= MAX_FEW);
    return { word, ...similar, share: share(similar.condition) };
  });
  return wanted.toSorted((a, b) => a.share - b.share);
}

/**
 * What to ask the index for, so that few atoms answer it which have all the words, each in some way; null where too many
 * do.
 *
 * @param words the rarest first
 */
export function conditionOfAll(words: readonly WantedWord[], share: Share): SimilarCondition | null {
  const chosen: WantedWord[] = [];
  let parts = 0;
  for (const each of words) {
    parts += lexemesOf(each.condition).length;
    if (parts > MAX_PARTS && chosen.length > 0) break;
    chosen.push(each);
  }
  const all = join("and", chosen);
  return all === null || share(all.condition) > MAX_SHARE ? null : all;
}

/** The same of atoms that have any of the words: of as many of the rarest as are rare together. */
export function conditionOfAny(words: readonly WantedWord[]): SimilarCondition | null {
  const chosen: WantedWord[] = [];
  let parts = 0;
  let sum = 0;
  for (const each of words) {
    parts += lexemesOf(each.condition).length;
    sum += each.share;
    if (parts > MAX_PARTS || sum > MAX_SHARE) break;
    chosen.push(each);
  }
  const any = join("or", chosen);
  return any && { ...any, isComplete: any.isComplete && chosen.length === words.length };
}

function join(kind: "and" | "or", chosen: readonly SimilarCondition[]): SimilarCondition | null {
  if (chosen.length === 0) return null;
  return {
    condition: { kind, of: chosen.map(({ condition }) => condition) },
    isComplete: chosen.every(({ isComplete }) => isComplete),
  };
}

function byShare(conditions: readonly TextQuery[], share: Share): TextQuery[] {
  const shares = new Map(conditions.map((condition) => [condition, share(condition)]));
  return conditions.toSorted((a, b) => (shares.get(a) ?? 0) - (shares.get(b) ?? 0));
}

/** What share of some texts, with their words marked, meets a condition on parts. */
export function shareIn(texts: readonly string[]): Share {
  const known = new Map<string, Meeting>();
  const having = (part: string): Meeting => {
    const before = known.get(part);
    if (before !== undefined) return before;
    const has = counted(texts.map((text) => text.includes(part)));
    known.set(part, has);
    return has;
  };
  const meeting = (condition: TextQuery): Meeting => {
    if (condition.kind === "word") return having(condition.lexeme.slice("part ".length));
    if (condition.kind === "not") return counted(meeting(condition.of).meets.map((meets) => !meets));
    const each = condition.of.map((part) => meeting(part).meets);
    const isDecisive = condition.kind === "or";
    return counted(texts.map((_, at) => each.some((meets) => meets[at] === isDecisive) === isDecisive));
  };
  return (condition) => meeting(condition).count / Math.max(1, texts.length);
}

/** Which of the texts meet a condition, and how many. */
type Meeting = { readonly meets: readonly boolean[]; readonly count: number };

function counted(meets: readonly boolean[]): Meeting {
  let count = 0;
  for (const each of meets) if (each) count++;
  return { meets, count };
}
