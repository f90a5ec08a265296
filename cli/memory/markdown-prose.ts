/** What a text of Markdown says outside of code, in which brackets and number signs mean something else. */

/** A fence (CommonMark 4.5) as it begins, also in a quotation or an item of a list. */
const FENCE = /^[\s>]*(?:(?:[-*+]|\d{1,9}[.)])\s+)?(`{3,}(?=[^`]*$)|~{3,})/;
const FENCE_END = /^[\s>]*(`{3,}|~{3,})\s*$/;
const INDENTED = /^(?: {4}| {0,3}\t)/;
const ITEM = /^\s*(?:[-*+]|\d{1,9}[.)])\s/;
/** A heading, a quotation or a row of a table: what is before it goes on in none of them. */
const OTHER_BLOCK = /^\s*(?:#{1,6}\s|[>|])/;
/** The paragraphs, items and other blocks of a text, each in its lines, without code. */
export function proseOf(body: string): string[] {
  const blocks: string[][] = [];
  let fence: string | undefined;
  let [isList, isCode, isStart] = [false, false, true];
  for (const line of body.split("\n")) {
    const mark: string | undefined = (fence === undefined ? FENCE : FENCE_END).exec(line)?.[1];
    const isBlank = line.trim() === "";
    if (fence !== undefined) {
      // At least as long as the one that began.
      if (mark?.startsWith(fence)) fence = undefined;
    } else if (mark !== undefined) [fence, isStart] = [mark, true];
    else if (isBlank) isStart = true;
    else {
      isCode = INDENTED.test(line) && !isList && (isStart || isCode);
      if (!INDENTED.test(line)) isList = ITEM.test(line) || (isList && !isStart);
      if (isStart || ITEM.test(line) || OTHER_BLOCK.test(line)) blocks.push([]);
      if (!isCode) blocks.at(-1)?.push(line);
      isStart = isCode;
    }
  }
  return blocks.map((lines) => withoutSpans(lines.join("\n")));
}

/** Code in a line ends at the next run of as many backticks as it began with (CommonMark 6.1). */
function withoutSpans(block: string): string {
  const runs = Array.from(block.matchAll(/`+/g), ({ 0: { length }, index }) => ({ length, index }));
  const last = new Map<number, number>();
  const ends = runs.map(() => 0);
  for (const [place, { length }] of [...runs.entries()].reverse()) {
    ends[place] = last.get(length) ?? 0;
    last.set(length, place);
  }
  let [text, done] = ["", 0];
  for (const [place, { index }] of runs.entries()) {
    const end = runs[ends[place] ?? 0];
    if (index < done || !ends[place] || end === undefined || block[index - 1] === "\\") continue;
    text += `${block.slice(done, index)} `;
    done = end.index + end.length;
  }
  return text + block.slice(done);
}
