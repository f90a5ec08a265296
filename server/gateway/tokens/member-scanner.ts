/**
 * Longer than most files: one state machine over bytes, which may be split between any two of them.
 */
import type { Dialect } from "../../../domain/access/key-record.ts";

/** Member of the document in which the usage may stand. */
type Inner = {
  readonly name: Buffer;
  /**
   * Levels between the document and the members in it: two if it is a list of objects, or has one in it; none if only
   * the objects of a list are counted.
   */
  readonly levels: 0 | 1 | 2;
  /** True if the model may stand there too. */
  readonly hasModel: boolean;
};

/** Names of members that are looked for: those of the document itself, and of objects in it. */
type ScannedMembers = {
  readonly usage: Buffer;
  readonly model: Buffer;
  readonly inner: readonly Inner[];
  /** Other names of the usage, and of the model. */
  readonly usageToo?: readonly Buffer[];
  readonly modelToo?: Buffer;
};

const inner = (name: string, levels: Inner["levels"], hasModel: boolean): Inner => ({
  ...{ name: Buffer.from(name), levels, hasModel },
});

/** Documents in which usage stands in places of their own: answers of a format, or results of its batches. */
export type ScannedDocument = Dialect | `${Dialect} batch result`;

const WANTED: Readonly<Record<ScannedDocument, ScannedMembers>> = {
  openai: {
    ...{ usage: Buffer.from("usage"), model: Buffer.from("model") },
    // Of events of responses, of Moonshot's chunks, and of Groq's.
    inner: [inner("response", 1, true), inner("choices", 2, false), inner("x_groq", 1, false)],
  },
  anthropic: {
    ...{ usage: Buffer.from("usage"), model: Buffer.from("model"), inner: [inner("message", 1, true)] },
  },
  gemini: { usage: Buffer.from("usageMetadata"), model: Buffer.from("modelVersion"), inner: [] },
  "openai batch result": {
    ...{ usage: Buffer.from("usage"), model: Buffer.from("model"), inner: [inner("response", 2, true)] },
  },
  "anthropic batch result": {
    ...{ usage: Buffer.from("usage"), model: Buffer.from("model"), inner: [inner("result", 2, true)] },
  },
  "gemini batch result": {
    ...{ usage: Buffer.from("usageMetadata"), model: Buffer.from("modelVersion"), inner: [inner("response", 1, true)] },
    // `tokenCount` is that of a text that was embedded; some proxies write Google's other spelling of names.
    usageToo: ["tokenCount", "usage_metadata", "token_count"].map((name) => Buffer.from(name)),
    modelToo: Buffer.from("model_version"),
  },
};

/** Member that was found; `inner usage` is the usage of an object within, such as Anthropic reports first. */
export type FoundMember = "usage" | "inner usage" | "model";

/**
 * Called with the value as JSON, in bytes that it may read until it returns; undefined for a value that is too long.
 */
type OnFound = (member: FoundMember, bytes: Buffer | undefined, from: number, to: number) => void;

/** Wanted name that a text is; undefined for any other text. */
type Name = "usage" | "model" | Inner | undefined;

/** Bytes of a name at most: no name that is looked for is longer. */
const LONGEST_NAME = 16;
/** Bytes of a usage or of a model's name at most: 250 of Anthropic's iterations are shorter. */
const LONGEST_VALUE = 65_536;
/** Bytes that are allocated at first for a value that comes in pieces. */
const USUAL_VALUE = 2_048;
/** Bytes of a text that are looked at one by one, before the platform searches for its end. */
const SHORT_TEXT = 32;

const TAB = 0x09;
const NEWLINE = 0x0a;
const RETURN = 0x0d;
const SPACE = 0x20;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const COMMA = 0x2c;
const BRACE_OPEN = 0x7b;
const BRACE_CLOSE = 0x7d;
const BRACKET_OPEN = 0x5b;
const BRACKET_CLOSE = 0x5d;

/** 1 for bytes that are part of JSON's structure. */
const STRUCTURE = new Uint8Array(256);
for (const byte of [QUOTE, COLON, COMMA, BRACE_OPEN, BRACE_CLOSE, BRACKET_OPEN, BRACKET_CLOSE]) STRUCTURE[byte] = 1;

/**
 * Finds the usage and the model in JSON that comes in pieces, by the depth at which they stand, so that what a model
 * has written is never taken for them. It holds as much as a usage has, 64 KiB at most, however long the document, and
 * takes any bytes.
 */
