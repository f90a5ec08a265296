/** Bytes of a text that the platform's search is given: chosen data can make it so many times slower. */
const PROBE = 16;
/** Positions where the probe matches and the text does not, after which each byte is compared by itself. */
const MOST_TRIES = 64;

/**
 * Searches bytes for a text, in time that grows with their number alone: one team may have chosen both, so that the
 * platform's search would compare the whole text at each position (threats b248).
 */
export class ByteSearch {
  readonly #text: Buffer;
  readonly #probe: Buffer;
  #restarts: Uint32Array | undefined;

  constructor(text: Buffer) {
    this.#text = text;
    this.#probe = text.subarray(0, PROBE);
  }

  /** Returns the first position of the text that is not before `from`; -1 for none. */
  indexOf(bytes: Buffer, from = 0): number {
    const { length } = this.#text;
    let at = from;
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      at = bytes.indexOf(this.#probe, at);
      if (at === -1 || at + length > bytes.length) return -1;
      if (bytes.compare(this.#text, 0, length, at, at + length) === 0) return at;
      at++;
    }
    const { to, matched } = this.#walk(bytes, at);
    return matched === length ? to - length : -1;
  }

  /**
   * Returns the length of the longest suffix of the bytes that begins the text, is not all of it, and does not begin
   * before `from`.
   */
  beginningAtEnd(bytes: Buffer, from: number): number {
    return this.#walk(bytes, Math.max(from, bytes.length - this.#text.length + 1)).matched;
  }

  /** Returns the first bytes of the text, as many as `length`. */
  beginning(length: number): Buffer {
    return this.#text.subarray(0, length);
  }

  /**
   * Returns the same length as {@link beginningAtEnd}, for bytes that follow a prefix of the text. Looks at each byte
   * once.
   *
   * @param beginning length of that prefix
   * @returns undefined if all of the text, or none of it, ends at one of the bytes
   */
  goOn(beginning: number, bytes: Buffer): number | undefined {
    let matched = beginning;
    for (const byte of bytes) {
      matched = this.#next(matched, byte);
      if (matched === 0 || matched === this.#text.length) return undefined;
    }
    return matched;
  }

  /**
   * Looks at each byte once, after Knuth, Morris and Pratt, up to the end of the text, if it is found, or of the bytes.
   *
   * @returns how far it has come, and how much of the text ends there
   */
  #walk(bytes: Buffer, from: number): { readonly to: number; readonly matched: number } {
    const { length } = this.#text;
    let matched = 0;
    let at = from;
    for (; at < bytes.length && matched < length; at++) matched = this.#next(matched, bytes[at]);
    return { to: at, matched };
  }

  /** Returns how much of the text ends at a byte that follows a prefix of the text, which is not all of it. */
  #next(before: number, byte: number | undefined): number {
    const text = this.#text;
    this.#restarts ??= restartsOf(text);
    let matched = before;
    while (matched > 0 && byte !== text[matched]) matched = this.#restarts[matched - 1] ?? 0;
    return byte === text[matched] ? matched + 1 : matched;
  }
}

/**
 * Returns, for each prefix of a text, by the position of its last byte, the length of its longest proper suffix that
 * begins the text too.
 */
function restartsOf(text: Buffer): Uint32Array {
  const restarts = new Uint32Array(text.length);
  for (let at = 1, matched = 0; at < text.length; at++) {
    while (matched > 0 && text[at] !== text[matched]) matched = restarts[matched - 1] ?? 0;
    if (text[at] === text[matched]) matched++;
    restarts[at] = matched;
  }
  return restarts;
}
