/**
 * Of one passage, in characters: about 500 tokens of English, since many embedding models read 512 and leave out what
 * is behind; and 2,000 of Chinese or Japanese, of which the large models read as many and more.
 */
export const MAX_PASSAGE = 2_000;
/** Of one text: as many as the longest atom has. */
export const MAX_PASSAGES = 40;
/** From one cut to the next, on the average at most; how far a cut is from its place; and how far a passage goes back. */
const STEP = 1_650;
const SLACK = 100;
const OVERLAP = 150;

/** Where a text is cut best: behind a paragraph, else a line, else a sentence, else a word. */
const ENDS = [/\n\s*\n/g, /\n/g, /[.!?…]["'”’)\]]*\s|[。！？]/g, /\s/g];

/**
 * A text in passages that are embedded one by one: of about equal length, cut where a paragraph, a line, a sentence or
 * a word ends, each but the first beginning a few words back. A text of no more than {@link MAX_PASSAGE} characters is
 * one; a longer one is two or more, none of them empty, and {@link MAX_PASSAGES} at most.
 */
export function passagesOf(text: string): readonly string[] {
  if (text.length <= MAX_PASSAGE) return [text];
  const count = Math.min(MAX_PASSAGES, Math.ceil(text.length / STEP));
  const starts = Array.from({ length: count }, (_, n) => (n === 0 ? 0 : cutNear(text, (n * text.length) / count)));
  return starts.map((start, n) => text.slice(n === 0 ? 0 : wordBefore(text, start), starts[n + 1]).toWellFormed());
}

/** The best place for a cut, of those near one. */
function cutNear(text: string, place: number): number {
  const from = Math.round(place) - SLACK;
  const near = text.slice(from, from + 2 * SLACK);
  for (const end of ENDS) {
    const cuts = Array.from(near.matchAll(end), (found) => found.index + found[0].length);
    const best = cuts.toSorted((a, b) => Math.abs(a - SLACK) - Math.abs(b - SLACK))[0];
    if (best !== undefined) return from + best;
  }
  return from + SLACK;
}

/** The beginning of a word, as far before a cut as passages overlap. */
function wordBefore(text: string, cut: number): number {
  const from = cut - OVERLAP;
  const space = text.slice(from, cut).search(/\s\S/);
  return space < 0 ? from : from + space + 1;
}
