import { hash } from "node:crypto";

/**
 * A key's id and a version's number as four words of 30 bits or fewer, so that the engine keeps them as small integers.
 */
export type PackedVersion = {
  /** The id's 20 characters, six to a word; the last two are the low bits of `last`. */
  readonly first: number;
  readonly second: number;
  readonly third: number;
  /**
   * 10 bits of the id, a bit that says whether the key may have the format of another system, and the version's number.
   */
  readonly last: number;
  /** True if the words say it all. An id of another shape is known by its hash, and its text is kept elsewhere. */
  readonly whole: boolean;
};

const ID_BITS = 0x3ff;
const IMPORTED_FORMAT = 0x400;
const VERSION_SHIFT = 11;
const MAX_VERSION = 2 ** 21 - 1;

const SCHEME = "key_";
const ALPHABET = "abcdefghijklmnopqrstuvwxyz234567";
const ID_LENGTH = SCHEME.length + 20;
const NO_DIGIT = 255;
const DIGITS = Uint8Array.from({ length: 128 }, (_, code) => {
  const digit = ALPHABET.indexOf(String.fromCharCode(code));
  return digit === -1 ? NO_DIGIT : digit;
});
/** Two characters for every ten bits. */
const PAIRS: readonly string[] = Array.from(
  { length: 1024 },
  (_, bits) => ALPHABET.charAt(bits >> 5) + ALPHABET.charAt(bits & 31),
);

/** Packs the id and number of a version (the ids of `store/database/ids.ts`: 100 random bits). */
export function packVersion(keyId: string, version: number, importedFormat: boolean): PackedVersion {
  const flag = importedFormat ? IMPORTED_FORMAT : 0;
  if (keyId.length === ID_LENGTH && keyId.startsWith(SCHEME) && version <= MAX_VERSION) {
    let valid = true;
    const word = (from: number, length: number): number => {
      let bits = 0;
      for (let i = from; i < from + length; i++) {
        const digit = DIGITS[keyId.charCodeAt(i)] ?? NO_DIGIT;
        if (digit === NO_DIGIT) valid = false;
        bits = (bits << 5) | digit;
      }
      return bits;
    };
    const [first, second, third, rest] = [word(4, 6), word(10, 6), word(16, 6), word(22, 2)];
    if (valid) return { first, second, third, last: rest | flag | (version << VERSION_SHIFT), whole: true };
  }
  const hashed = hash("sha256", keyId, "buffer");
  const word = (at: number): number => hashed.readUInt32LE(at) >>> 2;
  return { first: word(0), second: word(4), third: word(8), last: (word(12) & ID_BITS) | flag, whole: false };
}

/** Returns the id in words that are {@link PackedVersion.whole}. */
export function unpackKeyId(first: number, second: number, third: number, last: number): string {
  return SCHEME + sixOf(first) + sixOf(second) + sixOf(third) + pair(last & ID_BITS);
}

function sixOf(word: number): string {
  return pair(word >>> 20) + pair((word >>> 10) & ID_BITS) + pair(word & ID_BITS);
}

function pair(bits: number): string {
  return PAIRS[bits] ?? "";
}

export function unpackVersion(last: number): number {
  return last >>> VERSION_SHIFT;
}

export function isImportedFormat(last: number): boolean {
  return (last & IMPORTED_FORMAT) !== 0;
}

/** True if two last words belong to the same id. */
export function isSameId(last: number, other: number): boolean {
  return ((last ^ other) & ID_BITS) === 0;
}
