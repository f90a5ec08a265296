/** Longer words are no slip of the finger, and comparing them would cost. */
const MAX_LENGTH = 64;

/** Of fewer letters a word begins too many others. */
const MIN_BEGINNING = 4;

/**
 * The candidate that was most likely meant by a misspelt word: another case, or an edit or two away, or the only one
 * that the word is the beginning of. Undefined when none is near.
 */
export function suggest(word: string, candidates: readonly string[]): string | undefined {
  if (word.length > MAX_LENGTH) return undefined;
  const folded = word.toLowerCase();
  const nearest = candidates
    .map((candidate) => ({ candidate, distance: editDistance(folded, candidate.toLowerCase()) }))
    .sort((a, b) => a.distance - b.distance)[0];
  if (nearest !== undefined && nearest.distance <= Math.max(1, Math.floor(folded.length / 3))) return nearest.candidate;
  const [longer, ...others] = candidates.filter((candidate) => candidate.toLowerCase().startsWith(folded));
  return folded.length >= MIN_BEGINNING && others.length === 0 ? longer : undefined;
}

/**
 * The same for many words: of those whose candidates come to more than so many together none is suggested, since to compare
 * all with all is quadratic.
 */
export function boundedSuggest(maxComparisons: number): typeof suggest {
  let left = maxComparisons;
  return (word, candidates) => {
    if (candidates.length > left) return undefined;
    left -= candidates.length;
    return suggest(word, candidates);
  };
}

/** How to put the suggestion, or the whole choice where nothing is near. */
export function suggestion(word: string, candidates: readonly string[]): string {
  const near = suggest(word, candidates);
  return near === undefined ? `write one of ${candidates.join(", ")}` : `did you mean ${near}?`;
}

/** Insertions, deletions, substitutions and swaps of neighbours (optimal string alignment). */
function editDistance(a: string, b: string): number {
  let before: number[] = [];
  let above = Array.from({ length: b.length + 1 }, (_, place) => place);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const substitution = at(above, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const swap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1] ? at(before, j - 2) + 1 : Infinity;
      row.push(Math.min(substitution, swap, at(above, j) + 1, at(row, j - 1) + 1));
    }
    before = above;
    above = row;
  }
  return at(above, b.length);
}

function at(row: readonly number[], place: number): number {
  return row[place] ?? Infinity;
}
