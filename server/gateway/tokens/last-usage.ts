import { parseJson } from "../../../domain/parse-json.ts";

/** Digits of a figure at most. */
const DIGITS = 9;
/** Bytes that stand before a figure, and in no name before a digit. */
const COLON = 0x3a;
const SPACE = 0x20;
const ZERO = 0x30;
const NINE = 0x39;
const DOT = 0x2e;
const MINUS = 0x2d;
/** Letter that begins an exponent; below, the bit that turns a capital into a small letter. */
const EXPONENT = 0x65;
const SMALL = 0x20;
/** Bytes of the first buffer: more than most usages have. */
const USUAL = 256;

/**
 * The usage that an answer reported last, as JSON. Few usages are parsed of a stream whose every event has one: the
 * next mostly says all that the last said, and takes its place.
 */
export class LastUsage {
  #json: Buffer | undefined;
  #length = 0;

  /** Keeps a usage instead of the last. */
  set(bytes: Buffer, from: number, to: number): void {
    this.#length = to - from;
    const reusable = this.#json !== undefined && this.#json.length >= this.#length ? this.#json : undefined;
    this.#json = reusable ?? Buffer.allocUnsafe(Math.max(USUAL, this.#length));
    bytes.copy(this.#json, 0, from, to);
  }

  /** Bytes of the usage. */
  get length(): number {
    return this.#length;
  }

  /** Parses the usage; undefined if it is no JSON. */
  parse(): unknown {
    return parseJson(this.#json?.toString("utf8", 0, this.#length) ?? "");
  }

  /**
   * True if the next usage has a figure above 0 wherever this one has one, and else says the same: once it is noted,
   * nothing of this one would be left. Both are compared as they are written. It may return false although this holds.
   */
  isSaidBy(bytes: Buffer, from: number, to: number): boolean {
    return this.#json !== undefined && saysAll(this.#json, this.#length, bytes, from, to);
  }
}

function saysAll(before: Buffer, length: number, bytes: Buffer, from: number, to: number): boolean {
  let i = 0;
  let j = from;
  while (i < length && j < to) {
    const byte = before[i];
    if (byte !== bytes[j]) return false;
    i++;
    j++;
    // Not within a name, whose digits are compared as all else is.
    if (byte !== COLON && byte !== SPACE) continue;
    const start = j;
    let was = 0;
    let is = 0;
    for (; i < length && isDigit(before[i]); i++) was |= digitAt(before, i);
    for (; j < to && isDigit(bytes[j]); j++) is |= digitAt(bytes, j);
    if ((was !== 0 && is === 0) || j - start > DIGITS) return false;
    if (before[i] !== DOT || bytes[j] !== DOT) continue;
    // A figure has no fraction, as costs and times have; but an exponent may make one of it.
    [was, is] = [0, 0];
    for (i++; i < length && isDigit(before[i]); i++) was |= digitAt(before, i);
    for (j++; j < to && isDigit(bytes[j]); j++) is |= digitAt(bytes, j);
    if ((was === 0) !== (is === 0)) return false;
    if (i < length && isExponent(before[i]) && (was === 0 || before[i + 1] !== MINUS)) return false;
  }
  return i === length && j === to;
}

function isDigit(byte = 0): boolean {
  return byte >= ZERO && byte <= NINE;
}

function isExponent(byte = 0): boolean {
  return (byte | SMALL) === EXPONENT;
}

function digitAt(bytes: Buffer, at: number): number {
  return (bytes[at] ?? ZERO) - ZERO;
}