export class MemberScanner {
  readonly #wanted: ScannedMembers;
  readonly #onFound: OnFound;
  #depth = 0;
  /** Depth of the document's members: one more in an array of documents. */
  #top = 1;
  #isInText = false;
  #isEscaped = false;
  /** True if the text that began last may be a name that is looked for; below, that name, once it has ended. */
  #mayBeName = false;
  #name: Name;
  /** Bytes of such a text from earlier pieces, and their number, which exceeds the buffer if the text is no name. */
  #part: Buffer | undefined;
  #partLength = 0;
  /** Member whose object is open below the document, if it is looked into. */
  #inner: Inner | undefined;
  /** Objects of the list that is counted. */
  #objects = 0;
  #capturing: FoundMember | undefined;
  #captureDepth = 0;
  /** Bytes of a value that began in an earlier piece. */
  #kept: Buffer | undefined;
  #keptLength = 0;

  /** @param list name of the document's list whose objects are counted; undefined for none */
  constructor(document: ScannedDocument, onFound: OnFound, list?: string) {
    const wanted = WANTED[document];
    this.#wanted = list === undefined ? wanted : { ...wanted, inner: [...wanted.inner, inner(list, 0, false)] };
    this.#onFound = onFound;
  }

  /** Begins with the next document. */
  reset(): void {
    this.#depth = 0;
    this.#top = 1;
    this.#isInText = false;
    this.#isEscaped = false;
    this.#name = undefined;
    this.#inner = undefined;
    this.#capturing = undefined;
  }

  /** Number of objects in the list that is counted. */
  get objects(): number {
    return this.#objects;
  }

  /** True if the document is an array of documents. */
  get isList(): boolean {
    return this.#top === 2;
  }

