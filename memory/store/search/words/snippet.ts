import { identifierWords, wordsOf } from "./folded-text.ts";
import type { SearchWords } from "./search-words.ts";
import { comparer, lettersOf } from "./similarity.ts";
import { numbersIn } from "./versions.ts";

/** Characters of an atom that a snippet is made of: an answer may have a hundred atoms of 65,536 (threats b61). */
export const MAX_SNIPPET_SOURCE = 4_000;
/** Characters before and behind a match that a passage shows. */
const BEFORE = 60;
const BEHIND = 140;
const MAX_PASSAGES = 2;

/** Word as it is written, accents and all, or a version, a date or a time in one. */
const WRITTEN_WORDS = /[vV]?[0-9]+(?:[.:,/_-][0-9]+){1,4}(?![\p{L}\p{N}])|[\p{L}\p{N}\p{M}]+/gu;

/** Range of positions in a text, in UTF-16 code units; `to` is the position behind it. */
export type Range = { readonly from: number; readonly to: number };

/** Passages of a text as it was written, and where the words of a search stand in them. */
export type Snippet = { readonly snippet: string; readonly matches: readonly Range[] };

const BETWEEN_PASSAGES = " … ";

/**
 * Returns the maker of snippets for a search: passages of a text around its matches; of a text without matches, its
 * beginning. A word of several texts is compared once.
 */
export function snippetsOf(search: SearchWords): (content: string) => Snippet {
  const matchRanges = matchRangesOf(search);
  return (content) => snippetOf(content, matchRanges);
}

function snippetOf(content: string, matchRanges: MatchRanges): Snippet {
  const text = content.slice(0, MAX_SNIPPET_SOURCE);
  const found = rangesOf(text, matchRanges);
  const passages: Range[] = [];
  for (const match of found.length === 0 ? [{ from: 0, to: 0 }] : found) {
    const from = passages.at(-1)?.to ?? 0;
    if (passages.length === MAX_PASSAGES) break;
    if (passages.length > 0 && match.from < from) continue;
    passages.push(around(text, match, from));
  }
  let snippet = "";
  const matches: Range[] = [];
  for (const { from, to } of passages) {
    if (snippet !== "") snippet += BETWEEN_PASSAGES;
    const by = snippet.length - from;
    const within = found.filter((match) => match.from >= from && match.to <= to);
    matches.push(...within.map((match) => ({ from: match.from + by, to: match.to + by })));
    snippet += text.slice(from, to);
  }
  // A passage may be cut within a character.
  return { snippet: snippet.toWellFormed(), matches };
}

/** Returns the ranges of a word, as it is written, in which the words of a search stand in some form. */
type MatchRanges = (written: string) => readonly Range[];

function matchRangesOf(search: SearchWords): MatchRanges {
  const likenesses = search.wanted.map(comparer);
  const isWanted = (word: string) => {
    const letters = lettersOf(word);
    return likenesses.some((likenessOf) => likenessOf(word, letters) > 0);
  };
  const known = new Map<string, readonly Range[]>();
  return (written) => {
    const found = known.get(written) ?? rangesIn(written, search, isWanted);
    known.set(written, found);
    return found;
  };
}

/** Returns the ranges of a text in which the words of the search stand. */
function rangesOf(text: string, matchRanges: MatchRanges): Range[] {
  const ranges: Range[] = [];
  for (const { 0: written, index } of text.matchAll(WRITTEN_WORDS)) {
    for (const range of matchRanges(written)) {
      const last = ranges.at(-1);
      const next = { from: index + range.from, to: index + range.to };
      // Ranges that touch are joined, such as two characters of a run and the next two.
      if (last !== undefined && next.from <= last.to)
        ranges[ranges.length - 1] = { from: last.from, to: Math.max(last.to, next.to) };
      else ranges.push(next);
    }
  }
  return ranges;
}

function rangesIn(written: string, { wanted }: SearchWords, isWanted: (word: string) => boolean): Range[] {
  const words = [...wordsOf(written), ...identifierWords(written)];
  if (words.some(({ kind }) => kind === "word")) {
    const numbers = wanted.some(({ kind }) => kind === "version") ? numbersIn(written) : [];
    return [...words.map(({ text }) => text), ...numbers].some(isWanted) ? [{ from: 0, to: written.length }] : [];
  }
  const folded = words.map(({ text }) => text).join("");
  const runs = wanted.filter(({ kind, text }) => kind === "run" && folded.includes(text));
  // A word that was folded into fewer or more characters is marked whole.
  if (folded.length !== written.length) return runs.length === 0 ? [] : [{ from: 0, to: written.length }];
  return runs.flatMap(({ text }) => rangesOfRun(folded, text)).toSorted((a, b) => a.from - b.from);
}

function rangesOfRun(run: string, text: string): Range[] {
  const found: Range[] = [];
  for (let at = run.indexOf(text); at >= 0; at = run.indexOf(text, at + 1))
    found.push({ from: at, to: at + text.length });
  return found;
}

/** Returns the passage around a range, from `earliest` on, and from word to word if spaces are near. */
function around(text: string, { from, to }: Range, earliest: number): Range {
  const begin = Math.max(earliest, from - BEFORE);
  const end = Math.min(text.length, to + BEHIND);
  const space = begin === 0 ? -1 : text.slice(begin, from).search(/\s/);
  const lastSpace = end === text.length ? -1 : text.slice(to, end).search(/\s\S*$/);
  return { from: space < 0 ? begin : begin + space + 1, to: lastSpace < 0 ? end : to + lastSpace };
}
