import { identifiersIn, identifierWords, type Word, wordsOf } from "./folded-text.ts";
import { soughtVersions } from "./versions.ts";

/** What a search asks for, beyond what PostgreSQL reads in it. */
export type SearchWords = {
  /** The words to be found, folded, each once: of a script without spaces, each two characters that follow one another. */
  readonly wanted: readonly Word[];
  /** Whether one of them is enough: they stand around `or`. */
  readonly isAnyEnough: boolean;
  /** Quoted text, folded, its words parted by one space: to be found as it is. */
  readonly phrases: readonly string[];
  /** What no result has, whichever of its alternatives it meets, as a query of its own for PostgreSQL. Empty for nothing. */
  readonly excluded: string;
};

/** Of a longer query the first ones. */
const MAX_WORDS = 32;

/** One word of a search, or a phrase in quotes. */
type Term = { readonly text: string; readonly isPhrase: boolean; readonly isExcluded: boolean };

/** A search as it is written: an atom has to meet every term of one of these. */
type Alternatives = readonly (readonly Term[])[];

/** What parts terms in any locale of a database; in some of them spaces of other scripts do too. */
const SPACE = " \\t\\n\\v\\f\\r";
/** Marks that part terms, and mean nothing. */
const MARKS = "!&|()<";
const TERM = `"(?<phrase>[^"]*)"?|(?<word>[^${SPACE}${MARKS}"][^${SPACE}${MARKS}":]*)`;
const TEXT_TERM = new RegExp(`[${SPACE}${MARKS}]*(?:${TERM})`, "y");
const MINUS_OR_TERM = new RegExp(`[${SPACE}${MARKS}]*(?:-|${TERM})`, "y");
/** Between two terms: something has to stand behind it. */
const OR = new RegExp(`[${SPACE}${MARKS}]*or(?![-_\\p{L}\\p{N}])(?=[^][${SPACE}]*[^${SPACE}])`, "iuy");
/** What is looked for: letters or digits, and not the word `or` alone, which English has not in its index. */
const SOUGHT = /^(?!(?:[^\p{L}\p{N}]*or(?![\p{L}\p{N}]))+[^\p{L}\p{N}]*$).*[\p{L}\p{N}]/isu;

/**
 * Reads a search as `websearch_to_tsquery` does, which a test holds this to: words and `"phrases"`, of which a `-`
 * before one excludes it and a second `-` takes that back, and `or`, which binds less than all of them.
 *
 * @param minus `text` where a `-` before a word belongs to it, as one of a command's flags
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

/** What a search asks for, in words. */
export function readSearch(query: string): SearchWords {
  const alternatives = parseSearch(query);
  const wanted = alternatives.flat().filter(({ isExcluded }) => !isExcluded);
  const phrases = wanted.filter(({ isPhrase }) => isPhrase).map(({ text }) => text);
  const words = wanted.filter(({ isPhrase }) => !isPhrase).map(({ text }) => text);
  return {
    wanted: uniqueWords([...words, ...phrases].join(" ")),
    isAnyEnough: alternatives.length > 1,
    phrases: phrases.map(flatten).filter((phrase) => phrase !== ""),
    excluded: exclusionsOf(alternatives).map(quoted).join(" or "),
  };
}

/** Whether a query asks for words and nothing else: what it means can be asked for too. */
export function isPlainSearch(query: string): boolean {
  const [terms = [], ...others] = parseSearch(query);
  return others.length === 0 && terms.every(({ isPhrase, isExcluded }) => !isPhrase && !isExcluded);
}

/** The texts that every alternative excludes, each once. */
function exclusionsOf([first = [], ...others]: Alternatives): string[] {
  return [...new Set(excludedBy(first))].filter((text) => others.every((terms) => excludedBy(terms).includes(text)));
}

function excludedBy(terms: readonly Term[]): string[] {
  return terms.filter(({ isExcluded }) => isExcluded).map(({ text }) => text);
}

/**
 * A search with spaces that each database takes for spaces: of those of other scripts its locale decides.
 */
export function spaced(query: string): string {
  return query.replace(/[\s\u0085]/g, " ");
}

/**
 * The search for a text in which a `-` excludes nothing, with what no result may have.
 *
 * @param exclude words or phrases
 */
export function searchExcept(query: string, exclude: readonly string[]): string {
  const excluded = exclude.map((text): Term => ({ text: spaced(text), isPhrase: true, isExcluded: true }));
  const alternatives = parseSearch(spaced(query), "text");
  return (alternatives.length === 0 ? [[]] : alternatives)
    .map((terms) => printTerms([...terms, ...excluded]))
    .join(" or ");
}

/** A search in two: what it asks for beside its exclusions, and the texts that it excludes, each once. */
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

/** As {@link parseSearch} reads it wherever it stands. */
function printTerm({ text, isPhrase, isExcluded }: Term): string {
  if (isExcluded) return `-${quoted(text)}`;
  const word = text.replace(/^-+/, "");
  return isPhrase || /^or(?![-_\p{L}\p{N}])/iu.test(word) ? quoted(text) : word;
}

function quoted(text: string): string {
  return `"${text.replaceAll('"', " ")}"`;
}

/** A topic in plain words: each of them counts, and none must occur. */
export function readTopic(text: string): SearchWords {
  return { wanted: uniqueWords(text), isAnyEnough: true, phrases: [], excluded: "" };
}

/** A text's words with one space between them, for a phrase to be found in. */
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

/** A word as it is looked for; of a run, each two characters that follow one another. */
export function pairsOf(word: Word): Word[] {
  if (word.kind !== "run") return [word];
  const characters = [...word.text];
  if (characters.length <= 2) return [word];
  return characters.slice(1).map((last, at) => ({ kind: "run", text: `${characters[at]}${last}` }));
}

/** The words of an atom, those within its identifiers among them. */
export function wordsOfAtom(text: string): Word[] {
  return [...wordsOf(text), ...identifierWords(text)];
}

/** A text as the parts of the index are looked for in it: `^` before each word. */
export function markedWords(text: string): string {
  return wordsOfAtom(text)
    .map(({ kind, text: word }) => (kind === "word" ? `^${word}` : word))
    .join("\n");
}

/** Without the words that English leaves out of its index: nothing is found by them. */
export function withoutWords(search: SearchWords, left: readonly string[]): SearchWords {
  return { ...search, wanted: search.wanted.filter(({ text }) => !left.includes(text)) };
}
