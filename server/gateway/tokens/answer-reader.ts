import type { Dialect } from "../../../domain/access/key-record.ts";
import {
  type AnswerEnding,
  type AnswerUsage,
  disjointTokens,
  NO_TOKENS,
  noteUsage,
  type ReportedFigures,
} from "../../../domain/usage/tokens.ts";
import { type FoundMember, MemberScanner } from "./member-scanner.ts";

const NEWLINE = 0x0a;
const USAGE = Buffer.from("usage");

/**
 * Reads the usage that one answer reports, from its bytes as they pass. Of an event stream only those lines are looked into
 * that have the word, and those that come in several pieces. It holds a few kilobytes and takes any bytes.
 */
export class AnswerReader {
  readonly #dialect: Dialect;
  readonly #isEvents: boolean;
  readonly #scanner: MemberScanner;
  readonly #reported: ReportedFigures = {};
  /** How often usage was reported, and whether it was by the end. */
  #times = 0;
  #isLast = false;
  #isDoubtful = false;
  #model: string | undefined;
  /** Of the event that is being read. */
  #eventModel: string | undefined;
  #eventReports = false;
  #isInLine = false;

  /** @param isEvents whether the answer is an event stream; else it is JSON */
  constructor(dialect: Dialect, isEvents: boolean) {
    this.#dialect = dialect;
    this.#isEvents = isEvents;
    this.#scanner = new MemberScanner(dialect, (member, json) => this.#note(member, json));
  }

  /** Takes the next piece. */
  push(bytes: Buffer): void {
    if (this.#isEvents) this.#pushLines(bytes);
    else this.#scanner.scan(bytes);
  }

  /** @param isWhole whether the answer has come to its end */
  end(isWhole: boolean): AnswerUsage {
    this.#endEvent();
    const { tokens, fits } = disjointTokens(this.#dialect, this.#reported);
    // A document says it once; what a stream says again counts instead.
    const isTwice = this.#times > 1 && !this.#isEvents && !this.#scanner.isList;
    return {
      tokens: this.#times > 0 ? tokens : NO_TOKENS,
      model: this.#model,
      ending: this.#ending(isWhole),
      isDoubtful: this.#isDoubtful || !fits || isTwice,
    };
  }

  #ending(isWhole: boolean): AnswerEnding {
    if (this.#times === 0) return isWhole ? "unreported" : "cut";
    // Gemini reports it in every piece, Anthropic first and last, OpenAI at the end alone.
    return (this.#dialect === "gemini" ? isWhole : this.#isLast) ? "reported" : "cut";
  }

  #pushLines(bytes: Buffer): void {
    let at = 0;
    if (this.#isInLine) {
      const end = bytes.indexOf(NEWLINE);
      this.#scanner.scan(end === -1 ? bytes : bytes.subarray(0, end));
      if (end === -1) return;
      this.#endEvent();
      at = end + 1;
    }
    const last = bytes.lastIndexOf(NEWLINE);
    while (at <= last) {
      const usage = bytes.indexOf(USAGE, at);
      if (usage === -1 || usage > last) break;
      const end = bytes.indexOf(NEWLINE, usage);
      this.#scanner.scan(bytes.subarray(Math.max(at, bytes.lastIndexOf(NEWLINE, usage) + 1), end));
      this.#endEvent();
      at = end + 1;
    }
    this.#isInLine = last + 1 < bytes.length;
    if (this.#isInLine) this.#scanner.scan(bytes.subarray(Math.max(at, last + 1)));
  }

  #endEvent(): void {
    if (this.#eventReports) this.#model = this.#eventModel ?? this.#model;
    this.#eventModel = undefined;
    this.#eventReports = false;
    this.#isInLine = false;
    if (this.#isEvents) this.#scanner.reset();
  }

  #note(member: FoundMember, json: string | undefined): void {
    const value = parsed(json);
    if (member === "model") {
      this.#eventModel = typeof value === "string" ? value : undefined;
      return;
    }
    // Each piece of a stream whose usage comes at its end says null.
    if (value === null) return;
    this.#times++;
    this.#isLast ||= member === "usage" || this.#dialect === "openai";
    this.#eventReports = true;
    if (!noteUsage(this.#reported, this.#dialect, value)) this.#isDoubtful = true;
  }
}

/** Undefined for what is no JSON. */
function parsed(json: string | undefined): unknown {
  if (json === undefined) return undefined;
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
