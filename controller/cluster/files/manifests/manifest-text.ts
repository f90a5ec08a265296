/**
 * Checks that the text of a manifest's file is whole. A file that is being written, or whose writer died, can be valid.
 */

/** End of a text: after a whole line, or in the middle of a line. */
export type Ending = "line" | "within a line";

export const endingOf = (text: string): Ending => (text.endsWith("\n") ? "line" : "within a line");

/** True if another text begins with this text, if comments and blank lines are left out of both. */
export function isBeginning(text: string, whole: string): boolean {
  return beginsWith(linesOf(whole), linesOf(text), endingOf(text));
}

/**
 * True if a text is the beginning of what a file held when it was whole, up to the middle of a document, or of an item
 * of a `kind: List`. Comments and blank lines do not count: the first line that a program writes is often the date.
 */
export function isCutShort(text: string, whole: string): boolean {
  const [lines, all] = [linesOf(text), linesOf(whole)];
  const last = lines.at(-1);
  const next = all[lines.length];
  if (last === undefined || !beginsWith(all, lines, endingOf(text))) return false;
  if (last !== all[lines.length - 1]) return true;
  if (next === undefined) return false;
  return !isSeparator(last) && !isSeparator(next) && !isNextItem(lines, next);
}

/** @param ending of the text whose lines are given: its last line may be the beginning of a line */
function beginsWith(all: readonly string[], lines: readonly string[], ending: Ending): boolean {
  const isSame = (line: string, i: number) => line === all[i];
  const last = lines.length - 1;
  return lines.every(
    (line, i) => isSame(line, i) || (i === last && ending === "within a line" && all[i]?.startsWith(line)),
  );
}

/** Returns the lines of a text, without comments, blank lines and what the lines end with. */
function linesOf(text: string): string[] {
  return text
    .split("\n")
    .map((line) => line.trimEnd())
    .filter((line) => !/^\s*(#|$)/.test(line));
}

/** True if a line begins another item, in block style, of the `kind: List` that the lines before it end in. */
function isNextItem(lines: readonly string[], next: string): boolean {
  const document = lines.slice(lines.findLastIndex(isSeparator) + 1);
  if (!document.some((line) => /^kind: *["']?List\b/.test(line))) return false;
  const first = document[document.findIndex((line) => /^items:/.test(line)) + 1] ?? "";
  const dash = /^ *-(?= |$)/;
  return dash.test(next) && dash.exec(next)?.[0] === dash.exec(first)?.[0];
}

const isSeparator = (line: string): boolean => /^(---|\.\.\.)(\s|$)/.test(line);
