/**
 * Walks over a JSON text byte by byte without parsing it: in slices of counted steps, without recursion, and without
 * decoding anything. The work is linear in the body's length, whatever the body is made of.
 */

/**
 * Fault of a body that cannot be read unambiguously, or exceeds a bound. The message says why, and quotes nothing of
 * the body.
 */
export class BodyFault extends Error {}

export function malformed(): BodyFault {
  return new BodyFault("The body is not valid JSON.");
}

/** Bounds of a body. */
export type JsonBounds = {
  /** Maximum number of members and elements of the whole body, together. */
  readonly values: number;
  /** Maximum nesting of objects and arrays. */
  readonly depth: number;
};

/**
 * Callbacks that look at a body while it is scanned. A context is what a visitor knows of a position. Within an
 * undefined context the visitor is not called.
 */
export type JsonVisitor<Context> = {
  /** Called when an object or an array begins; returns the context of its members or elements. */
  readonly open: (context: Context, isObject: boolean) => Context | undefined;
  /**
   * Called with a member's name, quotes included; returns the context of its value. Throws a {@link BodyFault} to
   * refuse the body.
   */
  readonly member: (object: Context, start: number, end: number) => Context | undefined;
  /** Called with a string, quotes included, or with a literal. */
  readonly scalar: (context: Context, start: number, end: number) => void;
};

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;

/** States of a scanner: what it looks for next, or, from {@link NAME} on, the token that its position is within. */
const VALUE = 0;
const FIRST_ELEMENT = 1;
const ELEMENT = 2;
const FIRST_MEMBER = 3;
const MEMBER = 4;
const SEPARATOR = 5;
const NEXT = 6;
const END = 7;
const NAME = 8;
const STRING = 9;
const LITERAL = 10;

/** Number of bytes of a string that are checked one by one. Beyond them a native search is cheaper. */
const NEAR = 32;
/** Cost of a native search in steps: for its call, and a step for each {@link BYTES_A_STEP} bytes. */
const SEARCH_STEPS = 16;
const BYTES_A_STEP = 32;
/** Cost in steps of showing a member's name to the visitor, besides its bytes. */
const MEMBER_STEPS = 32;

/** Scan of a body. A step is a few nanoseconds: a byte that is checked, or a part of a native search. */
export class JsonScanner<Context> {
  readonly #body: Buffer;
  readonly #bounds: JsonBounds;
  readonly #visitor: JsonVisitor<Context>;
  /** Contexts of the objects and arrays around the position. */
  readonly #contexts: (Context | undefined)[] = [];
  readonly #areObjects: boolean[] = [];
  /** Context of the value that is being read. */
  #context: Context | undefined;
  #state = VALUE;
  #at = 0;
  /** Position where the present token begins. */
  #start = 0;
  /**
   * Position of a quote that was found natively, and the position down to which the backslashes before it have been
   * counted.
   */
  #quote = -1;
  #slash = -1;
  #values = 0;
  #left = 0;

  constructor(body: Buffer, bounds: JsonBounds, visitor: JsonVisitor<Context>, context: Context) {
    this.#body = body;
    this.#bounds = bounds;
    this.#visitor = visitor;
    this.#context = context;
  }

  /**
   * Continues for about so many steps: a native search or a visit may exceed them.
   *
   * @returns true if the end of the body was reached
   * @throws BodyFault if the body is not JSON, exceeds a bound, or is refused by the visitor
   */
  run(steps: number): boolean {
    this.#left = steps;
    while (this.#left > 0) {
      if (this.#state >= NAME) this.#token();
      else if (this.#skipSpace()) {
        if (this.#state === END && this.#at === this.#body.length) return true;
        this.#left -= 1;
        this.#structure(this.#body[this.#at]);
      }
    }
    return false;
  }

  /** Handles a byte between names and values. */
  #structure(byte: number | undefined): void {
    const state = this.#state;
    if (state === VALUE) this.#value(byte);
    else if (state === NEXT) this.#next(byte);
    else if (state === SEPARATOR) this.#pass(byte === COLON, VALUE);
    else if (state === FIRST_MEMBER && byte === CLOSE_BRACE) this.#close();
    else if (state === FIRST_ELEMENT && byte === CLOSE_BRACKET) this.#close();
    else if (state === END) throw new BodyFault("The body goes on behind its JSON.");
    else {
      if (++this.#values > this.#bounds.values) {
        throw new BodyFault(`The body has more than ${this.#bounds.values} members and elements.`);
      }
      if (state === FIRST_MEMBER || state === MEMBER) this.#begin(NAME, byte === QUOTE);
      else {
        this.#context = this.#contexts[this.#contexts.length - 1];
        this.#value(byte);
      }
    }
  }

  #next(byte: number | undefined): void {
    const isObject = this.#areObjects[this.#areObjects.length - 1];
    if (byte === (isObject ? CLOSE_BRACE : CLOSE_BRACKET)) this.#close();
    else this.#pass(byte === COMMA, isObject ? MEMBER : ELEMENT);
  }

