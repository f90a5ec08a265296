/** So much of a text is looked for by the platform, whose search takes so many times as long where it is made to. */
const PROBE = 16;
/** Places where a text begins and does not go on, before each byte is looked at by itself. */
const MOST_TRIES = 64;

/**
 * Looks for a text in bytes, in a time that grows with their number alone: one team may have chosen both, so that the
 * platform's search would compare the whole text at each place (threats b248).
 */
export class ByteSearch {
  readonly #text: Buffer;
  readonly #probe: Buffer;
  #restarts: Uint32Array | undefined;

  constructor(text: Buffer) {
    this.#text = text;
    this.#probe = text.subarray(0, PROBE);
  }

  /** The first place of the text that is not before `from`; -1 for none. */
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

  /** The length of the longest end of the bytes that begins the text, and is not all of it, nor begins before `from`. */
  beginningAtEnd(bytes: Buffer, from: number): number {
    return this.#walk(bytes, Math.max(from, bytes.length - this.#text.length + 1)).matched;
  }

  /** The first bytes of the text, so many. */
  beginning(length: number): Buffer {
    return this.#text.subarray(0, length);
  }

  /**
   * The same length at the end of bytes that come behind a beginning of the text, each of which is looked at once.
   *
   * @returns undefined where all of the text, or none of it, ends at one of them
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
   * Looks at each byte once, after Knuth, Morris and Pratt: up to where the text has been found, or to the end.
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

  /** How much of the text ends at a byte that comes behind so much of it, which is not all. */
  #next(before: number, byte: number | undefined): number {
    const text = this.#text;
    this.#restarts ??= restartsOf(text);
    let matched = before;
    while (matched > 0 && byte !== text[matched]) matched = this.#restarts[matched - 1] ?? 0;
    return byte === text[matched] ? matched + 1 : matched;
  }
}

/** For each beginning of a text, by its last place, how long the longest end of it is that begins the text, too. */
function restartsOf(text: Buffer): Uint32Array {
  const restarts = new Uint32Array(text.length);
  for (let at = 1, matched = 0; at < text.length; at++) {
    while (matched > 0 && text[at] !== text[matched]) matched = restarts[matched - 1] ?? 0;
    if (text[at] === text[matched]) matched++;
    restarts[at] = matched;
  }
  return restarts;
}
