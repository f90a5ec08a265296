/**
 * Longer than most files: one state machine over bytes, which may be split between any two of them.
 */
import type { Dialect } from "../../../domain/access/key-record.ts";

/** The members that are looked for: those of the document itself, and of one object in it. */
type Wanted = {
  readonly usage: Buffer;
  readonly model: Buffer;
  /** The member of the document that may have both in it. */
  readonly within: Buffer | undefined;
};

const WANTED: Readonly<Record<Dialect, Wanted>> = {
  openai: { usage: Buffer.from("usage"), model: Buffer.from("model"), within: Buffer.from("response") },
  anthropic: { usage: Buffer.from("usage"), model: Buffer.from("model"), within: Buffer.from("message") },
  gemini: { usage: Buffer.from("usageMetadata"), model: Buffer.from("modelVersion"), within: undefined },
};

/** Which member was found; `first usage` is that of the object within, which Anthropic reports first. */
export type FoundMember = "usage" | "first usage" | "model";

/** No member's name that is looked for is longer. */
const LONGEST_NAME = 16;
/** The length of a text that is none of them. */
const NO_NAME = LONGEST_NAME + 1;
/** No usage is longer, nor any model's name, in bytes. */
const LONGEST_VALUE = 4_096;
/** So much of a text is looked at byte by byte, before the search for its end is handed to the platform. */
const SHORT_TEXT = 32;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const COMMA = 0x2c;
const BRACE_OPEN = 0x7b;
const BRACE_CLOSE = 0x7d;
const BRACKET_OPEN = 0x5b;
const BRACKET_CLOSE = 0x5d;

/**
 * Finds the usage and the model in JSON that comes in pieces, by the depth at which they stand, so that what a model has
 * written is never taken for them. It holds a few kilobytes, however long the document, and takes any bytes.
 */
export class MemberScanner {
  readonly #wanted: Wanted;
  readonly #onFound: (member: FoundMember, json: string | undefined) => void;
  #depth = 0;
  /** The depth of the document's members: one more in an array of documents. */
  #top = 1;
  #isInText = false;
  #isEscaped = false;
  /** The text that began last where members have their names. */
  readonly #name = Buffer.alloc(LONGEST_NAME);
  #nameLength = NO_NAME;
  /** Whether what is open below the document is the object that is looked into. */
  #isWithin = false;
  #capturing: FoundMember | undefined;
  #captureDepth = 0;
  /** Of a value that began in an earlier piece. */
  #kept: Buffer | undefined;
  #keptLength = 0;

  /** @param onFound gets the value's JSON; undefined for one that is too long */
  constructor(dialect: Dialect, onFound: (member: FoundMember, json: string | undefined) => void) {
    this.#wanted = WANTED[dialect];
    this.#onFound = onFound;
  }

  /** Begins with the next document. */
  reset(): void {
    this.#depth = 0;
    this.#top = 1;
    this.#isInText = false;
    this.#isEscaped = false;
    this.#nameLength = NO_NAME;
    this.#isWithin = false;
    this.#capturing = undefined;
  }

  /** Whether the document is an array of documents. */
  get isList(): boolean {
    return this.#top === 2;
  }