  #value(byte: number | undefined): void {
    if (byte === QUOTE) this.#begin(STRING, true);
    else if (byte === OPEN_BRACE) this.#open(true);
    else if (byte === OPEN_BRACKET) this.#open(false);
    else {
      this.#begin(LITERAL, byte !== undefined && isLiteralByte(byte));
    }
  }

  #pass(isExpected: boolean, next: number): void {
    if (!isExpected) throw malformed();
    this.#at += 1;
    this.#state = next;
  }

  #begin(token: number, isExpected: boolean): void {
    this.#start = this.#at;
    this.#pass(isExpected, token);
  }

  #open(isObject: boolean): void {
    if (this.#contexts.length >= this.#bounds.depth) {
      throw new BodyFault(`The body is nested more than ${this.#bounds.depth} deep.`);
    }
    const context = this.#context;
    this.#contexts.push(context === undefined ? undefined : this.#visitor.open(context, isObject));
    this.#areObjects.push(isObject);
    this.#pass(true, isObject ? FIRST_MEMBER : FIRST_ELEMENT);
  }

  #close(): void {
    this.#contexts.pop();
    this.#areObjects.pop();
    this.#pass(true, this.#contexts.length === 0 ? END : NEXT);
  }

  /** Continues within a name, a string or a literal, and shows it to the visitor at its end. */
  #token(): void {
    const state = this.#state;
    if (!(state === LITERAL ? this.#skipLiteral() : this.#skipString())) return;
    if (state === NAME) {
      const object = this.#contexts[this.#contexts.length - 1];
      this.#state = SEPARATOR;
      this.#context = undefined;
      if (object === undefined) return;
      this.#left -= MEMBER_STEPS + this.#at - this.#start;
      this.#context = this.#visitor.member(object, this.#start, this.#at);
    } else {
      this.#state = this.#contexts.length === 0 ? END : NEXT;
      if (this.#context !== undefined) this.#visitor.scalar(this.#context, this.#start, this.#at);
    }
  }

  /** Continues within a string. Returns false if the steps are used up before its end. */
  #skipString(): boolean {
    const body = this.#body;
    while (this.#left > 0) {
      if (this.#quote < this.#at) {
        const near = Math.min(this.#at + NEAR, body.length);
        let at = this.#at;
        for (; at < near && body[at] !== QUOTE; at += 1) if (body[at] === BACKSLASH) at += 1;
        this.#left -= NEAR;
        this.#at = at;
        if (at < near) {
          this.#left += near - at;
          this.#at = at + 1;
          return true;
        }
        this.#quote = this.#slash = body.indexOf(QUOTE, at);
        if (this.#quote === -1 || at > body.length) throw malformed();
        this.#left -= SEARCH_STEPS + Math.ceil((this.#quote - at) / BYTES_A_STEP);
      }
      if (this.#endsAtQuote()) return true;
    }
    return false;
  }

  /** True if the found quote ends the string: an even number of backslashes stands before it. */
  #endsAtQuote(): boolean {
    const body = this.#body;
    const stop = Math.max(this.#at, this.#slash - Math.max(this.#left, 0));
    const from = this.#slash;
    while (this.#slash > stop && body[this.#slash - 1] === BACKSLASH) this.#slash -= 1;
    this.#left -= from - this.#slash + 1;
    if (this.#slash === stop && stop > this.#at) return false;
    const isEnd = (this.#quote - this.#slash) % 2 === 0;
    this.#at = this.#quote + 1;
    return isEnd;
  }

  /** Continues within a number, `true`, `false` or `null`. Returns false if the steps are used up before its end. */
  #skipLiteral(): boolean {
    const body = this.#body;
    const stop = this.#at + this.#left;
    const from = this.#at;
    let at = from;
    for (let byte = body[at]; at < stop && byte !== undefined && isLiteralByte(byte); ) byte = body[++at];
    this.#at = at;
    this.#left -= at - from + 1;
    return at < stop;
  }

  /** Skips white space. Returns false if the steps are used up before its end. */
  #skipSpace(): boolean {
    const body = this.#body;
    const stop = this.#at + this.#left;
    const from = this.#at;
    let at = from;
    for (let byte = body[at]; at < stop && isSpace(byte); ) byte = body[++at];
    this.#at = at;
    this.#left -= at - from;
    return at < stop;
  }
}

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

function isLiteralByte(byte: number): boolean {
  const isDigit = byte >= 0x30 && byte <= 0x39;
  const isLowerCase = byte >= 0x61 && byte <= 0x7a;
  return isDigit || isLowerCase || byte === 0x2b || byte === 0x2d || byte === 0x2e || byte === 0x45;
}
