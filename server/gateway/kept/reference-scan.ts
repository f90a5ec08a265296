/**
 * Finds in a JSON body what it says of objects that an upstream keeps. What any parser may read as a reference is one:
 * a member that is there twice, or is spelt in another case, adds to what must be the team's.
 */
import type {
  KeptKind,
  KeptObjects,
  OpaquePlaces,
  ReferringMember,
} from "../../../domain/access/gateway-operations.ts";
import { BodyFault, JsonScanner, type JsonVisitor } from "../../http/bodies/json-scanner.ts";
import { decodeString, foldedName, foldedNameAt, MAX_MEMBER_NAME } from "../model/model-members.ts";

/** An object that a call names by its id. */
export type KeptReference = { readonly kind: KeptKind; readonly id: string };

/** Reads the id of an object out of a text that names it; undefined for what the upstream does not keep. */
export type ReadId = (kind: KeptKind, text: string) => string | undefined;

const BODY_BOUNDS = { values: 1_000_000, depth: 256 };
/** Bytes of an id at most, its quotes and escapes included: no provider's is longer. */
export const LONGEST_ID = 512;
/** Bytes at most of a URI that may name a file. */
const LONGEST_URI = 8 << 10;
/** Objects that a body names at most. */
const MOST_REFERENCES = 1_000;
const QUOTE = 0x22;

/**
 * Member by which an item of a type says all that there is of it, or several of which one does. An item without it
 * stands for what the upstream has under its id, as an item of a type that is not listed may.
 */
const WHOLE_BY: Readonly<Record<string, string | readonly string[]>> = {
  message: "content",
  reasoning: "encrypted_content",
  compaction: "encrypted_content",
  function_call: "arguments",
  function_call_output: "output",
  custom_tool_call: "input",
  custom_tool_call_output: "output",
  computer_call: ["action", "actions"],
  computer_call_output: "output",
  local_shell_call: "action",
  local_shell_call_output: "output",
  shell_call: "action",
  shell_call_output: "output",
  apply_patch_call: "operation",
  apply_patch_call_output: ["output", "status"],
  web_search_call: "action",
  file_search_call: "results",
  code_interpreter_call: "code",
  image_generation_call: "result",
  mcp_call: "arguments",
  mcp_list_tools: "tools",
  mcp_approval_request: "arguments",
  mcp_approval_response: "approve",
  tool_search_call: "arguments",
  tool_search_output: "tools",
  additional_tools: "tools",
  program: "code",
  program_output: "result",
  multi_agent_call: "arguments",
  multi_agent_call_output: "output",
  agent_message: "content",
  configuration_update: ["reasoning", "text"],
};
/** Member that tells a message without a type from a reference without one. */
const AUTHOR = "role";
/** Members of {@link WHOLE_BY}, and the author, by their folded names. */
const WHOLE_MEMBERS: ReadonlyMap<string, string> = new Map(
  [...Object.values(WHOLE_BY).flat(), AUTHOR].map((name) => [foldedName(name), name]),
);
/** Types of which only a text that is not empty is whole: an upstream looks up what another value leaves out. */
const OF_TEXT: ReadonlySet<string> = new Set(["reasoning", "compaction", "image_generation_call"]);
/** Members whose members some gateways write over those beside it: as they stand, or by provider. */
const EXTRA_MEMBERS = "extrabody";
const EXTRA_BY_PROVIDER = "provideroptions";

/** Places below a value that are not looked into; undefined for none. */
type Place = OpaquePlaces | undefined;

/** Kind of a value that is looked at: the top, a member's value, an item in a list, a member of one, or any other. */
type Context =
  | { readonly of: "unless" | "item id" | "item type"; readonly place?: undefined }
  | { readonly of: "top" | "providers" | "items" | "item" | "any"; readonly place?: Place }
  | { readonly of: "object" | "id" | "mention"; readonly kind: KeptKind; readonly place?: undefined }
  | { readonly of: "item member"; readonly name: string; readonly place?: Place | "opaque" };

const UNLESS: Context = { of: "unless" };
const PROVIDERS: Context = { of: "providers" };
const ITEM_ID: Context = { of: "item id" };
const ITEM_TYPE: Context = { of: "item type" };
const ANY: Context = { of: "any" };

/** Search for references in a body. To be asked for its results once it has come to its end. */
export class ReferenceScan implements JsonVisitor<Context> {
  readonly #body: Buffer;
  readonly #scanner: JsonScanner<Context>;
  readonly #referring: ReadonlyMap<string, ReferringMember>;
  /** Members that are looked for everywhere, by their folded names, each with the context of its value. */
  readonly #mentioned: ReadonlyMap<string, Context>;
  readonly #readId: ReadId;
  readonly #top: Context;
  readonly #unless: string | undefined;
  readonly #references = new Map<string, KeptReference>();
  /** Ids of the item that was begun last, its types as far as they tell, and how many there were. */
  #itemIds: string[] = [];
  #itemType = "";
  #itemTypes = 0;
  /** Values of that item's members that may make it whole, by name; `none` unless there once, spelt as they are. */
  readonly #itemMembers = new Map<string, "none" | "value" | "text">();
  /** Values of the member by which nothing is kept. */
  readonly #switches: boolean[] = [];

