import type { Unit } from "../../../domain/access/gateway-operations.ts";
import type { Dialect } from "../../../domain/access/key-record.ts";
import { parseJson } from "../../../domain/parse-json.ts";
import { disjointTokens } from "../../../domain/usage/disjoint-tokens.ts";
import { noFigures, noteUsage, secondsOf, servingModel } from "../../../domain/usage/reported-figures.ts";
import type { WrittenTokens } from "../../../domain/usage/token-reservation.ts";
import type { AnswerEnding, AnswerUsage } from "../../../domain/usage/tokens.ts";
import { LastUsage } from "./last-usage.ts";
import { type FoundMember, MemberScanner, type ScannedDocument } from "./member-scanner.ts";

const NEWLINE = 0x0a;
/** First byte of a line of `data`, and of no other line of an event. */
const DATA = 0x64;
const USAGE = Buffer.from("usage");
const MODEL = Buffer.from("model");
const NULL = Buffer.from("null");
/** First byte of the data that ends a stream of OpenAI's: `[DONE]`. */
const BRACKET = 0x5b;
/** Bytes behind the word `usage` while the usage is yet to come; below, the bytes that end a member. */
const IS_NULL = Buffer.from('":null');
const ENDS = Buffer.from(",}");
/** JSON values that are no model's name. */
const NO_NAME: ReadonlySet<string> = new Set(["null", '""']);
/**
 * Bytes of replaced usages of an answer that are parsed at most, each usage counted as 256 or more: the cost of a
 * stream is bounded by its bytes, whatever its upstream writes (threats b304).
 */
const MOST_REPLACED = 256 << 10;
const LEAST_COUNTED = 256;

/** Name of the list of images in an answer. */
const IMAGES = "data";

type UsageMember = Exclude<FoundMember, "model">;

/** Takes what an answer reported, and the tokens that its bytes have shown. */
export type OnUsage = (usage: AnswerUsage, written: WrittenTokens) => void;

/**
 * Reads the usage that an answer reports, from its bytes as they pass. Of an event stream it looks only into lines that
 * have the word `usage`, lines that have the word `model` until a line names it, and lines that come in several pieces.
 * It holds as much as a few usages have, and takes any bytes.
 */
export class AnswerReader {
  readonly #dialect: Dialect;
  readonly #isEvents: boolean;
  readonly #unit: Unit | undefined;
  /** True if the usage may be a number alone, the tokens of what was embedded, or have names in snake case. */
  readonly #isGeminiResult: boolean;
  #seconds = 0;
  readonly #scanner: MemberScanner;
  readonly #reported = noFigures();
  /** The last usage, which is not among the figures yet, and the member in which it stood. */
  readonly #last = new LastUsage();
  #lastMember: UsageMember | undefined;
  /** Bytes of replaced usages that may still be parsed; below 0 once a usage was skipped. */
  #replaceable = MOST_REPLACED;
  /** Members whose last usage cannot be true; undefined for none so far. */
  #unsound: Set<UsageMember> | undefined;
  /** Number of times that the document itself reported usage. */
  #times = 0;
  /** Number of events that reported usage, and the position in the answer at which the last of them ends. */
  #reports = 0;
  #reportEnd = 0;
  /** Model as JSON, which is parsed at the end. */
  #model: string | undefined;
  /** Model of the fallback that has served the answer; undefined for none. */
  #servingModel: string | undefined;
  /** Model, as JSON, of the event that is being read. */
  #eventModel: string | undefined;
  #eventReports = false;
  #isInLine = false;
  /** Bytes of the answer so far. */
  #length = 0;
  /** Events with data so far, the position of the last, and whether one was the `[DONE]` that ends a stream. */
  #events = 0;
  #lastEvent = 0;
  #isDone = false;
  /** True if the next byte begins a line. */
  #beginsLine = true;

  /**
   * @param isEvents true if the answer is an event stream; else it is JSON
   * @param unit unit that is counted beside tokens; undefined for none
   * @param document document that the answer is, if it is none of its format's own
   */
  constructor(dialect: Dialect, isEvents: boolean, unit?: Unit, document: ScannedDocument = dialect) {
    this.#dialect = dialect;
    this.#isEvents = isEvents;
    this.#unit = unit;
    this.#isGeminiResult = document === "gemini batch result";
    const list = unit === "images" ? IMAGES : undefined;
    this.#scanner = new MemberScanner(document, (member, bytes, from, to) => this.#note(member, bytes, from, to), list);
  }

