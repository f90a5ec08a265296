/** Longer than some files: one state machine over bytes, which may be split between any two of them. */
import type { KeptKind } from "../../../domain/access/gateway-operations.ts";
import { LONGEST_ID } from "./reference-scan.ts";

/** Places of ids in a document: members by name, elements of a list by `*`, and the kind of an id at its end. */
export type IdPlaces = { readonly [member: string]: IdPlaces | KeptKind };

/** Bytes of a name at most. */
const LONGEST_NAME = 32;
/** Levels below which nothing is looked for. */
const DEEPEST = 8;

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

/** Called with an id, decoded. */
type OnId = (kind: KeptKind, id: string) => void;

/** Finds the ids at some places of a JSON document that comes in pieces. It takes any bytes. */
export class IdScanner {
  readonly #places: IdPlaces;
  readonly #onId: OnId;
  #depth = 0;
  /** Places in the objects and lists around the position, by depth; undefined if nothing is looked for. */
  readonly #around: (IdPlaces | undefined)[] = [];
  readonly #areObjects: boolean[] = [];
  /** True if the next text is a member's name. */
  #isName = false;
  /** Place of the next value. */
  #next: IdPlaces | KeptKind | undefined;
  #isInText = false;
  #isEscaped = false;
  /** Text that is kept: a name or an id; undefined for any other. */
  #kept: "name" | KeptKind | undefined;
  #text: Buffer[] = [];
  #textLength = 0;

  constructor(places: IdPlaces, onId: OnId) {
    this.#places = places;
    this.#onId = onId;
    this.#next = places;
  }

  /** True if the last piece ended within what may be an id: a longer text is none. */
  get isInId(): boolean {
    const isLong = this.#textLength > LONGEST_ID;
    return this.#isInText && this.#kept !== undefined && this.#kept !== "name" && !isLong;
  }

  /** Begins with the next document. */
  reset(): void {
    this.#depth = 0;
    this.#isName = false;
    this.#next = this.#places;
    this.#isInText = false;
    this.#isEscaped = false;
    this.#kept = undefined;
  }

  /** Scans the next piece. */
  scan(bytes: Buffer): void {
    // The byte behind a backslash is yet to come.
    if (bytes.length === 0) return;
    let at = this.#isInText ? this.#goOnInText(bytes, 0) : 0;
    while (at < bytes.length) {
      while (at < bytes.length && STRUCTURE[bytes[at] as number] === 0) at++;
      switch (bytes[at]) {
        case undefined:
          break;
        case QUOTE:
          this.#beginText();
          at = this.#goOnInText(bytes, at + 1);
          continue;
        case COMMA:
          this.#beginNext();
          break;
        case BRACE_OPEN:
          this.#open(true);
          break;
        case BRACKET_OPEN:
          this.#open(false);
          break;
        case BRACE_CLOSE:
        case BRACKET_CLOSE:
          if (this.#depth > 0) this.#depth--;
          this.#next = undefined;
          this.#isName = false;
          break;
        default:
      }
      at++;
    }
  }

  #open(isObject: boolean): void {
    const inside = typeof this.#next === "object" && this.#depth < DEEPEST ? this.#next : undefined;
    this.#around[this.#depth] = inside;
    this.#areObjects[this.#depth] = isObject;
    this.#depth++;
    this.#beginNext();
  }

  /** Begins with a member or an element. */
  #beginNext(): void {
    const inside = this.#depth > DEEPEST ? undefined : this.#around[this.#depth - 1];
    const isObject = this.#areObjects[this.#depth - 1] === true;
    this.#isName = isObject;
    this.#next = isObject || inside === undefined ? undefined : placeOf(inside, "*");
  }

  #beginText(): void {
    const isWanted = this.#depth > 0 && this.#depth <= DEEPEST && this.#around[this.#depth - 1] !== undefined;
    if (this.#isName) this.#kept = isWanted ? "name" : undefined;
    else this.#kept = typeof this.#next === "string" ? this.#next : undefined;
    this.#text = [];
    this.#textLength = 0;
    this.#isInText = true;
    this.#isEscaped = false;
  }

  /** Goes on in a text; returns the position behind it, or behind the piece. */
  #goOnInText(bytes: Buffer, from: number): number {
    const end = this.#endOfText(bytes, from);
    if (this.#kept !== undefined) this.#keep(bytes.subarray(from, end === -1 ? bytes.length : end));
    if (end === -1) return bytes.length;
    this.#isInText = false;
    this.#endText();
    return end + 1;
  }

  /** Returns the position of the quote that ends a text; -1 if the piece ends before. */
  #endOfText(bytes: Buffer, from: number): number {
    let at = from;
    if (this.#isEscaped) {
      this.#isEscaped = false;
      at++;
    }
    for (;;) {
      const quote = bytes.indexOf(QUOTE, at);
      const end = quote === -1 ? bytes.length : quote;
      let slashes = 0;
      while (end - slashes > at && bytes[end - slashes - 1] === BACKSLASH) slashes++;
      const isOdd = slashes % 2 === 1;
      if (quote === -1) {
        this.#isEscaped = isOdd;
        return -1;
      }
      if (!isOdd) return quote;
      at = quote + 1;
    }
  }

  #keep(part: Buffer): void {
    this.#textLength += part.length;
    if (this.#textLength <= LONGEST_ID) this.#text.push(Buffer.from(part));
  }

  #endText(): void {
    const kept = this.#kept;
    this.#kept = undefined;
    const isName = this.#isName;
    this.#isName = false;
    if (!isName) this.#next = undefined;
    if (kept === undefined) return;
    if (kept === "name") {
      const inside = this.#around[this.#depth - 1];
      const isShort = this.#textLength <= LONGEST_NAME;
      this.#next = isShort && inside !== undefined ? placeOf(inside, Buffer.concat(this.#text).toString()) : undefined;
      return;
    }
    const id = this.#textLength <= LONGEST_ID ? textOf(Buffer.concat(this.#text).toString()) : undefined;
    if (id !== undefined && id !== "") this.#onId(kept, id);
  }
}

function placeOf(places: IdPlaces, name: string): IdPlaces | KeptKind | undefined {
  return Object.hasOwn(places, name) ? places[name] : undefined;
}

/** Decodes what stands between the quotes of a JSON string; undefined if it is none. */
function textOf(quoted: string): string | undefined {
  if (!quoted.includes("\\")) return quoted;
  try {
    return String(JSON.parse(`"${quoted}"`));
  } catch {
    return undefined;
  }
}
