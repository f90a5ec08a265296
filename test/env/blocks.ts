/** A block of a page: what stands in a fence, or behind four spaces. */
export type Block = {
  /** Of its first line in the page, from 0. */
  readonly index: number;
  /** The heading that it is below, without its signs. */
  readonly heading: string;
  /** As its fence names it: empty where that names none, and for a block without a fence. */
  readonly language: string;
  readonly text: string;
  /** Whether the page says of it, or in its head of all of them, that no test runs it. */
  readonly isMarkedNotRun: boolean;
};

const BLOCK = /^( *)```(\w*)[^\n]*\n([\s\S]*?)^\1```$|(?<=\n\n)((?: {4}\S.*\n)+)/gm;
/** In the line below a block: no test runs it, and why. */
const NOT_RUN = /^\s*<!-- Not run by a test\b[^\n]*: [^\n]+\. -->$/m;
/** Above the first heading of a page: no test runs any of its blocks, and why. */
const NONE_RUN = /^<!-- No block of this page is run by a test: [^\n]+\. -->$/m;

/**
 * The blocks of a page, from its top to its end.
 *
 * @param page its Markdown
 */
export function blocksIn(page: string): Block[] {
  const [head = ""] = page.split(/^## /m, 1);
  const isNoneRun = NONE_RUN.test(head);
  // A comment of a shell begins as a heading does.
  const prose = page.replace(BLOCK, (block) => " ".repeat(block.length));
  return [...page.matchAll(BLOCK)].map(({ 0: whole, index, 2: language = "", 3: fenced, 4: indented = "" }) => {
    const below = page.slice(index + whole.length).trimStart();
    return {
      index,
      heading: [...prose.slice(0, index).matchAll(/^#+ (.+)$/gm)].at(-1)?.[1] ?? "",
      language,
      text: fenced ?? indented,
      isMarkedNotRun: isNoneRun || NOT_RUN.test(below.split("\n", 1)[0] ?? ""),
    };
  });
}
