/** Maximum length of a misspelt word: a longer word is no typing mistake, and comparing it would be costly. */
const MAX_LENGTH = 64;

/** Minimum length of a word that is suggested by its beginning: shorter words begin too many candidates. */
const MIN_BEGINNING = 4;

/**
 * Returns the candidate that was most likely meant by a misspelt word: one of a near spelling, or the only candidate
 * that begins with the word. Undefined if none is near.
 */
export function suggest(word: string, candidates: readonly string[]): string | undefined {
  const near = nearSpelling(word, candidates);
  if (near !== undefined || word.length < MIN_BEGINNING) return near;
  const [longer, ...others] = candidates.filter((each) => each.toLowerCase().startsWith(word.toLowerCase()));
  return others.length === 0 ? longer : undefined;
}

/** Returns the candidate that a word is in another case, or an edit or two away. Undefined if none is near. */
export function nearSpelling(word: string, candidates: readonly string[]): string | undefined {
  if (word.length > MAX_LENGTH) return undefined;
  const folded = word.toLowerCase();
  const nearest = candidates
    .map((candidate) => ({ candidate, distance: editDistance(folded, candidate.toLowerCase()) }))
    .sort((a, b) => a.distance - b.distance)[0];
  const isNear = nearest !== undefined && nearest.distance <= Math.max(1, Math.floor(folded.length / 3));
  return isNear ? nearest.candidate : undefined;
}

/**
 * Returns a {@link suggest} for many words that suggests nothing for a word whose candidates would exceed
 * `maxComparisons` in all: comparing all with all is quadratic.
 */
export function boundedSuggest(maxComparisons: number): typeof suggest {
  let left = maxComparisons;
  return (word, candidates) => {
    if (candidates.length > left) return undefined;
    left -= candidates.length;
    return suggest(word, candidates);
  };
}

/** Words the suggestion, or lists all candidates if none is near. */
export function suggestion(word: string, candidates: readonly string[]): string {
  const near = suggest(word, candidates);
  return near === undefined ? `write one of ${candidates.join(", ")}` : `did you mean ${near}?`;
}

/** Counts insertions, deletions, substitutions and swaps of neighbours (optimal string alignment). */
function editDistance(a: string, b: string): number {
  let before: number[] = [];
  let above = Array.from({ length: b.length + 1 }, (_, index) => index);
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

function at(row: readonly number[], index: number): number {
  return row[index] ?? Infinity;
}
