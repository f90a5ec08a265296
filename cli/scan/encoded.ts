/**
 * A key in base64, of either alphabet, in lines or not, wherever it stands in what is encoded, and once more in that: as in
 * a Secret with a file in which an `Authorization: Basic` is.
 */

/** How a text begins in what encodes it, of one of the three places that it can have in a group of four characters. */
type Needle = {
  /** The characters that it alone decides. */
  readonly text: string;
  /** The characters before them, with any bits where others decide. */
  readonly lead: string;
  /** Bytes before the text. */
  readonly offset: number;
  /** What begins in the text that is found; undefined for the text itself. */
  readonly inner: Needle | undefined;
};

/** What may stand between two characters: the end of a line, also as `\n` in JSON, an indentation, `\/` of PHP. */
const BREAK = String.raw`(?:\\[nr]?|\s)*`;
const BREAKS = /\\[nr]?|\s/g;
/** The first characters, by which most of what begins like a key shows itself to be none. */
const FIRST = charactersOf(12);
/** As many as a key has that is encoded twice. */
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

/** The needles for a text, encoded once or twice. */
export function encodedNeedles(text: string): Needle[] {
  const once = needlesFor(text, undefined);
  return [...once, ...once.flatMap((inner) => needlesFor(inner.text, inner))];
}

/** A regular expression for a needle, whichever characters of it a line ends between. */
export function needlePattern({ text }: Needle): string {
  return [...text].join(BREAK);
}

/** What a needle was found as, without the ends of lines. */
export function unbroken(text: string): string {
  return text.replace(BREAKS, "");
}

/** What is encoded at the beginning of a text, from a needle on; undefined where it begins otherwise. */
export function decodedAt(needle: Needle, text: string, beginning: RegExp): string | undefined {
  return beginning.test(decoded(needle, text, FIRST)) ? decoded(needle, text, ALL) : undefined;
}

function decoded({ lead, offset, inner }: Needle, text: string, characters: RegExp): string {
  const bytes = Buffer.from(lead + unbroken(characters.exec(text)?.[0] ?? ""), "base64").subarray(offset);
  return inner === undefined ? bytes.toString("latin1") : decoded(inner, bytes.toString("latin1"), characters);
}
