import { isUtf8 } from "node:buffer";
import { GATEWAY_OPERATIONS, type ServedOperation } from "../../../domain/access/gateway-operations.ts";
import { type CallBounds, REFERRED_INPUT } from "../../../domain/usage/token-reservation.ts";
import { NOT_UTF8, refuseFault } from "../../http/bodies/json-body.ts";
import { BodyFault, JsonScanner, type JsonVisitor } from "../../http/bodies/json-scanner.ts";
import { inSlices } from "../../http/bodies/slices.ts";
import { boundaryOf, FormScan } from "../model/form-scan.ts";
import {
  BOUND_NAMES,
  type BoundNames,
  EXTRA_MEMBERS,
  fold,
  ITEM_AUTHOR,
  ITEM_KIND,
  ITEM_REFERENCE,
  mayNameFile,
  type Names,
  namesFile,
  OVERRULING,
  TOOL_SCHEMAS,
} from "./bound-names.ts";

/**
 * Bytes of a name or number at most, with each letter escaped and its quotes: no format has a longer one, and a longer
 * one can hide its meaning.
 */
const LONGEST = 144;
const BODY_BOUNDS = { values: 1_000_000, depth: 256 };
const QUOTE = 0x22;
/** Bounds of an embedding: the model only reads, and what OpenAI's format embeds is all in the body. */
const READ_ALONE: CallBounds = { most: 0, answers: 1, refers: false };

/**
 * Finds how much a body lets a call use: at once, or in a long body once all of it is looked through. If a format has
 * two members for the most tokens of an answer, the larger counts. There is no such bound if the member is there twice,
 * in a spelling that some parsers take for it and others do not, or beside a member that some upstreams take instead:
 * which one an upstream goes by is not known (threats b203). Nor is 0 a bound, since it is none to some (threats b243).
 *
 * @param contentType media type of the body
 * @throws Problem 400 for what is no JSON in UTF-8, or more of it than is read: an upstream that reads it all the same
 *   would do what is not known here (threats b237); 400 for an answer in the background (threats b241); 415 for what is
 *   no form where the operation takes one
 */
export function callBounds(
  operation: ServedOperation,
  body: Buffer,
  contentType?: string,
): CallBounds | Promise<CallBounds> {
  const boundNames = BOUND_NAMES[operation];
  if (boundNames === undefined) return READ_ALONE;
  const { body: kind, usage } = GATEWAY_OPERATIONS[operation];
  if (kind === "json" && !isUtf8(body)) throw NOT_UTF8;
  const generates = boundNames.most !== undefined || (usage !== "unread" && usage.usual !== undefined);
  try {
    const scan =
      kind === "form" ? new FormBounds(body, contentType, boundNames) : new BoundScan(body, boundNames, generates);
    const rest = inSlices((steps) => scan.run(steps));
    return rest === undefined ? scan.bounds : rest.then(() => scan.bounds).catch(refuseFault);
  } catch (error) {
    return refuseFault(error);
  }
}

/** Bounds in a form. A file in it counts as input by its bytes, up to what is taken for all that a call refers to. */
class FormBounds {
  readonly #scan: FormScan;
  readonly #boundNames: BoundNames;

  constructor(body: Buffer, contentType: string | undefined, boundNames: BoundNames) {
    this.#scan = new FormScan(body, boundaryOf(contentType));
    this.#boundNames = boundNames;
  }

  run(steps: number): boolean {
    return this.#scan.run(steps);
  }