  /** Goes on with the next piece. */
  scan(bytes: Buffer): void {
    const to = bytes.length;
    let valueFrom = 0;
    let at = 0;
    while (at < to) {
      if (this.#isInText) {
        at = this.#skipText(bytes, at);
        continue;
      }
      const byte = bytes[at] ?? 0;
      switch (byte) {
        case QUOTE:
          this.#isInText = true;
          this.#nameLength = this.#hasNames() ? 0 : NO_NAME;
          break;
        case COLON: {
          if (this.#capturing !== undefined || this.#nameLength > LONGEST_NAME) break;
          const found = this.#named();
          if (found === undefined) break;
          this.#capturing = found;
          this.#captureDepth = this.#depth;
          this.#keptLength = 0;
          valueFrom = at + 1;
          break;
        }
        case COMMA:
          if (this.#capturing !== undefined && this.#depth === this.#captureDepth) this.#end(bytes, valueFrom, at);
          this.#nameLength = NO_NAME;
          break;
        case BRACE_OPEN:
        case BRACKET_OPEN:
          this.#open(byte);
          break;
        case BRACE_CLOSE:
        case BRACKET_CLOSE:
          if (this.#capturing !== undefined && this.#depth === this.#captureDepth) this.#end(bytes, valueFrom, at);
          this.#close();
      }
      at++;
    }
    if (this.#capturing !== undefined) this.#keep(bytes, valueFrom, to);
  }

  /** Whether a text that begins here may be a name that is looked for. */
  #hasNames(): boolean {
    return this.#depth === this.#top || (this.#isWithin && this.#depth === this.#top + 1);
  }

  /** Goes on in a text; returns where it ends, or the piece does. */
  #skipText(bytes: Buffer, from: number): number {
    const to = bytes.length;
    const near = Math.min(to, from + SHORT_TEXT);
    for (let at = from; at < near; at++) {
      const byte = bytes[at] ?? 0;
      if (this.#isEscaped) this.#isEscaped = false;
      else if (byte === QUOTE) {
        this.#isInText = false;
        return at + 1;
      } else if (byte === BACKSLASH) this.#isEscaped = true;
      if (this.#nameLength < LONGEST_NAME) this.#name[this.#nameLength] = byte;
      if (this.#nameLength <= LONGEST_NAME) this.#nameLength++;
    }
    return near === to ? to : this.#skipLongText(bytes, near);
  }

  #skipLongText(bytes: Buffer, from: number): number {
    const to = bytes.length;
    this.#nameLength = NO_NAME;
    let begin = from;
    if (this.#isEscaped) {
      this.#isEscaped = false;
      begin++;
    }
    while (begin < to) {
      const quote = bytes.indexOf(QUOTE, begin);
      const end = quote === -1 ? to : quote;
      let slashes = 0;
      while (end - slashes > begin && bytes[end - slashes - 1] === BACKSLASH) slashes++;
      const isEscaped = slashes % 2 === 1;
      if (end === to) {
        this.#isEscaped = isEscaped;
        return to;
      }
      if (!isEscaped) {
        this.#isInText = false;
        return end + 1;
      }
      begin = end + 1;
    }
    return to;
  }

  /** Which member the text before a colon names. */
  #named(): FoundMember | undefined {
    const { usage, model } = this.#wanted;
    const isFirst = this.#depth !== this.#top;
    if (this.#isNamed(usage)) return isFirst ? "first usage" : "usage";
    return this.#isNamed(model) ? "model" : undefined;
  }

  #isNamed(name: Buffer): boolean {
    if (this.#nameLength !== name.length) return false;
    for (let i = 0; i < name.length; i++) if (this.#name[i] !== name[i]) return false;
    return true;
  }

  #open(byte: number): void {
    if (this.#depth === 0) this.#top = byte === BRACKET_OPEN ? 2 : 1;
    const { within } = this.#wanted;
    if (this.#depth === this.#top) this.#isWithin = within !== undefined && this.#isNamed(within);
    this.#depth++;
    this.#nameLength = NO_NAME;
  }

  #close(): void {
    if (this.#depth > 0) this.#depth--;
    this.#nameLength = NO_NAME;
  }

  #end(bytes: Buffer, from: number, to: number): void {
    const found = this.#capturing;
    if (found === undefined) return;
    if (this.#keptLength > 0) this.#keep(bytes, from, to);
    this.#capturing = undefined;
    const length = this.#keptLength > 0 ? this.#keptLength : to - from;
    if (length > LONGEST_VALUE) this.#onFound(found, undefined);
    else if (this.#keptLength > 0) this.#onFound(found, this.#kept?.toString("utf8", 0, length));
    else this.#onFound(found, bytes.toString("utf8", from, to));
  }

  #keep(bytes: Buffer, from: number, to: number): void {
    this.#kept ??= Buffer.alloc(LONGEST_VALUE);
    const length = this.#keptLength + to - from;
    if (length <= LONGEST_VALUE) bytes.copy(this.#kept, this.#keptLength, from, to);
    this.#keptLength = Math.min(length, LONGEST_VALUE + 1);
  }
}
