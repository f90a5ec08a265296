/** Longer than most files: one state machine over bytes, which may be split between any two of them. */
import type { AnswerUsage } from "../../../domain/usage/tokens.ts";
import { foldedName } from "../model/model-members.ts";
import { BatchResults, SHORTEST } from "./batch-results.ts";

/** Members of a description of a batch that hold its results, by their folded names. */
const RESULTS: ReadonlySet<string> = new Set(["inlinedresponses", "inlinedembedcontentresponses"]);
/** Member that repeats the requests of a batch, which may be as long. */
const REQUESTS = "requests";
/** Bytes of a name at most, escapes included, and at least: none that is looked for is longer, or shorter. */
const LONGEST_NAME = 256;
const SHORTEST_NAME = REQUESTS.length;
/** Escape in a text that may stand for a letter, and the number of its character. */
const ESCAPE = /\\u([\da-f]{4})/gi;
/** Arrays and objects around a result at most. */
const MOST_AROUND = 16;
/** Value in place of what was taken out. */
const NOTHING = Buffer.from("{}");

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

/** Meaning of a member's name: its value is taken out, and may be read for what was used. */
type Meaning = "results" | "requests" | undefined;

/**
 * Takes the results out of descriptions of Gemini's batches as they pass, however long these are, and reads what they
 * have used. A description may have the same results in two places: the place counts that reports most.
 */
export class InlinedResults {
  readonly #keep: (bytes: Buffer) => void;
  readonly #counts: boolean;
  /** Usage of the place that reports most, and how much that is; -1 if there was no place. */
  #used: readonly AnswerUsage[] = [];
  #most = -1;
  #hasAny = false;
  /** Results of the place that is being read; undefined outside of one. */
  #place: BatchResults | undefined;
  #isInText = false;
  #isEscaped = false;
  /** Bytes of earlier pieces of a text that may be a name; undefined if it is none. */
  #part: Buffer | undefined;
  /** Meaning of the text that ended last; below, that of the member whose value comes. */
  #named: Meaning;
  #member: Meaning;
  /** Depth within the value that is taken out; 0 outside of one. */
  #depth = 0;
  /** Arrays and objects around the next result, each true for an array. */
  readonly #around: boolean[] = [];
  #isInResult = false;
  #isUnreadable = false;

  /**
   * @param keep takes what is left of the descriptions, in bytes that it may read until it returns
   * @param counts true if the results are read for what they have used
   */
  constructor(keep: (bytes: Buffer) => void, counts: boolean) {
    this.#keep = keep;
    this.#counts = counts;
  }

  /** True if there were results that were read. */
  get hasAny(): boolean {
    return this.#hasAny;
  }

  /** True if results are nested in a way that is not read, or are a text. */
  get isUnreadable(): boolean {
    return this.#isUnreadable;
  }

  /** Usage of all results, as one answer of each model. */
  get used(): readonly AnswerUsage[] {
    return this.#used;
  }

