/**
 * What an agent's memory holds and what is asked of it, in two halves that look alike and share nothing: by `chosen` a
 * ranking is chosen, and `held-out` says how well it does on what it was not chosen by. `unseen` is a third memory, of more
 * languages, written as people and agents write, without a look at the ranking or at the other two; the comparison of words
 * was chosen by it since. `later` is a fourth, written like the third and without a look at the ranking or at the others
 * but for the first lines of the third, which gave it its form. `blind` is a fifth, the memory of a whole company in ten
 * languages, most of whose contradictions state the new fact without a word of change; it was written without a look at
 * the ranking or at the others but for the first lines of the fourth.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";

export const CORPUS_NAMES = ["chosen", "held-out", "unseen", "later", "blind"] as const;
export type CorpusName = (typeof CORPUS_NAMES)[number];

export const LANGUAGES = ["en", "de", "zh", "ja", "ru", "fr", "es", "ko", "pt", "pl", "tr", "ar"] as const;
export type Language = (typeof LANGUAGES)[number];

/** What makes each kind of question hard. */
export const KINDS = {
  words: "a natural question: most of its words stand in the answer, some do not",
  keywords: "two to four words, as a person types them",
  topic: "a long sentence, as a model writes it to a tool; the answer shares several of its words",
  form: "inflected words, parts of compounds, accents left out, a slip of the keyboard",
  "old-exact": "the answer is a year old, and new atoms of high importance share a word or two of the question",
  paraphrase: "hardly a word is shared: only meaning finds the answer",
  across: "the question is in another language than the answer: only meaning finds it",
  contradiction: "two atoms state the same fact differently, and the newer has to stand before the older",
  long: "the answer stands deep in a long text",
} as const;
export type Kind = keyof typeof KINDS;

export interface CorpusAtom {
  /** Unique within the corpus. */
  readonly id: string;
  /** The fact that it states: an older and a newer statement of one fact share it. */
  readonly about: string;
  /** A subject that several facts share. */
  readonly topic: string;
  readonly language: Language;
  /** Days since it was saved, 1 to 400. */
  readonly ageDays: number;
  /** 0 to 10, most often 5; says nothing of whether a question is answered. */
  readonly importance: number;
  readonly tags?: readonly string[];
  readonly content: string;
}

interface CorpusQuestion {
  readonly ask: string;
  readonly language: Language;
  /** Ids of atoms: any of them within the first five answers the question. */
  readonly answers: readonly string[];
}

/** A question on a fact that has changed: its answer, the newer atom, has to stand before `older`. */
export interface Contradiction extends CorpusQuestion {
  readonly kind: "contradiction";
  readonly older: string;
}

export type Question = Contradiction | (CorpusQuestion & { readonly kind: Exclude<Kind, "contradiction"> });

export interface Corpus {
  readonly atoms: readonly CorpusAtom[];
  readonly questions: readonly Question[];
}

/** Reads a corpus from the file of its name, whose shape and rules `corpus.test.ts` holds. */
export function readCorpus(name: CorpusName): Corpus {
  return parse(readFileSync(join(import.meta.dirname, `${name}.yaml`), "utf8"));
}