  /** @param readId reads the id of a member that holds one; each text is one where it is left out */
  constructor(body: Buffer, { referring = {}, mentioned, made }: KeptObjects, readId: ReadId = (_kind, text) => text) {
    this.#body = body;
    this.#referring = new Map(Object.entries(referring).map(([name, member]) => [foldedName(name), member]));
    this.#mentioned = new Map(
      Object.entries(mentioned?.members ?? {}).map(([name, kind]) => [foldedName(name), { of: "mention", kind }]),
    );
    this.#readId = readId;
    this.#unless = made?.unless;
    this.#top = { of: "top", place: mentioned?.but };
    this.#scanner = new JsonScanner<Context>(body, BODY_BOUNDS, this, this.#top);
  }

  /**
   * Goes on for about so many steps.
   *
   * @returns true once the body's end was reached
   * @throws BodyFault for a body that is no JSON, or names objects in a way that is not read
   */
  run(steps: number): boolean {
    const isOver = this.#scanner.run(steps);
    if (isOver) this.#endItem();
    return isOver;
  }

  /** Objects that the body names, each once. */
  get references(): readonly KeptReference[] {
    return [...this.#references.values()];
  }

  /** False if the body says for every parser that the upstream is to keep nothing. */
  get mayKeep(): boolean {
    return this.#switches.length !== 1 || this.#switches[0] === true;
  }

  open(context: Context, isObject: boolean): Context | undefined {
    switch (context.of) {
      case "top":
        if (!isObject) throw NO_OBJECT;
        return context;
      case "object":
        if (!isObject) throw NO_ID;
        return { of: "id", kind: context.kind };
      case "items":
        if (!isObject) return { of: "items", place: known(elementOf(context.place)) };
        this.#endItem();
        return { of: "item", place: context.place };
      case "providers":
        return isObject ? context : this.#elsewhere(undefined);
      case "item member":
        this.#itemMembers.set(context.name, "value");
        return this.#elsewhere(isObject || context.place === "opaque" ? context.place : elementOf(context.place));
      case "any":
        return isObject ? context : this.#elsewhere(elementOf(context.place));
      case "mention":
        return context;
      case "item type":
        this.#noteType("");
        return undefined;
      case "unless":
        this.#switches.push(true);
        return undefined;
      case "id":
      case "item":
      case "item id":
        throw NO_ID;
    }
  }

  /** Notes what the item that ends here refers to: one item is open at a time. */
  #endItem(): void {
    if (this.#itemIds.length > 0 && this.#standsForKept()) for (const id of this.#itemIds) this.#note("item", id);
    if (this.#itemIds.length > 0) this.#itemIds = [];
    this.#itemTypes = 0;
    if (this.#itemMembers.size > 0) this.#itemMembers.clear();
  }

  /** True if the upstream may take what it has under the item's id for the item. */
  #standsForKept(): boolean {
    if (this.#itemTypes === 0 && this.#itemMembers.get(AUTHOR) !== "text") return true;
    const type = this.#itemTypes === 0 ? "message" : this.#itemType;
    const whole = Object.hasOwn(WHOLE_BY, type) ? [WHOLE_BY[type] ?? []].flat() : [];
    const said = whole.map((name) => this.#itemMembers.get(name));
    const isWhole = said.includes("text") || (said.includes("value") && !OF_TEXT.has(type));
    return this.#itemIds.length > 1 || this.#itemTypes > 1 || !isWhole;
  }

  #note(kind: KeptKind, id: string): void {
    this.#references.set(`${kind} ${id}`, { kind, id });
    if (this.#references.size > MOST_REFERENCES) throw TOO_MANY;
  }

  #noteType(type: string): void {
    this.#itemType = type;
    this.#itemTypes++;
  }

  member(object: Context, start: number, end: number): Context | undefined {
    if (end - start > MAX_MEMBER_NAME) throw new BodyFault(`A member's name is longer than ${MAX_MEMBER_NAME} bytes.`);
    const within = known(object.place);
    const named = placeAt(within, "{}");
    if (named !== undefined) return this.#elsewhere(named);
    const name = foldedNameAt(this.#body, start, end);
    const mention = this.#mentioned.get(name);
    if (mention !== undefined) return mention;
    if (object.of === "id") return name === "id" ? object : undefined;
    if (object.of === "mention" && (name === "id" || (name === "name" && object.kind === "cache"))) return object;
    const place = placeAt(within, this.#nameAt(within, start, end));
    // Whether an item has such a member tells if it is whole.
    if (place === "opaque" && object.of !== "item") return undefined;
    return this.#contextOf(object, name, start, end, place) ?? this.#elsewhere(place);
  }

  /** Returns the context of a value of which no more is known than that a member in it may name an object. */
  #elsewhere(place: OpaquePlaces | "opaque" | undefined): Context | undefined {
    if (this.#mentioned.size === 0 || place === "opaque") return undefined;
    return place === undefined ? ANY : { of: "any", place };
  }

  /** Returns a member's name as it is spelt, where that matters: what is spelt in another way is looked into. */
  #nameAt(place: Place, start: number, end: number): string {
    return place === undefined ? "" : this.#body.toString("latin1", start + 1, end - 1);
  }

  #contextOf(object: Context, name: string, start: number, end: number, place: Place | "opaque"): Context | undefined {
    if (object.of === "top") return this.#contextAtTop(name, start, end, known(place));
    // What an extra body has is read as the top is, and nothing of it is left out.
    if (object.of === "providers") return { of: "top" };
    if (object.of !== "item") return undefined;
    if (name === "id") return ITEM_ID;
    if (name === "type") {
      if (!this.#isSpelt("type", start, end)) this.#noteType("");
      return ITEM_TYPE;
    }
    const whole = WHOLE_MEMBERS.get(name);
    if (whole === undefined) return undefined;
    const isFirst = !this.#itemMembers.has(whole);
    this.#itemMembers.set(whole, "none");
    return isFirst && this.#isSpelt(whole, start, end) ? { of: "item member", name: whole, place } : undefined;
  }

  #contextAtTop(name: string, start: number, end: number, place: Place): Context | undefined {
    if (name === EXTRA_MEMBERS) return { of: "top" };
    if (name === EXTRA_BY_PROVIDER) return PROVIDERS;
    if (this.#unless !== undefined && name === foldedName(this.#unless)) {
      if (!this.#isSpelt(this.#unless, start, end)) this.#switches.push(true);
      return UNLESS;
    }
    const member = this.#referring.get(name);
    if (member === undefined) return undefined;
    return member === "items" ? { of: "items", place } : { of: "object", kind: member };
  }

  scalar(context: Context, start: number, end: number): void {
    const isText = this.#body[start] === QUOTE;
    const isNull = !isText && this.#body.toString("latin1", start, end) === "null";
    switch (context.of) {
      case "top":
        // The value of `extra_body`, or a body that is no object, which no upstream takes.
        return;
      case "unless":
        this.#switches.push(this.#body.toString("latin1", start, end) !== "false");
        return;
      case "object":
      case "id":
        if (isNull) return;
        if (!isText) throw NO_ID;
        this.#note(context.kind, this.#readId(context.kind, this.#idAt(start, end)) ?? "");
        return;
      case "item id":
        if (isNull) return;
        if (!isText) throw NO_ID;
        this.#itemIds.push(this.#idAt(start, end));
        if (this.#itemIds.length > MOST_REFERENCES) throw TOO_MANY;
        return;
      case "item type":
        this.#noteType(isText && end - start <= LONGEST_ID ? decodeString(this.#body, start, end) : "");
        return;
      case "item member":
        this.#itemMembers.set(context.name, isNull ? "none" : isText && end - start > 2 ? "text" : "value");
        return;
      case "mention": {
        // A number or a literal is no id to any upstream.
        const id =
          isText && end - start > 2 ? this.#readId(context.kind, this.#idAt(start, end, LONGEST_URI)) : undefined;
        if (id !== undefined) this.#note(context.kind, id);
        return;
      }
      case "providers":
      case "items":
      case "item":
      case "any":
        return;
    }
  }

  #idAt(start: number, end: number, longest = LONGEST_ID): string {
    if (end - start > longest) throw new BodyFault(`An id is longer than ${longest} bytes.`);
    return decodeString(this.#body, start, end);
  }

  #isSpelt(name: string, start: number, end: number): boolean {
    return this.#body.toString("latin1", start + 1, end - 1) === name;
  }
}

function elementOf(place: Place): OpaquePlaces | "opaque" | undefined {
  return place?.["*"];
}

/** Returns a place that is looked into. */
function known(place: Place | "opaque"): Place {
  return place === "opaque" ? undefined : place;
}

function placeAt(place: Place, name: string): OpaquePlaces | "opaque" | undefined {
  return place !== undefined && Object.hasOwn(place, name) ? place[name] : undefined;
}

const TOO_MANY = new BodyFault(`The body names more than ${MOST_REFERENCES} objects that the upstream keeps.`);
const NO_OBJECT = new BodyFault("The body is not a JSON object.");
const NO_ID = new BodyFault("The body names what the upstream keeps by what is no id: an id is a text.");
