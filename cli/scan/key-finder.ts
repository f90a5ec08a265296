import { KEY_LENGTH, keyDigest, keyPrefix, keyShape } from "../../domain/key/secret/key-format.ts";
import { decodedAt, encodedNeedles, needlePattern, unbroken } from "./encoded.ts";

/** Key found in a file, without its secret part. */
export type FoundKey = {
  /** Line, from 1. */
  readonly line: number;
  /** Column in bytes, from 1. */
  readonly column: number;
  readonly prefix: string;
  /** SHA-256 of the key, in hex. */
  readonly sha256: string;
};

const NEWLINE = 10;
const NEEDLES = new Map(encodedNeedles("inf_").map((needle) => [needle.text, needle]));
const BEGINNING = new RegExp([[..."inf_"].join("\\0?"), ...[...NEEDLES.values()].map(needlePattern)].join("|"), "g");
const OF_KEY = /^inf_[0-9A-Za-z]/;
/** Bytes in which a whole key fits, even if it is encoded, broken into indented lines, and in UTF-16. */
export const REACH = 2_048;

/**
 * Finds keys of the minted format with a valid checksum in bytes of any kind and length, plain and in base64. In UTF-16
 * a zero byte stands beside each character of a key, and is passed over. The function holds one chunk and the end of
 * the chunk before in memory. If reading fails, it throws the error after the keys found so far.
 */
export async function* scanForKeys(chunks: AsyncIterable<Buffer>): AsyncGenerator<FoundKey> {
  let rest = Buffer.alloc(0);
  /** Position of the first byte of `rest`. */
  const location = { line: 1, column: 1 };
  let failure: { readonly error: unknown } | undefined;
  try {
    for await (const chunk of chunks) {
      const bytes = Buffer.concat([rest, chunk]);
      // What begins behind it may go on in the next chunk.
      const end = Math.max(0, bytes.length - REACH);
      yield* keysBefore(end, bytes, location);
      rest = bytes.subarray(end);
    }
  } catch (error) {
    failure = { error };
  }
  yield* keysBefore(rest.length, rest, location);
  if (failure !== undefined) throw failure.error;
}

/** Finds the keys that begin before `end`, and moves `location` there. */
function* keysBefore(end: number, bytes: Buffer, location: { line: number; column: number }): Generator<FoundKey> {
  let at = 0;
  let newline = bytes.indexOf(NEWLINE);
  const advanceTo = (position: number): void => {
    for (; newline !== -1 && newline < position; newline = bytes.indexOf(NEWLINE, at)) {
      location.line++;
      location.column = 1;
      at = newline + 1;
    }
    location.column += position - at;
    at = position;
  };
  const text = bytes.toString("latin1");
  BEGINNING.lastIndex = 0;
  for (let found = BEGINNING.exec(text); found !== null && found.index < end; found = BEGINNING.exec(text)) {
    const begin = found.index;
    BEGINNING.lastIndex = begin + 1;
    const needle = NEEDLES.get(unbroken(found[0]));
    const behind = text.slice(begin, begin + REACH).replaceAll("\0", "");
    const key = (needle === undefined ? behind : decodedAt(needle, behind, OF_KEY))?.slice(0, KEY_LENGTH);
    if (key === undefined || keyShape(key) !== "minted") continue;
    advanceTo(begin);
    const sha256 = Buffer.from(keyDigest(key), "latin1").toString("hex");
    yield { ...location, prefix: keyPrefix(key), sha256 };
  }
  advanceTo(end);
}
