import { hash } from "node:crypto";
import { crc32 } from "node:zlib";

/**
 * The shape of a key (spec §1): `inf_`, 8 base62 characters of public id, 43 of secret, 6 of checksum.
 * The checksum is the zlib CRC-32 of the first 55 ASCII characters in base62, most significant digit first.
 */
export const KEY_LENGTH = 61;
/** Number of a key's characters that may be shown: `inf_` and the public id. They identify, but never authenticate. */
export const PREFIX_LENGTH = 12;
/** Maximum length of a credential that is hashed or looked up: imported keys must fit, floods must not cost. */
export const MAX_KEY_LENGTH = 512;

const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const BODY_LENGTH = 55;
const RANDOM_CHARACTERS = BODY_LENGTH - 4;
/** Largest multiple of 62 below 256: bytes at or above it are dropped, so that every character is equally likely. */
const UNBIASED = 248;

/**
 * Makes a new key from random bytes.
 *
 * @param randomBytes a CSPRNG: returns that many bytes. 43 characters of the secret part carry 256 bits.
 */
export function mintKey(randomBytes: (size: number) => Uint8Array): string {
  let body = "inf_";
  while (body.length < BODY_LENGTH) {
    for (const byte of randomBytes(RANDOM_CHARACTERS)) {
      if (byte < UNBIASED && body.length < BODY_LENGTH) body += ALPHABET[byte % 62];
    }
  }
  return body + checksum(body);
}

/** Returns the six checksum characters of a key's first 55 characters. */
export function checksum(body: string): string {
  let rest = crc32(body);
  let digits = "";
  for (let i = 0; i < 6; i++) {
    digits = ALPHABET.charAt(rest % 62) + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
}

/** Returns the characters of a key that lists and logs may show. */
export function keyPrefix(key: string): string {
  return key.slice(0, PREFIX_LENGTH);
}

/**
 * Returns the digest under which a key is stored and looked up (architecture §3): the SHA-256 of the full key as 32
 * latin1 characters. A latin1 string takes a quarter of the memory of a Buffer (`binary` is Node's name for that
 * encoding).
 */
export function keyDigest(key: string): string {
  return hash("sha256", key, "binary");
}

/** Minimum length behind `inf_` of a secret of another shape: shorter ones could be guessed (spec §5). */
export const MIN_IMPORTED_CHARACTERS = 32;
/** Length of the text at the start of a key: `inf_`. */
const SCHEME_LENGTH = 4;

/**
 * Shape of a credential, judged by its text alone:
 * `minted`, a key of ours with the right checksum; `imported-format`, another shape behind `inf_`, which only an
 * imported or placeholder key can have; `short`, such a shape that could be guessed, which only a development
 * placeholder may have; `malformed`, nothing that is worth a look-up.
 */
type KeyShape = "minted" | "imported-format" | "short" | "malformed";

/**
 * Classifies a credential without a look-up, in time bounded by {@link MAX_KEY_LENGTH}. On the path of every request:
 * one pass over the characters checks the alphabet and sums up the checksum, and nothing is allocated.
 */
export function keyShape(text: string): KeyShape {
  if (text.length > MAX_KEY_LENGTH || text.length <= 4 || !text.startsWith("inf_")) return "malformed";
  if (text.length !== KEY_LENGTH) {
    if (!isPrintable(text)) return "malformed";
    return text.length < SCHEME_LENGTH + MIN_IMPORTED_CHARACTERS ? "short" : "imported-format";
  }
  let crc = CRC_OF_SCHEME;
  for (let i = 4; i < BODY_LENGTH; i++) {
    const code = text.charCodeAt(i);
    if (digitOf(code) === NO_DIGIT) return "malformed";
    crc = nextCrc(crc, code);
  }
  let rest = ~crc >>> 0;
  for (let i = KEY_LENGTH - 1; i >= BODY_LENGTH; i--) {
    if (digitOf(text.charCodeAt(i)) !== rest % 62) return "malformed";
    // `>>>` instead of Math.floor keeps it an integer for the engine, which then takes the remainder without a call.
    rest = (rest / 62) >>> 0;
  }
  return "minted";
}

const NO_DIGIT = 255;
/** The value of each base62 character, by its code. */
const DIGITS = Uint8Array.from({ length: 128 }, (_, code) => {
  const digit = ALPHABET.indexOf(String.fromCharCode(code));
  return digit === -1 ? NO_DIGIT : digit;
});
/** The table of the bytewise CRC-32, for zlib's polynomial: what zlib itself computes, without leaving JavaScript. */
const CRCS = Int32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = (crc & 1) === 0 ? crc >>> 1 : (crc >>> 1) ^ 0xedb88320;
  return crc;
});
const CRC_OF_SCHEME = ~crc32("inf_");

function digitOf(code: number): number {
  return DIGITS[code] ?? NO_DIGIT;
}

function nextCrc(crc: number, code: number): number {
  return (CRCS[(crc ^ code) & 255] ?? 0) ^ (crc >>> 8);
}

/** True if a text is visible ASCII without space, comma and quotes, which an HTTP header carries unchanged. */
function isPrintable(text: string): boolean {
  for (let i = 4; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code <= 32 || code >= 127 || code === 34 || code === 44) return false;
  }
  return true;
}
