/** Whether the text of a manifest's file is whole. A file that is being written, or whose writer died, can be valid. */

/** How a text ends: after a whole line, after a `---` that another document should follow, or in the middle of a line. */
export type Ending = "line" | "separator" | "within a line";

export function endingOf(text: string): Ending {
  const content = text.trimEnd();
  if (isSeparator(content.slice(content.lastIndexOf("\n") + 1))) return "separator";
  return text.endsWith("\n") ? "line" : "within a line";
}

/** Whether a text is the beginning of what a file held when it was whole, up to the middle of a document. */
export function isCutShort(text: string, whole: string): boolean {
  if (!whole.startsWith(text)) return false;
  const rest = whole.slice(text.length);
  if (rest.trim() === "" || text.trim() === "") return false;
  if (!text.endsWith("\n")) return true;
  return endingOf(text) !== "separator" && !isSeparator(rest.slice(0, rest.search(/\n|$/)));
}

const isSeparator = (line: string): boolean => /^---(\s|$)/.test(line);