  /** Scans the next piece. */
  scan(bytes: Buffer): void {
    const to = bytes.length;
    let valueFrom = 0;
    let at = this.#isInText ? this.#goOnInText(bytes, 0) : 0;
    while (at < to) {
      at = nextOfStructure(bytes, at);
      const byte = bytes[at];
      switch (byte) {
        case undefined:
          break;
        case QUOTE:
          this.#mayBeName = this.#hasNames();
          this.#partLength = 0;
          at = this.#goOnInText(bytes, at + 1);
          continue;
        case COLON: {
          if (this.#capturing !== undefined || typeof this.#name !== "string") break;
          const isInner = this.#name === "usage" && this.#depth !== this.#top;
          this.#capturing = isInner ? "inner usage" : this.#name;
          this.#captureDepth = this.#depth;
          this.#keptLength = 0;
          valueFrom = at + 1;
          break;
        }
        case COMMA:
          if (this.#capturing !== undefined && this.#depth === this.#captureDepth) this.#end(bytes, valueFrom, at);
          this.#name = undefined;
          break;
        case BRACE_OPEN:
        case BRACKET_OPEN:
          if (this.#depth === 0) this.#top = byte === BRACKET_OPEN ? 2 : 1;
          if (byte === BRACE_OPEN && this.#depth === this.#top + 1 && this.#inner?.levels === 0) this.#objects++;
          if (this.#depth === this.#top) this.#inner = typeof this.#name === "object" ? this.#name : undefined;
          this.#depth++;
          this.#name = undefined;
          break;
        default:
          if (this.#capturing !== undefined && this.#depth === this.#captureDepth) this.#end(bytes, valueFrom, at);
          if (this.#depth > 0) this.#depth--;
          this.#name = undefined;
      }
      at++;
    }
    if (this.#capturing !== undefined) this.#keep(bytes, valueFrom, to);
  }

  /** True if a text that begins here may be a name that is looked for. */
  #hasNames(): boolean {
    return this.#depth === this.#top || (this.#inner !== undefined && this.#depth === this.#top + this.#inner.levels);
  }

  /** Goes on in a text; returns the position behind it, or behind the piece. */
  #goOnInText(bytes: Buffer, from: number): number {
    const end = this.#endOfText(bytes, from);
    this.#isInText = end === -1;
    if (end === -1) {
      if (this.#mayBeName) this.#keepName(bytes, from, bytes.length);
      return bytes.length;
    }
    if (!this.#mayBeName) this.#name = undefined;
    else if (this.#partLength === 0) this.#name = this.#nameOf(bytes, from, end);
    else {
      this.#keepName(bytes, from, end);
      this.#name = this.#part && this.#nameOf(this.#part, 0, this.#partLength);
    }
    return end + 1;
  }

  /** Returns the position of the quote that ends a text; -1 if the piece ends before. */
  #endOfText(bytes: Buffer, from: number): number {
    const to = bytes.length;
    let at = this.#isEscaped ? from + 1 : from;
    const near = Math.min(to, at + SHORT_TEXT);
    while (at < near) {
      const byte = bytes[at];
      if (byte === QUOTE) {
        this.#isEscaped = false;
        return at;
      }
      at += byte === BACKSLASH ? 2 : 1;
    }
    while (at < to) {
      const quote = bytes.indexOf(QUOTE, at);
      const end = quote === -1 ? to : quote;
      let slashes = 0;
      while (end - slashes > at && bytes[end - slashes - 1] === BACKSLASH) slashes++;
      if (slashes % 2 === 1) at = end + 1;
      else if (quote === -1) at = to;
      else {
        this.#isEscaped = false;
        return quote;
      }
    }
    // One beyond the piece where a backslash is its last byte.
    this.#isEscaped = at > to;
    return -1;
  }

  #nameOf(bytes: Buffer, from: number, to: number): Name {
    const { usage, model, inner, usageToo, modelToo } = this.#wanted;
    if (isText(usage, bytes, from, to)) return "usage";
    if (usageToo?.some((name) => isText(name, bytes, from, to))) return "usage";
    const isOfDocument = this.#depth === this.#top;
    if (isText(model, bytes, from, to) || (modelToo !== undefined && isText(modelToo, bytes, from, to)))
      return isOfDocument || this.#inner?.hasModel ? "model" : undefined;
    if (isOfDocument) for (const each of inner) if (isText(each.name, bytes, from, to)) return each;
    return undefined;
  }

  #keepName(bytes: Buffer, from: number, to: number): void {
    this.#part ??= Buffer.alloc(LONGEST_NAME);
    const length = this.#partLength + to - from;
    if (length <= LONGEST_NAME) bytes.copy(this.#part, this.#partLength, from, to);
    this.#partLength = Math.min(length, LONGEST_NAME + 1);
  }

  #end(bytes: Buffer, from: number, to: number): void {
    const found = this.#capturing;
    if (found === undefined) return;
    if (this.#keptLength > 0) this.#keep(bytes, from, to);
    this.#capturing = undefined;
    if (this.#keptLength > 0) this.#hand(found, this.#kept, 0, this.#keptLength);
    else this.#hand(found, bytes, from, to);
  }

  #hand(found: FoundMember, bytes: Buffer | undefined, from: number, to: number): void {
    const isTooLong = bytes === undefined || to - from > LONGEST_VALUE;
    if (isTooLong) this.#onFound(found, undefined, 0, 0);
    else this.#onFound(found, bytes, startOfValue(bytes, from, to), endOfValue(bytes, from, to));
  }

  #keep(bytes: Buffer, from: number, to: number): void {
    const length = this.#keptLength + to - from;
    if (length <= LONGEST_VALUE) bytes.copy(this.#bufferFor(length), this.#keptLength, from, to);
    this.#keptLength = Math.min(length, LONGEST_VALUE + 1);
  }

  #bufferFor(length: number): Buffer {
    const kept = this.#kept ?? Buffer.alloc(USUAL_VALUE);
    this.#kept = kept;
    if (length <= kept.length) return kept;
    const larger = Buffer.alloc(Math.min(LONGEST_VALUE, 2 * length));
    kept.copy(larger, 0, 0, this.#keptLength);
    this.#kept = larger;
    return larger;
  }
}

/** Returns the position of the next byte that is part of the structure; the length if there is none. */
function nextOfStructure(bytes: Buffer, from: number): number {
  let at = from;
  while (at < bytes.length && STRUCTURE[bytes[at] as number] === 0) at++;
  return at;
}

function isText(text: Buffer, bytes: Buffer, from: number, to: number): boolean {
  if (to - from !== text.length) return false;
  for (let i = 0; i < text.length; i++) if (bytes[from + i] !== text[i]) return false;
  return true;
}

function startOfValue(bytes: Buffer, from: number, to: number): number {
  let at = from;
  while (at < to && isBlank(bytes[at])) at++;
  return at;
}

function endOfValue(bytes: Buffer, from: number, to: number): number {
  let at = to;
  while (at > from && isBlank(bytes[at - 1])) at--;
  return at;
}

/** True for a byte that JSON may have around a value. */
function isBlank(byte = 0): boolean {
  return byte === SPACE || byte === TAB || byte === NEWLINE || byte === RETURN;
}
