import { KEY_LENGTH, keyDigest, keyPrefix, keyShape } from "../../domain/key/secret/key-format.ts";

/** A key in a file: never the whole of it. */
export type FoundKey = {
  /** From 1. */
  readonly line: number;
  /** From 1, in bytes. */
  readonly column: number;
  readonly prefix: string;
  /** SHA-256 in hex. */
  readonly sha256: string;
};

const SCHEME = Buffer.from("inf_");
const NEWLINE = 10;

/**
 * Finds the keys of the minted format with a right checksum, in bytes of whatever kind and length: no more is held than
 * a chunk, and the end of the one before it.
 */
export async function* scanForKeys(chunks: AsyncIterable<Buffer>): AsyncGenerator<FoundKey> {
  let rest = Buffer.alloc(0);
  /** Of the first byte of `rest`. */
  let [line, column] = [1, 1];
  for await (const chunk of chunks) {
    const bytes = Buffer.concat([rest, chunk]);
    let at = 0;
    let newline = bytes.indexOf(NEWLINE);
    const advanceTo = (position: number): void => {
      for (; newline !== -1 && newline < position; newline = bytes.indexOf(NEWLINE, at)) {
        line++;
        column = 1;
        at = newline + 1;
      }
      column += position - at;
      at = position;
    };
    /** What begins behind it may go on in the next chunk. */
    const whole = bytes.length - KEY_LENGTH;
    for (let begin = bytes.indexOf(SCHEME); begin !== -1 && begin <= whole; begin = bytes.indexOf(SCHEME, begin + 1)) {
      const text = bytes.toString("latin1", begin, begin + KEY_LENGTH);
      if (keyShape(text) !== "minted") continue;
      advanceTo(begin);
      const sha256 = Buffer.from(keyDigest(text), "latin1").toString("hex");
      yield { line, column, prefix: keyPrefix(text), sha256 };
    }
    advanceTo(Math.max(at, whole + 1, 0));
    rest = bytes.subarray(at);
  }
}
