/** How a question differs from the text that answers it. */
export type Kind =
  /** A question in plain words, most of which the atom does not have. */
  | "question"
  /** Words as the atom has them. */
  | "words"
  /** The beginning of a word. */
  | "prefix"
  /** A part of a word: of a compound, an identifier, a host's name. */
  | "part"
  /** Another form of a word. */
  | "inflection"
  /** A slip of the keyboard. */
  | "typo"
  /** Without the accents, or with letters written in two. */
  | "accent"
  /** A path, a URL or an identifier, whole or in part. */
  | "code"
  /** What is in the atom's source or tags alone. */
  | "source";

type Question = readonly [kind: Kind, question: string];

/** An atom and what is asked that it answers. */
export type Entry = {
  readonly content: string;
  readonly source?: string;
  readonly tags?: readonly string[];
  readonly ask: readonly Question[];
};

/** An atom of the corpus: its content, the questions, and what else it has. */
export function entry(
  content: string,
  ask: readonly Question[] = [],
  more: Omit<Entry, "content" | "ask"> = {},
): Entry {
  return { content, ask, ...more };
}