  /** Takes the next piece. */
  push(bytes: Buffer): void {
    const to = bytes.length;
    let keptFrom = 0;
    let readFrom = 0;
    let at = this.#isInText ? this.#goOnInText(bytes, 0) : 0;
    for (; at < to && !this.#isUnreadable; at++) {
      while (at < to && STRUCTURE[bytes[at] as number] === 0) at++;
      switch (bytes[at]) {
        case undefined:
          break;
        case QUOTE:
          this.#isUnreadable = this.#depth === 0 && this.#member === "results";
          this.#part = undefined;
          this.#isInText = true;
          // The loop goes on behind the quote that ends it.
          at = this.#goOnInText(bytes, at + 1) - 1;
          break;
        case COLON:
          this.#member = this.#named;
          break;
        case COMMA:
          this.#member = undefined;
          break;
        case BRACE_OPEN:
        case BRACKET_OPEN:
          if (this.#depth === 0 && this.#member !== undefined) {
            this.#keep(bytes.subarray(keptFrom, at));
            this.#keep(NOTHING);
            if (this.#member === "results" && this.#counts) this.#place = new BatchResults("gemini");
          } else if (this.#depth === 0) break;
          if (this.#open(bytes[at] === BRACKET_OPEN)) readFrom = at;
          break;
        default:
          this.#member = undefined;
          if (this.#depth === 0) break;
          this.#depth--;
          if (!this.#isInResult) this.#around.pop();
          else if (this.#depth === this.#around.length) this.#endResult(bytes.subarray(readFrom, at + 1));
          if (this.#depth > 0) break;
          this.#endPlace();
          keptFrom = at + 1;
      }
    }
    if (this.#isInResult) this.#place?.read(bytes.subarray(readFrom));
    else if (this.#depth === 0) this.#keep(bytes.subarray(keptFrom));
  }

  /** Opens an array or an object within what is taken out; returns true if a result begins. */
  #open(isArray: boolean): boolean {
    this.#depth++;
    if (this.#isInResult) return false;
    if (!isArray && this.#around.at(-1) === true) {
      this.#isInResult = true;
      return true;
    }
    this.#around.push(isArray);
    this.#isUnreadable = this.#around.length > MOST_AROUND;
    return false;
  }

  #endResult(rest: Buffer): void {
    this.#isInResult = false;
    if (this.#place === undefined) return;
    this.#hasAny = true;
    if (!this.#place.isInResult && rest.length < SHORTEST) return;
    this.#place.read(rest);
    this.#place.endResult();
  }

  #endPlace(): void {
    const used = this.#place?.end();
    this.#place = undefined;
    if (used === undefined) return;
    const sum = used.flatMap(({ tokens }) => Object.values(tokens)).reduce((all, count) => all + count, 0);
    if (sum <= this.#most) return;
    this.#most = sum;
    this.#used = used;
  }

  /** Goes on in a text; returns the position behind it, or behind the piece. */
  #goOnInText(bytes: Buffer, from: number): number {
    const end = this.#endOfText(bytes, from);
    this.#isInText = end === -1;
    const to = end === -1 ? bytes.length : end;
    // Only names outside of what is taken out mean anything.
    const length = this.#depth > 0 ? LONGEST_NAME + 1 : (this.#part?.length ?? 0) + to - from;
    const isName = length <= LONGEST_NAME && (end === -1 || length >= SHORTEST_NAME);
    const name = isName ? Buffer.concat([this.#part ?? NO_BYTES, bytes.subarray(from, to)]) : undefined;
    this.#part = end === -1 ? (name ?? TOO_LONG) : undefined;
    if (end !== -1) this.#named = name && meaningOf(name);
    return to + 1;
  }

  /** Returns the position of the quote that ends a text; -1 if the piece ends before. */
  #endOfText(bytes: Buffer, from: number): number {
    if (from >= bytes.length) return -1;
    let at = this.#isEscaped ? from + 1 : from;
    // A search for the next quote costs more where a text has many.
    for (; at < bytes.length && bytes[at] !== QUOTE; at++) if (bytes[at] === BACKSLASH) at++;
    // One beyond the piece where a backslash is its last byte.
    this.#isEscaped = at > bytes.length;
    return at < bytes.length ? at : -1;
  }
}

/** @param bytes bytes of a member's name, without its quotes */
function meaningOf(bytes: Buffer): Meaning {
  const text = bytes.toString().replace(ESCAPE, (_, code) => String.fromCharCode(Number.parseInt(code, 16)));
  const name = foldedName(text);
  return RESULTS.has(name) ? "results" : name === REQUESTS ? "requests" : undefined;
}

const NO_BYTES = Buffer.alloc(0);
/** Stands for a text that is longer than any name. */
const TOO_LONG = Buffer.alloc(LONGEST_NAME + 1);