  get bounds(): CallBounds {
    const { answers: names } = this.#boundNames;
    let [read, sound, answers] = [0, 0, 1];
    for (const { name, isFile, value } of this.#scan.parts) {
      read += isFile ? Math.min(value.length, REFERRED_INPUT) : value.length;
      if (isFile) sound += value.length;
      if (!names?.folded.has(fold(name.replace(/\[.*/, "")))) continue;
      const count = value.toString("latin1", 0, LONGEST);
      // Parsers differ in what they take for a number, or for the end of one.
      if (!/^\d{1,9}$/.test(count)) throw NO_DIGITS;
      answers = Math.max(answers, Number(count));
    }
    return { most: undefined, answers, refers: false, read, sound };
  }
}

/**
 * Kind of a value that is looked for: the top, an object in it, or a member's value; `text` is all that a model may be
 * to read.
 */
type Context =
  | ("top" | "within" | "most" | "answers" | "prompts" | "prompt" | "reference" | "background")
  | ("items" | "item" | "kind" | "author")
  | ("text" | "file" | "spoken");

class BoundScan implements JsonVisitor<Context> {
  readonly #body: Buffer;
  readonly #boundNames: BoundNames;
  readonly #scanner: JsonScanner<Context>;
  /** Folded names of the members that were met. */
  readonly #seen = new Set<string>();
  #most: number | undefined;
  #answers = 1;
  #prompts = 0;
  #refers = false;
  #characters = 0;
  #isSpoken = false;
  /** True if the last item has said neither what it is nor whose. */
  #isBare = false;
  #isDoubtful = false;

  /** @param generates true if the call generates tokens */
  constructor(body: Buffer, boundNames: BoundNames, generates: boolean) {
    this.#body = body;
    this.#boundNames = boundNames;
    if (!generates) this.#most = 0;
    this.#scanner = new JsonScanner<Context>(body, BODY_BOUNDS, this, "top");
  }

  run(steps: number): boolean {
    return this.#scanner.run(steps);
  }

