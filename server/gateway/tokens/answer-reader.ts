import type { Dialect } from "../../../domain/access/key-record.ts";
import {
  type AnswerEnding,
  type AnswerUsage,
  disjointTokens,
  noteUsage,
  type ReportedFigures,
} from "../../../domain/usage/tokens.ts";
import { type FoundMember, MemberScanner } from "./member-scanner.ts";

const NEWLINE = 0x0a;
const USAGE = Buffer.from("usage");
/** What follows the word where a usage is to come yet, and ends a member. */
const NULL = Buffer.from('":null');
const ENDS = Buffer.from(",}");

/** The JSON of a member, undefined where it is too long; nothing for one that was not found. */
type Found = { readonly json: string | undefined } | undefined;

/**
 * Reads the usage that one answer reports, from its bytes as they pass. Of an event stream only those lines are looked into
 * that have the word, and those that come in several pieces. It holds a few kilobytes and takes any bytes.
 */
export class AnswerReader {
  readonly #dialect: Dialect;
  readonly #isEvents: boolean;
  readonly #scanner: MemberScanner;
  /** What was reported last in each of its two places: as JSON, which is parsed at the end. */
  #first: Found;
  #last: Found;
  /** How often usage was reported. */
  #times = 0;
  #model: Found;
  /** Of the event that is being read. */
  #eventModel: Found;
  #eventReports = false;
  #isInLine = false;
  /** Bytes. */
  #length = 0;

  /** @param isEvents whether the answer is an event stream; else it is JSON */
  constructor(dialect: Dialect, isEvents: boolean) {
    this.#dialect = dialect;
    this.#isEvents = isEvents;
    this.#scanner = new MemberScanner(dialect, (member, json) => this.#note(member, json));
  }

  /** Takes the next piece. */
  push(bytes: Buffer): void {
    this.#length += bytes.length;
    if (this.#isEvents) this.#pushLines(bytes);
    else this.#scanner.scan(bytes);
  }

  /** The most tokens that may be written by now: bytes of a stream; of another answer all, since it begins once it is. */
  get mostWritten(): number {
    return this.#isEvents || this.#scanner.isList ? this.#length : Number.POSITIVE_INFINITY;
  }

  /** @param isWhole whether the answer has come to its end */
  end(isWhole: boolean): AnswerUsage {
    this.#endEvent();
    const reported: ReportedFigures = {};
    let isSound = true;
    for (const found of [this.#first, this.#last]) {
      if (found !== undefined && !noteUsage(reported, this.#dialect, parsed(found))) isSound = false;
    }
    const { tokens, fits } = disjointTokens(this.#dialect, reported);
    const model = this.#model && parsed(this.#model);
    // A document says it once; what a stream says again counts instead.
    const isTwice = this.#times > 1 && !this.#isEvents && !this.#scanner.isList;
    return {
      tokens,
      model: typeof model === "string" ? model : undefined,
      // No call uses nothing: some upstreams write zeros until they know.
      ending: this.#ending(isWhole, !isSound || Object.values(reported).some((figure) => figure > 0)),
      isDoubtful: !isSound || !fits || isTwice,
    };
  }

  #ending(isWhole: boolean, saysAny: boolean): AnswerEnding {
    if (!saysAny) return isWhole ? "unreported" : "cut";
    // Gemini reports it in every piece, Anthropic first and last, OpenAI at the end alone.
    const isFinal = this.#dialect === "gemini" ? isWhole : this.#last !== undefined || this.#dialect === "openai";
    return isFinal ? "reported" : "cut";
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
    let from = at;
    while (from <= last) {
      const usage = bytes.indexOf(USAGE, from);
      if (usage === -1 || usage > last) break;
      // Each event of a stream whose usage comes at its end says null, and nothing else of it.
      from = usage + USAGE.length;
      if (isNull(bytes, from)) continue;
      const end = bytes.indexOf(NEWLINE, usage);
      this.#scanner.scan(bytes.subarray(Math.max(at, bytes.lastIndexOf(NEWLINE, usage) + 1), end));
      this.#endEvent();
      at = end + 1;
      from = at;
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
    const found = { json };
    if (member === "model") {
      this.#eventModel = found;
      return;
    }
    if (json?.trim() === "null") return;
    this.#times++;
    this.#eventReports = true;
    if (member === "usage") this.#last = found;
    else this.#first = found;
  }
}

/** Undefined for what is too long, or no JSON. */
function parsed({ json }: { readonly json: string | undefined }): unknown {
  if (json === undefined) return undefined;
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

/** Whether a usage is null, from behind its name on. */
function isNull(bytes: Buffer, from: number): boolean {
  for (let i = 0; i < NULL.length; i++) if (bytes[from + i] !== NULL[i]) return false;
  return ENDS.includes(bytes[from + NULL.length] ?? 0);
}
