import { identifiersIn, identifierWords, type Word, wordsOf } from "./folded-text.ts";
import { soughtVersions } from "./versions.ts";

/** Words, phrases and exclusions of a search, beyond what PostgreSQL reads in it. */
export type SearchWords = {
  /** Words to be found, folded, each once; of a script without spaces, each two characters that follow one another. */
  readonly wanted: readonly Word[];
  /** True if any of the words is enough, since they stand around `or`. */
  readonly isAnyEnough: boolean;
  /** Quoted texts to be found as they are, folded, with one space between words. */
  readonly phrases: readonly string[];
  /** Texts that no result has, whichever of the alternatives it meets. */
  readonly excluded: readonly string[];
};

/** Number of words of a query that are read, the first ones. */
const MAX_WORDS = 32;

/** One word of a search, or a phrase in quotes. */
type Term = { readonly text: string; readonly isPhrase: boolean; readonly isExcluded: boolean };

/** Parsed search: an atom has to meet every term of one of the alternatives. */
type Alternatives = readonly (readonly Term[])[];

/** Characters that part terms in any locale of a database; in some locales spaces of other scripts do too. */
const SPACE = " \\t\\n\\v\\f\\r";
/** Marks that part terms, and mean nothing. */
const MARKS = "!&|()<";
const TERM = `"(?<phrase>[^"]*)"?|(?<word>[^${SPACE}${MARKS}"][^${SPACE}${MARKS}":]*)`;
const TEXT_TERM = new RegExp(`[${SPACE}${MARKS}]*(?:${TERM})`, "y");
const MINUS_OR_TERM = new RegExp(`[${SPACE}${MARKS}]*(?:-|${TERM})`, "y");
/** `or` between two terms, with something behind it. */
const OR = new RegExp(`[${SPACE}${MARKS}]*or(?![-_\\p{L}\\p{N}])(?=[^][${SPACE}]*[^${SPACE}])`, "iuy");
/** Text that can be looked for: letters or digits, and not `or` alone, which the English index does not have. */
const SOUGHT = /^(?!(?:[^\p{L}\p{N}]*or(?![\p{L}\p{N}]))+[^\p{L}\p{N}]*$).*[\p{L}\p{N}]/isu;

/**
 * Parses a search as `websearch_to_tsquery` does, which a test holds this to: words and `"phrases"`, which a `-` before
 * them excludes and a second `-` includes again, and `or`, which binds less than all of them.
 *
 * @param minus `text` if a `-` before a word belongs to the word, as in a command's flag
 */
export function parseSearch(query: string, minus: "excludes" | "text" = "excludes"): Alternatives {
  const alternatives: Term[][] = [[]];
  const term = minus === "text" ? TEXT_TERM : MINUS_OR_TERM;
  let isExcluded = false;
  let at = 0;
  const read = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    const found = pattern.exec(query);
    if (found !== null) at = pattern.lastIndex;
    return found;
  };
  for (let found = read(term); found !== null; found = read(term)) {
    const { phrase, word = "" } = found.groups ?? {};
    if (phrase === undefined && word === "") {
      isExcluded = !isExcluded;
      continue;
    }
    const text = phrase ?? word;
    if (SOUGHT.test(text)) alternatives.at(-1)?.push({ text, isPhrase: phrase !== undefined, isExcluded });
    isExcluded = false;
    if (read(OR) !== null) alternatives.push([]);
  }
  return alternatives.filter((terms) => terms.length > 0);
}

/** Reads the words, phrases and exclusions of a search. */
export function readSearch(query: string): SearchWords {
  const alternatives = parseSearch(query);
  const wanted = alternatives.flat().filter(({ isExcluded }) => !isExcluded);
  const phrases = wanted.filter(({ isPhrase }) => isPhrase).map(({ text }) => text);
  const words = wanted.filter(({ isPhrase }) => !isPhrase).map(({ text }) => text);
  return {
    wanted: uniqueWords([...words, ...phrases].join(" ")),
    isAnyEnough: alternatives.length > 1,
    phrases: phrases.map(flatten).filter((phrase) => phrase !== ""),
    excluded: exclusionsOf(alternatives),
  };
}

/** True if a query asks for words and nothing else, so that its meaning can be searched for too. */
export function isPlainSearch(query: string): boolean {
  const [terms = [], ...others] = parseSearch(query);
  return others.length === 0 && terms.every(({ isPhrase, isExcluded }) => !isPhrase && !isExcluded);
}