  get bounds(): CallBounds {
    if (this.#boundNames.spoken !== undefined && this.#characters === 0) throw UNSPOKEN;
    return {
      most: this.#isDoubtful ? undefined : this.#most,
      answers: this.#answers * Math.max(1, this.#prompts),
      refers: this.#refers || this.#isBare,
      ...(this.#characters > 0 && { characters: this.#characters }),
    };
  }

  open(context: Context, isObject: boolean): Context | undefined {
    if (context === "reference") this.#refers = true;
    if (context === "spoken") throw UNSPOKEN;
    if (context === "items") return isObject ? this.#beginItem() : "items";
    if (isObject && (context === "top" || context === "within")) return context;
    if (!isObject && context === "prompts") return "prompt";
    // A prompt in tokens, which are numbers.
    if (!isObject && context === "prompt") this.#prompts++;
    return context === "text" || context === "file" ? "text" : undefined;
  }

  #beginItem(): Context {
    this.#refers ||= this.#isBare;
    this.#isBare = true;
    return "item";
  }

  member(object: Context, start: number, end: number): Context | undefined {
    if (object === "text" && !mayNameFile(this.#body[start + 1])) return "text";
    const quoted = this.#textAt(start, end);
    // Of what a model is to read, a name may be as long as its author likes.
    if (quoted === undefined && object === "text") return "file";
    if (quoted === undefined) throw new BodyFault(`A member's name is longer than ${LONGEST} bytes.`);
    const name = textIn(quoted);
    if (object === "text") return name !== undefined && namesFile(name) ? "file" : "text";
    if (name === undefined) return undefined;
    if (object === "item") return contextInItem(name);
    const folded = fold(name);
    return object === "top" ? this.#contextAtTop(name, folded) : this.#contextOfBound(name, folded);
  }

  #contextAtTop(name: string, folded: string): Context | undefined {
    const { references, items, background, within } = this.#boundNames;
    if (OVERRULING.folded.has(folded) || EXTRA_MEMBERS.folded.has(folded)) this.#isDoubtful = true;
    if (EXTRA_MEMBERS.folded.has(folded)) return "top";
    if (references?.folded.has(folded)) return "reference";
    if (items?.folded.has(folded)) return "items";
    if (background?.folded.has(folded)) return "background";
    if (TOOL_SCHEMAS.folded.has(folded)) return undefined;
    if (within === undefined) return this.#contextOfBound(name, folded);
    return this.#isOneOf(within, name, folded) ? "within" : "text";
  }

  #contextOfBound(name: string, folded: string): Context {
    const { most, answers, prompts, spoken, refused } = this.#boundNames;
    if (refused?.folded.has(folded)) {
      throw OTHER_WORK;
    }
    if (spoken?.folded.has(folded)) {
      if (this.#isSpoken) throw UNSPOKEN;
      this.#isSpoken = true;
      return "spoken";
    }
    if (this.#isOneOf(most, name, folded)) return "most";
    if (this.#isOneOf(answers, name, folded)) return "answers";
    return this.#isOneOf(prompts, name, folded) ? "prompts" : "text";
  }

  #isOneOf(wanted: Names | undefined, name: string, folded: string): boolean {
    if (wanted === undefined || !wanted.folded.has(folded)) return false;
    if (this.#seen.has(folded) || !wanted.exact.has(name)) this.#isDoubtful = true;
    this.#seen.add(folded);
    return true;
  }

  scalar(context: Context, start: number, end: number): void {
    const isText = this.#body[start] === QUOTE;
    if (context === "prompt" && isText) this.#prompts++;
    if ((context === "reference" || context === "file") && isText) this.#refers = true;
    if ((context === "kind" || context === "author") && isText) this.#isBare = false;
    if (context === "kind" && textIn(this.#textAt(start, end)) === ITEM_REFERENCE) this.#refers = true;
    if (context === "background" && !isOff(this.#textAt(start, end))) throw IN_BACKGROUND;
    if (context === "spoken") {
      if (!isText) throw UNSPOKEN;
      this.#characters = charactersIn(this.#body, start, end);
    }
    if (context === "most" || context === "answers") this.#note(context, this.#textAt(start, end));
  }

  #note(bound: "most" | "answers", text: string | undefined): void {
    if (text === undefined) throw new BodyFault(`A number is longer than ${LONGEST} bytes.`);
    const value = Math.min(numberIn(text), Number.MAX_SAFE_INTEGER);
    if (bound === "answers") {
      if (value > this.#answers) this.#answers = Math.ceil(value);
    } else if (text !== "null") {
      // Some upstreams take a text for the number in it, and others for none.
      if (value >= 1 && !text.startsWith('"')) this.#most = Math.max(this.#most ?? 0, Math.ceil(value));
      else this.#isDoubtful = true;
    }
  }

  /**
   * Returns the text of a name or a scalar; undefined if it is too long. Decoding it, in one go, would hold up all
   * others (threats b271).
   */
  #textAt(start: number, end: number): string | undefined {
    return end - start > LONGEST ? undefined : this.#body.toString("utf8", start, end);
  }
}

const NO_DIGITS = new BodyFault("A part of the form that bounds the number of answers must be a number in digits.");

const OTHER_WORK = new BodyFault("The body has `svg`: what its model uses is not counted here. Leave it out.");

const UNSPOKEN = new BodyFault("The body must have `input` once, with the text to speak: its characters are counted.");

const IN_BACKGROUND = new BodyFault(
  "The body has `background`: where tokens are counted, no answer may come before what it uses is known. Leave it out, and have an answer that takes long stream.",
);

function isOff(scalar: string | undefined): boolean {
  return scalar === "false" || scalar === "null";
}

function contextInItem(name: string): Context {
  const folded = fold(name);
  if (ITEM_KIND.folded.has(folded)) return "kind";
  if (ITEM_AUTHOR.folded.has(folded)) return "author";
  return namesFile(name) ? "file" : "text";
}

/** Bytes of a text beyond which its characters are counted by them: none is spoken that is as long. */
const LONGEST_SPOKEN = 1 << 16;

/** Counts the characters of a JSON string, of which each escape is one. */
function charactersIn(body: Buffer, start: number, end: number): number {
  if (end - start > LONGEST_SPOKEN) return end - start;
  const quoted = body.toString("utf8", start, end);
  return [...(textIn(quoted) ?? quoted)].length;
}

/** Reads a number as lenient parsers may: from a text too, as Gemini's and pydantic's do. NaN for none. */
function numberIn(scalar: string): number {
  return Number(scalar.startsWith('"') ? textIn(scalar)?.replaceAll("_", "") : scalar);
}

/** Decodes a JSON string; undefined if it is no JSON, or was not read. */
function textIn(quoted: string | undefined): string | undefined {
  if (!quoted?.includes("\\")) return quoted?.slice(1, -1);
  try {
    return String(JSON.parse(quoted));
  } catch {
    return undefined;
  }
}
