/**
 * Maximum length of a passage, in characters: about 500 tokens of English, because many embedding models read 512 and
 * ignore the rest; and 2,000 of Chinese or Japanese, of which the large models read as many and more.
 */
export const MAX_PASSAGE = 2_000;
/** Maximum number of passages of a text: as many as the longest atom has. */
export const MAX_PASSAGES = 40;
/** Maximum average length between cuts, maximum shift of a cut, and overlap of two passages, in characters. */
const STEP = 1_650;
const SLACK = 100;
const OVERLAP = 150;

/** Patterns of ends at which a text is cut, best first: of a paragraph, a line, a sentence, a word. */
const ENDS = [/\n\s*\n/g, /\n/g, /[.!?…]["'”’)\]]*\s|[。！？]/g, /\s/g];

/**
 * Splits a text into passages that are embedded one by one: of about equal length, cut where a paragraph, a line, a
 * sentence or a word ends, each but the first beginning a few words back. A text of at most {@link MAX_PASSAGE}
 * characters
 * is one passage; a longer text is two or more, none of them empty, and at most {@link MAX_PASSAGES}.
 */
export function passagesOf(text: string): readonly string[] {
  if (text.length <= MAX_PASSAGE) return [text];
  const count = Math.min(MAX_PASSAGES, Math.ceil(text.length / STEP));
  const starts = Array.from({ length: count }, (_, n) => (n === 0 ? 0 : cutNear(text, (n * text.length) / count)));
  return starts.map((start, n) => text.slice(n === 0 ? 0 : wordBefore(text, start), starts[n + 1]).toWellFormed());
}

/** Returns the best position for a cut near a given position. */
function cutNear(text: string, position: number): number {
  const from = Math.round(position) - SLACK;
  const near = text.slice(from, from + 2 * SLACK);
  for (const end of ENDS) {
    const cuts = Array.from(near.matchAll(end), (found) => found.index + found[0].length);
    const best = cuts.toSorted((a, b) => Math.abs(a - SLACK) - Math.abs(b - SLACK))[0];
    if (best !== undefined) return from + best;
  }
  return from + SLACK;
}

/** Returns the beginning of a word, before a cut by the overlap of passages. */
function wordBefore(text: string, cut: number): number {
  const from = cut - OVERLAP;
  const space = text.slice(from, cut).search(/\s\S/);
  return space < 0 ? from : from + space + 1;
}
