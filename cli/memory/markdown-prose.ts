/** Markdown text outside of code, since brackets and number signs mean something else in code. */

/** Start of a code fence (CommonMark 4.5), also in the line of a list item. */
const FENCE = /^\s*(?:(?:[-*+]|\d{1,9}[.)])\s+)?(`{3,}(?=[^`]*$)|~{3,})/;
const FENCE_END = /^\s*(`{3,}|~{3,})\s*$/;
const QUOTED = /[ \t]*> ?/y;
const INDENTED = /^(?: {4}| {0,3}\t)/;
const ITEM = /^\s*(?:[-*+]|\d{1,9}[.)])\s+/;
/** Start of a heading, a quotation or a table row: none of them continues the block before it. */
const OTHER_BLOCK = /^\s*(?:#{1,6}\s|[>|])/;

/** Open fence. It ends with its quotations and its list item, at the latest. */
type Fence = { readonly mark: string; readonly quotations: number; readonly indent: number };

/** Returns the paragraphs, list items and other blocks of a text, without code. */
export function proseOf(body: string): string[] {
  const blocks: string[][] = [];
  let fence: Fence | undefined;
  /** Columns at which the text of each open list item begins, from the outermost to the innermost. */
  let items: number[] = [];
  let [isList, isCode, isStart] = [false, false, true];
  for (const line of body.split("\n")) {
    if (fence !== undefined) {
      const { quotations, text, indent } = unquoted(line, fence.quotations);
      if (quotations === fence.quotations && (indent >= fence.indent || text.trim() === "")) {
        // At least as long as the one that began.
        const end = indent < fence.indent + 4 ? FENCE_END.exec(text)?.[1] : undefined;
        if (end?.startsWith(fence.mark)) fence = undefined;
        continue;
      }
      fence = undefined;
    }
    const { quotations, text, indent } = unquoted(line);
    if (text.trim() === "") {
      isStart = true;
      continue;
    }
    const outer = items.findLast((begin) => begin <= indent) ?? 0;
    const mark = indent < outer + 4 ? FENCE.exec(text)?.[1] : undefined;
    const item = ITEM.exec(text)?.[0];
    if (isStart || item !== undefined || mark !== undefined || OTHER_BLOCK.test(text))
      items = items.filter((begin) => begin <= indent);
    if (item !== undefined) items.push(columnsOf(item.replace(/\S/g, " ")));
    if (mark !== undefined) {
      fence = { mark, quotations, indent: items.at(-1) ?? 0 };
      isStart = true;
      continue;
    }
    isCode = INDENTED.test(line) && !isList && (isStart || isCode);
    if (!INDENTED.test(line)) isList = ITEM.test(line) || (isList && !isStart);
    if (isStart || ITEM.test(line) || OTHER_BLOCK.test(line)) blocks.push([]);
    if (!isCode) blocks.at(-1)?.push(line);
    isStart = isCode;
  }
  return blocks.map((lines) => withoutSpans(lines.join("\n")));
}

/** Returns a line without its quotation marks, of which at most `most` are taken, and the column of its text. */
function unquoted(line: string, most = Number.POSITIVE_INFINITY) {
  let [quotations, end] = [0, 0];
  QUOTED.lastIndex = 0;
  while (quotations < most && QUOTED.test(line)) [quotations, end] = [quotations + 1, QUOTED.lastIndex];
  const text = line.slice(end);
  return { quotations, text, indent: columnsOf(/^[ \t]*/.exec(text)?.[0] ?? "") };
}

/** Returns the width of spaces and tabs in columns. A tab reaches to the next multiple of four. */
function columnsOf(blank: string): number {
  let columns = 0;
  for (const character of blank) columns += character === "\t" ? 4 - (columns % 4) : 1;
  return columns;
}

/** Removes inline code, which ends at the next run of as many backticks as it began with (CommonMark 6.1). */
function withoutSpans(block: string): string {
  const runs = Array.from(block.matchAll(/`+/g), ({ 0: { length }, index }) => ({ length, index }));
  const last = new Map<number, number>();
  const ends = runs.map(() => 0);
  for (const [position, { length }] of [...runs.entries()].reverse()) {
    ends[position] = last.get(length) ?? 0;
    last.set(length, position);
  }
  let [text, done] = ["", 0];
  for (const [position, { index }] of runs.entries()) {
    const end = runs[ends[position] ?? 0];
    if (index < done || !ends[position] || end === undefined || block[index - 1] === "\\") continue;
    text += `${block.slice(done, index)} `;
    done = end.index + end.length;
  }
  return text + block.slice(done);
}