  /** Takes the next piece. */
  push(bytes: Buffer): void {
    this.#length += bytes.length;
    if (this.#isEvents) {
      this.#countEvents(bytes);
      this.#pushLines(bytes);
    } else this.#scanner.scan(bytes);
  }

  /**
   * Tokens that may be written by now: one for each event of a stream at least, and one for each byte at most; without a
   * bound for another answer, which begins once all of it is written.
   */
  get written(): WrittenTokens {
    const most = this.#isEvents || this.#scanner.isList ? this.#length : Number.POSITIVE_INFINITY;
    return { least: this.#events, most };
  }

  /** @param isWhole true if the answer has come to its end */
  end(isWhole: boolean): AnswerUsage {
    this.#endEvent(this.#length);
    this.#noteLast();
    const { tokens: disjoint, fits } = disjointTokens(this.#dialect, this.#reported);
    const tokens = this.#unit === undefined ? disjoint : { ...disjoint, [this.#unit]: this.#units(this.#unit) };
    const isSound = this.#unsound === undefined || this.#unsound.size === 0;
    // A document says it once; what a stream says again counts instead, but of images each has its own.
    const isTwice = this.#times > 1 && ((!this.#isEvents && !this.#scanner.isList) || this.#unit === "images");
    return {
      tokens,
      model: this.#servingModel ?? textIn(this.#model),
      // No call uses nothing: some upstreams write zeros until they know.
      ending: this.#ending(isWhole, !isSound || Object.values(tokens).some((count) => count > 0)),
      isDoubtful: !isSound || !fits || isTwice || this.#replaceable < 0,
    };
  }

  #units(unit: Unit): number {
    if (unit === "seconds") return this.#seconds;
    if (unit === "characters") return 0;
    // Each event that reports usage has a whole image.
    return this.#isEvents ? this.#times : this.#scanner.objects;
  }

  #ending(isWhole: boolean, saysAny: boolean): AnswerEnding {
    if (!saysAny) return isWhole ? "unreported" : "cut";
    return this.#isFinal(isWhole) ? "reported" : "cut";
  }

