/** The links in a text of Markdown: wikilinks, and those of CommonMark (0.31, 6.3), inline and by reference. */

/** A link, as it is written. */
export type NoteLink = {
  /** The title, the path or the permalink of another note. */
  readonly target: string;
  /** It may be a picture or another file: then it need not lead to a note. */
  readonly isEmbed: boolean;
};

/** With the place in its block. */
export type FoundLink = NoteLink & { readonly at: number; readonly end: number };

/** What is found in a block: links to notes, and the block without what all of its links say of where they lead. */
export type Linked = { readonly links: readonly FoundLink[]; readonly text: string };

/** By their labels. */
export type Definitions = ReadonlyMap<string, string>;

const ESCAPED = String.raw`\\[!-\/:-@[-\x60{-~]`;
/** What no bracket closes; a backslash before anything but a mark is itself. Lengths are bounded for texts of strangers. */
const DESTINATION = String.raw`(?:<((?:${ESCAPED}|[^<>\\\n]|\\(?![!-\/:-@[-\x60{-~])){0,2048}?)>|(?!<)((?:${ESCAPED}|\\(?![!-\/:-@[-\x60{-~])|[^\s()\\]|\([^\s()]{0,2048}\)){0,2048}))`;
const TITLE = String.raw`(?:"(?:\\"|[^"]){0,999}?"|'(?:\\'|[^']){0,999}?'|\([^()]{0,999}\))`;
const TAIL = new RegExp(String.raw`\(\s{0,99}${DESTINATION}(?:\s{1,99}${TITLE})?\s{0,99}\)`, "y");
const LABEL = /\[((?:\\.|[^[\]\\]){0,999})\]/y;
const DEFINITION = new RegExp(
  String.raw`^[ \t>]{0,99}\[(?!\^)((?:\\.|[^[\]\\]){1,999})\]:[ \t]{0,99}(?:<([^<>\n]{0,2048})>|(?!<)(\S{1,2048}))(?:[ \t]{1,99}${TITLE})?[ \t\r]*$`,
  "gm",
);

/**
 * Takes what references mean (CommonMark 4.7) out of the blocks of a text: of several of one label the first. A footnote
 * is none.
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

/** Finds the links of a block in their order. Pictures, links within the note and those to the web are none. */
export function findLinks(block: string, definitions: Definitions): Linked {
  const wikilinks = wikilinksIn(block);
  const others = bracketsIn(block, definitions);
  const links = others.flatMap(({ at, end, destination, isImage }) => {
    const link = isImage ? undefined : noteOf(destination);
    return link === undefined ? [] : [{ ...link, at, end }];
  });
  let [text, done] = ["", 0];
  const hidden = [...wikilinks, ...others.map(({ tail, end }) => ({ at: tail, end }))].toSorted(byPlace);
  for (const { at, end } of hidden) {
    if (at < done) continue;
    text += `${block.slice(done, at)} `;
    done = end;
  }
  const found = [...wikilinks, ...links].filter(({ target }) => target !== "").toSorted(byPlace);
  return { links: found, text: text + block.slice(done) };
}

function byPlace(one: { readonly at: number }, other: { readonly at: number }): number {
  return one.at - other.at;
}

/** `[[Target]]`, `[[Target#Heading|shown]]`, and in a table `[[Target\|shown]]`. */
function wikilinksIn(block: string): FoundLink[] {
  return Array.from(block.matchAll(/(!?)\[\[([^[\]\n]+)\]\]/g), ({ 0: whole, 1: mark, 2: named = "", index }) => ({
    ...{ target: named.split(/[#|^\\]/, 1)[0]?.trim() ?? "", isEmbed: mark === "!" },
    ...{ at: index, end: index + whole.length },
  }));
}

/** A link or a picture, with where its text ends. */
type Bracket = {
  readonly at: number;
  readonly tail: number;
  readonly end: number;
  readonly destination: string;
  readonly isImage: boolean;
};

/** An opening bracket is for the next closing one; a link has no other in it, and a picture may have. */
function bracketsIn(block: string, definitions: Definitions): Bracket[] {
  const found: Bracket[] = [];
  const open: { readonly at: number; readonly isImage: boolean }[] = [];
  /** Of those that are open, as many have a link in them. */
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

/** Where a text in brackets leads; undefined where it is a text in brackets alone. */
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

/** The note that a destination names, without its heading; undefined for one on the web, and within the note itself. */
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
