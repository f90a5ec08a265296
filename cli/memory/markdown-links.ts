/** Links in Markdown: wikilinks, and the inline and reference links of CommonMark (0.31, 6.3). */

/** Link, as it is written. */
export type NoteLink = {
  /** Title, path or permalink of another note. */
  readonly target: string;
  /** True for a link that may be a picture or another file, and need not lead to a note. */
  readonly isEmbed: boolean;
};

/** Link with its position in its block. */
export type FoundLink = NoteLink & { readonly at: number; readonly end: number };

/** Links to notes in a block, and the text of the block without the destinations of all of its links. */
export type Linked = { readonly links: readonly FoundLink[]; readonly text: string };

/** Destinations of reference links, by label. */
export type Definitions = ReadonlyMap<string, string>;

const ESCAPED = String.raw`\\[!-\/:-@[-\x60{-~]`;
/**
 * Destination of a link: in angle brackets, or up to an unpaired parenthesis. A backslash before anything but a
 * punctuation mark stands for itself. Lengths are bounded against hostile texts.
 */
const DESTINATION = String.raw`(?:<((?:${ESCAPED}|[^<>\\\n]|\\(?![!-\/:-@[-\x60{-~])){0,2048}?)>|(?!<)((?:${ESCAPED}|\\(?![!-\/:-@[-\x60{-~])|[^\s()\\]|\([^\s()]{0,2048}\)){0,2048}))`;
const TITLE = String.raw`(?:"(?:\\"|[^"]){0,999}?"|'(?:\\'|[^']){0,999}?'|\([^()]{0,999}\))`;
const TAIL = new RegExp(String.raw`\(\s{0,99}${DESTINATION}(?:\s{1,99}${TITLE})?\s{0,99}\)`, "y");
const LABEL = /\[((?:\\.|[^[\]\\]){0,999})\]/y;
const DEFINITION = new RegExp(
  String.raw`^[ \t>]{0,99}\[(?!\^)((?:\\.|[^[\]\\]){1,999})\]:[ \t]{0,99}(?:<([^<>\n]{0,2048})>|(?!<)(\S{1,2048}))(?:[ \t]{1,99}${TITLE})?[ \t\r]*$`,
  "gm",
);

/**
 * Takes the definitions of reference links (CommonMark 4.7) out of the blocks of a text. Of several with one label the
 * first counts. A footnote is not a definition.
 */
export function takeDefinitions(given: readonly string[]): { definitions: Definitions; blocks: string[] } {
  const definitions = new Map<string, string>();
  const blocks = given.map((block) =>
    block.replace(DEFINITION, (_, label: string, pointed: string | undefined, bare = "") => {
      const name = labelOf(label);
      if (!definitions.has(name)) definitions.set(name, pointed ?? bare);
      return "";
    }),
  );
  return { definitions, blocks };
}

function labelOf(text: string): string {
  return text.trim().replace(/\s+/g, " ").toLowerCase();
}

/** Finds the links to notes in a block, in order. Pictures, links within the note and links to the web are left out. */
export function findLinks(block: string, definitions: Definitions): Linked {
  const wikilinks = wikilinksIn(block);
  const others = bracketsIn(block, definitions);
  const links = others.flatMap(({ at, end, destination, isImage }) => {
    const link = isImage ? undefined : noteOf(destination);
    return link === undefined ? [] : [{ ...link, at, end }];
  });
  let [text, done] = ["", 0];
  const hidden = [...wikilinks, ...others.map(({ tail, end }) => ({ at: tail, end }))].toSorted(byPosition);
  for (const { at, end } of hidden) {
    if (at < done) continue;
    text += `${block.slice(done, at)} `;
    done = end;
  }
  const found = [...wikilinks, ...links].filter(({ target }) => target !== "").toSorted(byPosition);
  return { links: found, text: text + block.slice(done) };
}

function byPosition(one: { readonly at: number }, other: { readonly at: number }): number {
  return one.at - other.at;
}

/** Finds `[[Target]]`, `[[Target#Heading|shown]]`, and in a table `[[Target\|shown]]`. */
function wikilinksIn(block: string): FoundLink[] {
  return Array.from(block.matchAll(/(!?)\[\[([^[\]\n]+)\]\]/g), ({ 0: whole, 1: mark, 2: named = "", index }) => ({
    ...{ target: named.split(/[#|^\\]/, 1)[0]?.trim() ?? "", isEmbed: mark === "!" },
    ...{ at: index, end: index + whole.length },
  }));
}

/** Link or picture, with the position at which its text ends. */
type Bracket = {
  readonly at: number;
  readonly tail: number;
  readonly end: number;
  readonly destination: string;
  readonly isImage: boolean;
};

/**
 * Finds links and pictures in brackets. A closing bracket belongs to the last opening one. A link has no other link in
 * it; a picture may have.
 */
function bracketsIn(block: string, definitions: Definitions): Bracket[] {
  const found: Bracket[] = [];
  const open: { readonly at: number; readonly isImage: boolean }[] = [];
  /** Number of open brackets, from the outermost, that already have a link in them. */
  let closed = 0;
  for (let at = 0; at < block.length; at++) {
    const mark = block[at];
    if (mark === "\\") at++;
    else if (mark === "[") open.push({ at, isImage: false });
    else if (mark === "!" && block[at + 1] === "[") open.push({ at: at++, isImage: true });
    if (mark !== "]") continue;
    const opening = open.pop();
    if (opening === undefined) continue;
    const isClosed = open.length < closed;
    closed = Math.min(closed, open.length);
    if (isClosed && !opening.isImage) continue;
    const led = destinationAt(block, opening.at + (opening.isImage ? 2 : 1), at, definitions);
    if (led === undefined) continue;
    found.push({ ...opening, tail: at, ...led });
    if (!opening.isImage) closed = open.length;
    at = led.end - 1;
  }
  return found;
}

/** Returns the destination of a bracketed text; undefined if it is only a text in brackets. */
function destinationAt(block: string, from: number, to: number, definitions: Definitions) {
  TAIL.lastIndex = to + 1;
  const inline = TAIL.exec(block);
  if (inline !== null) return { destination: inline[1] ?? inline[2] ?? "", end: TAIL.lastIndex };
  if (definitions.size === 0 || to - from > 999) return undefined;
  LABEL.lastIndex = to + 1;
  const label = LABEL.exec(block)?.[1];
  const destination = definitions.get(labelOf(label || block.slice(from, to)));
  if (destination === undefined) return undefined;
  return { destination, end: label === undefined ? to + 1 : LABEL.lastIndex };
}

/**
 * Returns the note that a destination names, without its heading; undefined for a web address or a place within the
 * note.
 */
function noteOf(written: string): NoteLink | undefined {
  const destination = written.replace(/\\([!-/:-@[-`{-~])/g, "$1").replaceAll("&amp;", "&");
  const path = destination.split("#", 1)[0] ?? "";
  if (path === "" || /^(?:[a-z][a-z\d+.-]*:|\/\/)/i.test(path)) return undefined;
  const isEmbed = path.endsWith("/") || (/\.[a-z\d]{1,8}$/i.test(path) && !/\.md$/i.test(path));
  return { target: decoded(path), isEmbed };
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
