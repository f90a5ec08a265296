/**
 * Finds the model names in a JSON body without parsing and writing it anew: what is not replaced stays byte by byte,
 * and a body that two parsers could read in two ways is refused instead of being guessed at (spec §4, architecture §4).
 */
import { BodyPieces } from "../../http/bodies/body-pieces.ts";
import { BodyFault, type JsonBounds, JsonScanner, type JsonVisitor } from "../../http/bodies/json-scanner.ts";
import { decodeString, type ModelMember, type ModelMembers, memberAt, type SearchContext } from "./model-members.ts";

/**
 * A model's name in a body: its decoded value, and the bytes of the JSON string, quotes included, or of a form's part.
 */
export type ModelSpan = { readonly value: string; readonly start: number; readonly end: number };

/** Bounds of a body: one call can embed a million tokens, and nothing that a model reads is nested as deep. */
const BODY_BOUNDS: JsonBounds = { values: 1_000_000, depth: 256 };
/** Members at most in the objects that may name a model: their names are looked at one by one, and there are few. */
const MAX_NAMES = 20_000;
/** Models that a body names at most: Gemini takes 100 requests in a batch. */
const MAX_MODELS = 1_000;
/** Bytes of a model's name at most, escapes included: no name is longer. */
const MAX_MODEL_NAME = 2_048;

/** Search for the model names in the given members. At the end, `models` holds all of them, in the body's order. */
export class ModelScan implements JsonVisitor<SearchContext> {
  readonly models: ModelSpan[] = [];
  readonly #body: Buffer;
  readonly #scanner: JsonScanner<SearchContext>;
  #names = 0;

  constructor(body: Buffer, members: ModelMembers) {
    this.#body = body;
    this.#scanner = new JsonScanner<SearchContext>(body, BODY_BOUNDS, this, {
      meaning: members,
      seen: ROOT,
      inArray: false,
    });
  }

  /**
   * Goes on for about `steps` steps.
   *
   * @returns true once the body's end was reached
   * @throws BodyFault if the body is no JSON object; a member that is looked for is there twice or is spelt in another
   *   way; a model is not a string, or is named where none may be; or there is more in the body than any client sends
   */
  run(steps: number): boolean {
    return this.#scanner.run(steps);
  }

  open(context: SearchContext, isObject: boolean): SearchContext | undefined {
    const { meaning, inArray } = context;
    if (meaning === "model") throw NOT_TEXT;
    if (context.seen === ROOT && !isObject) throw NO_OBJECT;
    if (isObject) return { meaning, seen: 0, inArray: false };
    if (inArray && isOfObjects(meaning)) throw NO_OBJECTS;
    return inArray ? undefined : { meaning, seen: 0, inArray: true };
  }

  member(object: SearchContext, start: number, end: number): SearchContext | undefined {
    if (typeof object.meaning === "string") return undefined;
    if (!object.meaning.isConversation && ++this.#names > MAX_NAMES) throw TOO_MANY_NAMES;
    const found = memberAt(this.#body, start, end, object.meaning);
    if (found === undefined) return undefined;
    const { bytes, meaning, bit, value } = found;
    if (meaning === "refused")
      throw new BodyFault(`The body's \`${bytes}\` names models beside the one of the request.`);
    if ((object.seen & bit) !== 0) throw new BodyFault(`The body has the member \`${bytes}\` twice.`);
    object.seen |= bit;
    return value;
  }

  scalar(context: SearchContext, start: number, end: number): void {
    if (context.seen === ROOT) throw NO_OBJECT;
    if (isOfObjects(context.meaning)) throw NO_OBJECTS;
    if (context.meaning !== "model") return;
    if (this.#body[start] !== QUOTE) throw NOT_TEXT;
    if (end - start > MAX_MODEL_NAME) throw new BodyFault(`A model's name is longer than ${MAX_MODEL_NAME} bytes.`);
    if (this.models.length >= MAX_MODELS) throw TOO_MANY_MODELS;
    this.models.push({ value: decodeString(this.#body, start, end), start, end });
  }
}

function isOfObjects(meaning: ModelMember): boolean {
  return typeof meaning === "object" && meaning.isObjects;
}

const QUOTE = 0x22;
/** Value of `seen` in the context that stands for the whole body. */
const ROOT = -1;
const TOO_MANY_NAMES = new BodyFault(
  `The body has more than ${MAX_NAMES} members where a model may be named: send fewer requests at once.`,
);
const TOO_MANY_MODELS = new BodyFault(
  `The body names more than ${MAX_MODELS} models: send fewer requests at once, or leave out \`model\` where the path names it.`,
);
const NOT_TEXT = new BodyFault("The body's `model` is not a string.");
const NO_OBJECTS = new BodyFault(
  "The body's `requests` are no list of objects, or the `params` or `request` of one is no object.",
);
const NO_OBJECT = new BodyFault("The body is not a JSON object.");

/**
 * Returns the body with each of the given names replaced and all other bytes as they were. Nothing of a large body is
 * copied.
 *
 * @param write returns the text that stands for a name, if that is no JSON string
 */
export function replaceModels(
  body: Buffer,
  models: readonly ModelSpan[],
  replacement: (old: string) => string,
  write: (model: string) => string = JSON.stringify,
): BodyPieces {
  const pieces = new BodyPieces();
  let from = 0;
  for (const { value, start, end } of models) {
    pieces.add(body.subarray(from, start));
    pieces.add(Buffer.from(write(replacement(value))));
    from = end;
  }
  pieces.add(body.subarray(from));
  return pieces;
}
