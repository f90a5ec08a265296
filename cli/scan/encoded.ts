/**
 * Search for keys in base64, of either alphabet, with line breaks or without, at any offset in the encoded data. A
 * second encoding is found too, such as an `Authorization: Basic` in a file of a Secret.
 */

/** Encoded beginning of a text, at one of its three offsets in a base64 group. */
type Needle = {
  /** Characters that the text alone determines. */
  readonly text: string;
  /** Characters before these, which bytes before the text determine in part. Those bits have any value. */
  readonly lead: string;
  /** Number of bytes before the text. */
  readonly offset: number;
  /** Needle that begins in the decoded text; undefined if that is the key itself. */
  readonly inner: Needle | undefined;
};

/**
 * Pattern of what may stand between two characters: a line break, in JSON `\n`, an indentation, `\/` of PHP, or the
 * zero byte of UTF-16.
 */
const BREAK = String.raw`(?:\\[nr]?|[\s\0])*`;
const BREAKS = /\\[nr]?|[\s\0]/g;
/** Pattern of the first characters, which suffice to dismiss most texts that only begin like a key. */
const FIRST = charactersOf(12);
/** Pattern of as many characters as a twice encoded key has. */
const ALL = charactersOf(128);

function charactersOf(most: number): RegExp {
  return new RegExp(`^(?:[\\w+/-]${BREAK}){1,${most}}`);
}

function needlesFor(text: string, inner: Needle | undefined): Needle[] {
  return [0, 1, 2].map((offset) => {
    // Up to the end of a group, so that nothing is padded.
    const behind = 6 - ((offset + text.length) % 3);
    const [one = "", other = ""] = ["\0", "\xff"].map((byte) =>
      Buffer.from(byte.repeat(offset) + text + byte.repeat(behind), "latin1").toString("base64"),
    );
    const alone = [...one].flatMap((character, at) => (character === other[at] ? [at] : []));
    const [from = 0, to = 0] = [alone[0], alone.at(-1)];
    return { text: one.slice(from, to + 1), lead: one.slice(0, from), offset, inner };
  });
}

/** Returns the needles for a text, encoded once or twice. */
export function encodedNeedles(text: string): Needle[] {
  const once = needlesFor(text, undefined);
  return [...once, ...once.flatMap((inner) => needlesFor(inner.text, inner))];
}

/** Returns the regular expression of a needle, with possible line breaks between its characters. */
export function needlePattern({ text }: Needle): string {
  return [...text].join(BREAK);
}

/** Removes the line breaks from what a needle has found. */
export function unbroken(text: string): string {
  return text.replace(BREAKS, "");
}

/** Decodes the beginning of a text from a needle on; undefined if the decoded text does not match `beginning`. */
export function decodedAt(needle: Needle, text: string, beginning: RegExp): string | undefined {
  return beginning.test(decoded(needle, text, FIRST)) ? decoded(needle, text, ALL) : undefined;
}

function decoded({ lead, offset, inner }: Needle, text: string, characters: RegExp): string {
  const bytes = Buffer.from(lead + unbroken(characters.exec(text)?.[0] ?? ""), "base64").subarray(offset);
  return inner === undefined ? bytes.toString("latin1") : decoded(inner, bytes.toString("latin1"), characters);
}
