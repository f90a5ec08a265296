import type { Dialect } from "../../../domain/access/key-record.ts";
import { type AnswerUsage, addTokens, NO_TOKENS } from "../../../domain/usage/tokens.ts";
import { AnswerReader } from "./answer-reader.ts";

const NEWLINE = 0x0a;
const BRACE_OPEN = 0x7b;
/** Blanks that a line may begin with. */
const BLANKS: ReadonlySet<number | undefined> = new Set([0x09, 0x0d, 0x20]);
/** Bytes of a result that reports usage, at least: shorter ones are not read, so that many of them cost little. */
export const SHORTEST = 48;
/** Models at most; the usage of others counts under no name. */
const MOST_MODELS = 64;

/** Reads what the requests of a batch have used, from its results as they pass: from lines, or from each by itself. */
export class BatchResults {
  readonly #dialect: Dialect;
  #line: AnswerReader | undefined;
  /** True if a line has begun with something other than blanks. */
  #hasBegun = false;
  #isUnreadable = false;
  readonly #used = new Map<string | undefined, AnswerUsage>();

  constructor(dialect: Dialect) {
    this.#dialect = dialect;
  }

  /** Takes the next piece. */
  push(bytes: Buffer): void {
    let at = 0;
    for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, at)) {
      this.#begin(bytes, at, end);
      if (this.#line !== undefined || end - at >= SHORTEST) this.read(bytes.subarray(at, end));
      this.endResult();
      this.#hasBegun = false;
      at = end + 1;
    }
    this.#begin(bytes, at, bytes.length);
    this.read(bytes.subarray(at));
  }

  /** True if there was a line that is no object: what the results report is not known then. */
  get isUnreadable(): boolean {
    return this.#isUnreadable;
  }

  /** Returns what was used, as one answer of each model. A request that failed, or came to no answer, used nothing. */
  end(): readonly AnswerUsage[] {
    this.endResult();
    return [...this.#used.values()];
  }

  /** True if a part of a result was read, and its end is yet to come. */
  get isInResult(): boolean {
    return this.#line !== undefined;
  }

  /** Takes the next piece of a result. */
  read(bytes: Buffer): void {
    if (bytes.length === 0) return;
    this.#line ??= new AnswerReader(this.#dialect, false, undefined, `${this.#dialect} batch result`);
    this.#line.push(bytes);
  }

  /** Ends a result. */
  endResult(): void {
    const read = this.#line?.end(true);
    this.#line = undefined;
    if (read === undefined || (!read.isDoubtful && Object.values(read.tokens).every((count) => count === 0))) return;
    const model = this.#used.has(read.model) || this.#used.size < MOST_MODELS ? read.model : undefined;
    const before = this.#used.get(model);
    const tokens = { ...(before?.tokens ?? NO_TOKENS) };
    addTokens(tokens, read.tokens);
    const isDoubtful = read.isDoubtful || before?.isDoubtful === true;
    this.#used.set(model, { tokens, model, ending: "reported", isDoubtful });
  }

  #begin(bytes: Buffer, from: number, to: number): void {
    if (this.#hasBegun) return;
    let at = from;
    while (at < to && BLANKS.has(bytes[at])) at++;
    if (at === to) return;
    this.#hasBegun = true;
    this.#isUnreadable ||= bytes[at] !== BRACE_OPEN;
  }
}
