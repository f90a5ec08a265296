import { identifierWords, type Word, wordsOf } from "./folded-text.ts";

/** What a search asks for, beyond what PostgreSQL reads in it. */
export type SearchWords = {
  /** The words to be found, folded, each once: of a script without spaces, each two characters that follow one another. */
  readonly wanted: readonly Word[];
  /** Whether one of them is enough: they stand around `or`. */
  readonly isAnyEnough: boolean;
  /** Quoted text, folded, its words parted by one space: to be found as it is. */
  readonly phrases: readonly string[];
  /** What no result has, as a query of its own for PostgreSQL. Empty for nothing. */
  readonly excluded: string;
};

/** Of a longer query the first ones. */
const MAX_WORDS = 32;

const PIECES = /(-?)(?:"([^"]*)"?|([^\s"]+))/g;

/** Reads a query as `websearch_to_tsquery` does: words, `"phrases"`, `or`, `-not`. */
export function readSearch(query: string): SearchWords {
  const wanted: string[] = [];
  const phrases: string[] = [];
  const excluded: string[] = [];
  let isAnyEnough = false;
  for (const [, minus, quoted, word = ""] of query.matchAll(PIECES)) {
    if (minus !== "") excluded.push(quoted === undefined ? word.replace(/^-+/, "") : `"${quoted}"`);
    else if (quoted !== undefined) phrases.push(quoted);
    else if (word.toLowerCase() === "or") isAnyEnough = true;
    else wanted.push(word);
  }
  return {
    wanted: uniqueWords([...wanted, ...phrases].join(" ")),
    isAnyEnough,
    phrases: phrases.map(flatten).filter((phrase) => phrase !== ""),
    excluded: excluded.filter((each) => each !== "").join(" or "),
  };
}

/** Whether a query asks for words and nothing else: what it means can be asked for too. */
export function isPlainSearch(query: string): boolean {
  const { isAnyEnough, phrases, excluded } = readSearch(query);
  return !isAnyEnough && phrases.length === 0 && excluded === "";
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
  for (const word of wordsOf(text).flatMap(pairsOf)) words.set(word.text, word);
  return [...words.values()].slice(0, MAX_WORDS);
}

/** A word as it is looked for; of a run, each two characters that follow one another. */
export function pairsOf(word: Word): Word[] {
  const characters = [...word.text];
  if (word.kind === "word" || characters.length <= 2) return [word];
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