/** Returns the texts that every alternative excludes, each once. */
function exclusionsOf([first = [], ...others]: Alternatives): string[] {
  return [...new Set(excludedBy(first))].filter((text) => others.every((terms) => excludedBy(terms).includes(text)));
}

function excludedBy(terms: readonly Term[]): string[] {
  return terms.filter(({ isExcluded }) => isExcluded).map(({ text }) => text);
}

/**
 * Replaces all kinds of spaces by plain ones: whether a database takes spaces of other scripts for spaces depends on
 * its locale.
 */
export function spaced(query: string): string {
  return query.replace(/[\s\u0085]/g, " ");
}

/**
 * Returns the search for a text in which a `-` excludes nothing, with exclusions of its own.
 *
 * @param exclude words or phrases that no result may have
 */
export function searchExcept(query: string, exclude: readonly string[]): string {
  const excluded = exclude.map((text): Term => ({ text: spaced(text), isPhrase: true, isExcluded: true }));
  const alternatives = parseSearch(spaced(query), "text");
  return (alternatives.length === 0 ? [[]] : alternatives)
    .map((terms) => printTerms([...terms, ...excluded]))
    .join(" or ");
}

/** Splits a search into the part that it asks for and the texts that it excludes, each once. */
export function partSearch(query: string): { readonly rest: string; readonly excluded: readonly string[] } {
  const alternatives = parseSearch(query);
  const wanted = alternatives.map((terms) => terms.filter(({ isExcluded }) => !isExcluded));
  return {
    rest: wanted
      .filter((terms) => terms.length > 0)
      .map(printTerms)
      .join(" or "),
    excluded: [...new Set(alternatives.flatMap(excludedBy))],
  };
}

function printTerms(terms: readonly Term[]): string {
  return terms.map(printTerm).join(" ");
}

/** Prints a term so that {@link parseSearch} reads it as the same wherever it stands. */
function printTerm({ text, isPhrase, isExcluded }: Term): string {
  if (isExcluded) return `-${quoted(text)}`;
  const word = text.replace(/^-+/, "");
  return isPhrase || /^or(?![-_\p{L}\p{N}])/iu.test(word) ? quoted(text) : word;
}

/** Returns a text as a phrase of a search. */
export function quoted(text: string): string {
  return `"${text.replaceAll('"', " ")}"`;
}

/** Reads a topic in plain words: each of them counts, and none must occur. */
export function readTopic(text: string): SearchWords {
  return { wanted: uniqueWords(text), isAnyEnough: true, phrases: [], excluded: [] };
}

/** Returns a text's words with one space between them, for a phrase to be found in. */
export function flatten(text: string): string {
  return wordsOf(text)
    .map(({ text: word }) => word)
    .join(" ");
}

function uniqueWords(text: string): Word[] {
  const words = new Map<string, Word>();
  const identifiers = new Map(identifiersIn(text).map(({ name, within }) => [name, within]));
  const { versions, rest } = soughtVersions(text);
  for (const version of versions) words.set(version, { kind: "version", text: version });
  for (const word of wordsOf(rest).flatMap(pairsOf)) {
    const within = identifiers.get(word.text);
    words.set(word.text, within === undefined ? word : { ...word, within });
  }
  return [...words.values()].slice(0, MAX_WORDS);
}

/** Returns a word as it is looked for: of a run, each two characters that follow one another. */
export function pairsOf(word: Word): Word[] {
  if (word.kind !== "run") return [word];
  const characters = [...word.text];
  if (characters.length <= 2) return [word];
  return characters.slice(1).map((last, at) => ({ kind: "run", text: `${characters[at]}${last}` }));
}

/** Returns the words of an atom, those within its identifiers among them. */
export function wordsOfAtom(text: string): Word[] {
  return [...wordsOf(text), ...identifierWords(text)];
}

/** Returns a text's words with `^` before each, in which the parts of the index are looked for. */
export function markedWords(text: string): string {
  return wordsOfAtom(text)
    .map(({ kind, text: word }) => (kind === "word" ? `^${word}` : word))
    .join("\n");
}

/** Leaves out words that have no lexeme, as frequent English ones: nothing is found by them. */
export function indexedWords(search: SearchWords, lexemes: ReadonlyMap<string, string | null>): SearchWords {
  return { ...search, wanted: search.wanted.filter(({ text }) => lexemes.get(text) !== null) };
}
