import { lexemesOf, type TextQuery } from "../../rows/text-query.ts";
import { partsOf, type Word } from "./folded-text.ts";
import { otherSpellings, partedAtDigits } from "./other-spellings.ts";
import { rarityOf } from "./rarity.ts";
import { textsHaving } from "./texts-having.ts";

/** Returns the share of the atoms that meets a condition, 0 to 1, by a sample. */
export type ShareOfCondition = (condition: TextQuery) => number;

/** Parts of one word that the index is asked for: with more it reads more lists, and leaves out few more atoms. */
const MAX_PARTS_OF_WORD = 4;
/** Letters of a word, the first ones, that the index is asked for: what has them is compared with the whole word. */
const MAX_LETTERS = 64;
/** Lexemes whose lists the index merges for one search. */
const MAX_PARTS = 96;
/** Share of the atoms beyond which the index would give more atoms than are compared. */
const MAX_SHARE = 0.05;
/** Share of the atoms beyond which words that only begin or end like the word are not looked for. */
const MAX_SHARE_OF_OTHERS = 0.02;
/** Number of letters from which on a word is also found in another form or with a slip. */
const MIN_TYPO = 4;
/** Number of letters up to which a word is also looked for with two letters swapped: its halves are too short. */
const MAX_SWAPPED = 6;
/** Number of words up to which a search looks for swapped letters: in a longer one the other words show the meaning. */
const MAX_FEW = 6;

/** Condition that the index is asked for. */
export type SimilarCondition = {
  readonly condition: TextQuery;
  /** True if every atom that is meant meets the condition; else so many do that the newest are read too. */
  readonly isComplete: boolean;
};

/** Returns the condition for a word in some form, or in another spelling. */
function similarTo(word: Word, share: ShareOfCondition, isOneOfFew: boolean): SimilarCondition {
  if (word.kind === "version") return similarVersions(word.text, share);
  const similar = similarAsWritten(word, share, isOneOfFew);
  const others = otherSpellings(word.text).map((text) => rarest(partsOf({ kind: "word", text }), share));
  for (const parted of [partedAtDigits(word.text), word.within ?? []]) {
    if (parted.length > 0) others.push(rarest(parted.flatMap(partsOf), share));
  }
  return others.length === 0 ? similar : { ...similar, condition: { kind: "or", of: [similar.condition, ...others] } };
}

/**
 * Returns the condition for the first two numbers of a version, the first with a `v` or without; an atom that meets it
 * is compared with the whole version.
 */
function similarVersions(version: string, share: ShareOfCondition): SimilarCondition {
  const [first = "", second = ""] = version.split(".");
  const having = (text: string) => rarest(partsOf({ kind: "word", text }), share);
  const firsts: TextQuery = { kind: "or", of: [having(first), ...otherSpellings(first).map(having)] };
  return { condition: { kind: "and", of: [firsts, having(second)] }, isComplete: true };
}

/** Returns the condition for a word as it is, as a part, in another form or with a slip. */
function similarAsWritten(word: Word, share: ShareOfCondition, isOneOfFew: boolean): SimilarCondition {
  if (word.kind === "run") return { condition: lexeme(word.text, [...word.text].length === 1), isComplete: true };
  const letters = [...word.text].slice(0, MAX_LETTERS);
  if (letters.length < 3) return { condition: lexeme(`^${word.text}`), isComplete: true };
  const within = rarest(partsOf({ kind: "word", text: letters.join("") }).slice(1), share);
  // A number means no other number.
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

/**
 * Returns the first half of a word's letters, at least three if it has as many: other forms and most slips leave them
 * as they are.
 */
export function beginningOf(word: string): string {
  const letters = [...word].slice(0, MAX_LETTERS);
  return letters.slice(0, Math.max(3, Math.ceil(letters.length / 2))).join("");
}

/** Returns the word once for each two adjacent letters, with these swapped. */
function swaps(letters: readonly string[]): string[] {
  return letters
    .slice(1)
    .map((letter, at) => [...letters.slice(0, at), letter, letters[at], ...letters.slice(at + 2)].join(""));
}

function lexeme(part: string, isPrefix = false): TextQuery {
  return { kind: "word", lexeme: `part ${part}`, isPrefix };
}

function rarest(parts: readonly string[], share: ShareOfCondition): TextQuery {
  return {
    kind: "and",
    of: byShare(
      parts.map((part) => lexeme(part)),
      share,
    ).slice(0, MAX_PARTS_OF_WORD),
  };
}

/** Word that is looked for, its condition on the index, and the share of the atoms that meets the condition. */
export type WantedWord = SimilarCondition & {
  readonly word: Word;
  readonly share: number;
  /** Weight of the word, the higher the rarer it is. */
  readonly rarity: number;
};

/**
 * Returns the words of a search with their conditions, the rarest first.
 *
 * @param shareOf share of the atoms that has a word itself, 0 to 1; 0 if that is not known
 */
export function wantedWords(
  words: readonly Word[],
  share: ShareOfCondition,
  shareOf: (word: string) => number,
): WantedWord[] {
  const wanted = words.map((word) => {
    const similar = similarTo(word, share, words.length <= MAX_FEW);
    const meeting = share(similar.condition);
    return { word, ...similar, share: meeting, rarity: rarityOf(shareOf(word.text) || meeting) };
  });
  return wanted.toSorted((a, b) => a.share - b.share);
}

/**
 * Returns the condition for atoms that have all the words, each in some form, so that few atoms meet it; null if too
 * many do.
 *
 * @param words the rarest first
 */
export function conditionOfAll(words: readonly WantedWord[], share: ShareOfCondition): SimilarCondition | null {
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

/** Returns the condition for atoms that have any of the words: of as many of the rarest as are rare together. */
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

function byShare(conditions: readonly TextQuery[], share: ShareOfCondition): TextQuery[] {
  const shares = new Map(conditions.map((condition) => [condition, share(condition)]));
  return conditions.toSorted((a, b) => (shares.get(a) ?? 0) - (shares.get(b) ?? 0));
}

/** Returns a function for the share of some texts that meets a condition on parts. */
export function shareIn(texts: readonly string[]): ShareOfCondition {
  const meetsPart = textsHaving(texts);
  const known = new Map<string, Meeting>();
  const having = (part: string): Meeting => {
    const has = known.get(part) ?? counted(meetsPart(part));
    known.set(part, has);
    return has;
  };
  const meeting = (condition: TextQuery): Meeting => {
    if (condition.kind === "word") return having(condition.lexeme.slice("part ".length));
    if (condition.kind === "not") return counted(meeting(condition.of).meets.map((meets) => 1 - meets));
    const decisive = condition.kind === "or" ? 1 : 0;
    const meets = new Uint8Array(texts.length).fill(1 - decisive);
    for (const part of condition.of) {
      const each = meeting(part).meets;
      for (let at = 0; at < meets.length; at++) if (each[at] === decisive) meets[at] = decisive;
    }
    return counted(meets);
  };
  return (condition) => meeting(condition).count / Math.max(1, texts.length);
}

/** Flags of the texts that meet a condition, 1 or 0, and their number. */
type Meeting = { readonly meets: Uint8Array; readonly count: number };

function counted(meets: Uint8Array): Meeting {
  let count = 0;
  for (let at = 0; at < meets.length; at++) count += meets[at] ?? 0;
  return { meets, count };
}