  /** True if the last usage is that of the end: Gemini reports it in every piece, Anthropic first and last. */
  #isFinal(isWhole: boolean): boolean {
    if (this.#dialect === "gemini") return isWhole;
    if (this.#dialect === "anthropic") return this.#times > 0;
    // OpenAI reports it in the last event alone; some upstreams in each event, of the answer so far. An image has its own.
    const isLast = this.#reports === 1 && this.#lastEvent < this.#reportEnd && this.#unit !== "images";
    return isWhole || !this.#isEvents || this.#isDone || isLast;
  }

  #countEvents(bytes: Buffer): void {
    if (this.#beginsLine && bytes[0] === DATA) this.#countEvent(bytes, 0);
    for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, end + 1)) {
      if (bytes[end + 1] === DATA) this.#countEvent(bytes, end + 1);
    }
    if (bytes.length > 0) this.#beginsLine = bytes[bytes.length - 1] === NEWLINE;
  }

  #countEvent(bytes: Buffer, at: number): void {
    this.#events++;
    // All other data is an object.
    if (bytes[at + "data: ".length] === BRACKET || bytes[at + "data:".length] === BRACKET) this.#isDone = true;
    else this.#lastEvent = this.#length - bytes.length + at;
  }

  #pushLines(bytes: Buffer): void {
    let at = 0;
    if (this.#isInLine) {
      const end = bytes.indexOf(NEWLINE);
      this.#scanner.scan(end === -1 ? bytes : bytes.subarray(0, end));
      if (end === -1) return;
      this.#endEvent(this.#length - bytes.length + end);
      at = end + 1;
    }
    const last = bytes.lastIndexOf(NEWLINE);
    let [from, usage, model] = [at, -1, -1];
    while (from <= last) {
      if (usage < from) usage = positionOf(USAGE, bytes, from);
      if (model < from) model = this.#model === undefined ? positionOf(MODEL, bytes, from) : Number.POSITIVE_INFINITY;
      const word = Math.min(usage, model);
      if (word > last) break;
      // Each event of a stream whose usage comes at its end says null, and nothing else of it.
      if (word === usage && isNull(bytes, usage + USAGE.length)) {
        from = usage + USAGE.length;
        continue;
      }
      const end = bytes.indexOf(NEWLINE, word);
      this.#scanner.scan(bytes.subarray(Math.max(at, bytes.lastIndexOf(NEWLINE, word) + 1), end));
      this.#endEvent(this.#length - bytes.length + end);
      at = end + 1;
      from = at;
    }
    this.#isInLine = last + 1 < bytes.length;
    if (this.#isInLine) this.#scanner.scan(bytes.subarray(Math.max(at, last + 1)));
  }

  /** @param end position in the answer behind the event */
  #endEvent(end: number): void {
    // The model of the event with the usage counts; else the first one.
    this.#model = this.#eventReports ? (this.#eventModel ?? this.#model) : (this.#model ?? this.#eventModel);
    if (this.#eventReports) {
      this.#reports++;
      this.#reportEnd = end;
    }
    this.#eventModel = undefined;
    this.#eventReports = false;
    this.#isInLine = false;
    if (this.#isEvents) this.#scanner.reset();
  }

  #note(member: FoundMember, bytes: Buffer | undefined, from: number, to: number): void {
    if (member === "model") {
      const name = bytes?.toString("utf8", from, to);
      if (name !== undefined && !NO_NAME.has(name)) this.#eventModel = name;
      return;
    }
    if (bytes !== undefined && to - from === NULL.length && stands(NULL, bytes, from)) return;
    if (member === "usage") this.#times++;
    this.#eventReports = true;
    const isReplaced = bytes !== undefined && member === this.#lastMember && this.#last.isSaidBy(bytes, from, to);
    if (!isReplaced) this.#noteReplaced();
    if (bytes === undefined) this.#addUnsound(member);
    else {
      this.#last.set(bytes, from, to);
      this.#lastMember = member;
    }
  }

  #noteReplaced(): void {
    if (this.#lastMember === undefined) return;
    this.#replaceable -= Math.max(LEAST_COUNTED, this.#last.length);
    if (this.#replaceable >= 0) this.#noteLast();
    else this.#lastMember = undefined;
  }

  #noteLast(): void {
    const member = this.#lastMember;
    if (member === undefined) return;
    const said = this.#last.parse();
    const usage = this.#isGeminiResult ? usageOfResult(said) : said;
    if (this.#unit === "seconds") this.#seconds = secondsOf(usage);
    if (this.#dialect === "anthropic") this.#servingModel = servingModel(usage) ?? this.#servingModel;
    if (noteUsage(this.#reported, this.#dialect, usage)) this.#unsound?.delete(member);
    else this.#addUnsound(member);
    this.#lastMember = undefined;
  }

  #addUnsound(member: UsageMember): void {
    this.#unsound ??= new Set();
    this.#unsound.add(member);
  }
}

/** Returns the usage of a result of a batch of Gemini's under the names of an answer. */
function usageOfResult(said: unknown): unknown {
  if (isNumber(said)) return { promptTokenCount: Number(said) };
  if (typeof said !== "object" || said === null || Array.isArray(said)) return said;
  const inCamelCase = (name: string) => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
  return Object.fromEntries(Object.entries(said).map(([name, value]) => [inCamelCase(name), value]));
}

/** True for a number, and for one in a text, as Google's APIs write large ones. */
function isNumber(value: unknown): boolean {
  return typeof value === "number" || (typeof value === "string" && /^\d{1,18}$/.test(value));
}

/** Returns the text of a JSON string; undefined if it is none. */
function textIn(json = ""): string | undefined {
  const value = parseJson(json);
  return typeof value === "string" ? value : undefined;
}

/** Returns the position of a word that is not before `from`; infinite if there is none. */
function positionOf(word: Buffer, bytes: Buffer, from: number): number {
  const position = bytes.indexOf(word, from);
  return position === -1 ? Number.POSITIVE_INFINITY : position;
}

/** True if a usage is null, read from behind its name on. */
function isNull(bytes: Buffer, from: number): boolean {
  return stands(IS_NULL, bytes, from) && ENDS.includes(bytes[from + IS_NULL.length] ?? 0);
}

function stands(text: Buffer, bytes: Buffer, from: number): boolean {
  for (let i = 0; i < text.length; i++) if (bytes[from + i] !== text[i]) return false;
  return true;
}
