/**
 * Finds in a JSON body what it says of objects that an upstream keeps. What any parser may read as a reference is one:
 * a member that is there twice, or is spelt in another case, adds to what must be the team's.
 */
import type { KeptKind, KeptObjects, ReferringMember } from "../../../domain/access/gateway-operations.ts";
import { BodyFault, JsonScanner, type JsonVisitor } from "../../http/bodies/json-scanner.ts";
import { decodeString, foldedNameAt, MAX_MEMBER_NAME } from "../model/model-members.ts";

/** An object that a call names by its id. */
export type KeptReference = { readonly kind: KeptKind; readonly id: string };

const BODY_BOUNDS = { values: 1_000_000, depth: 256 };
/** Bytes of an id at most, its quotes and escapes included: no provider's is longer. */
const LONGEST_ID = 512;
/** Objects that a body names at most. */
const MOST_REFERENCES = 1_000;
const QUOTE = 0x22;

/**
 * Member by which an item of a type says all that there is of it. An item without it stands for what the upstream has
 * under its id, as an item of a type that is not listed may.
 */
const WHOLE_BY: Readonly<Record<string, string>> = {
  message: "content",
  reasoning: "encrypted_content",
  compaction: "encrypted_content",
  function_call: "arguments",
  function_call_output: "output",
  custom_tool_call: "input",
  custom_tool_call_output: "output",
  computer_call: "action",
  computer_call_output: "output",
  local_shell_call: "action",
  local_shell_call_output: "output",
  shell_call: "action",
  shell_call_output: "output",
  apply_patch_call: "operation",
  apply_patch_call_output: "output",
  web_search_call: "action",
  file_search_call: "results",
  code_interpreter_call: "code",
  image_generation_call: "result",
  mcp_call: "arguments",
  mcp_list_tools: "tools",
  mcp_approval_request: "arguments",
  mcp_approval_response: "approve",
};
/** Member that tells a message without a type from a reference without one. */
const AUTHOR = "role";
const WHOLE_MEMBERS: ReadonlySet<string> = new Set([...Object.values(WHOLE_BY), AUTHOR]);
/** Member whose members some gateways write over those beside it. */
const EXTRA_MEMBERS = "extrabody";

/** An item as far as it was read: where its ids stand, and which of its members have a value. */
type Item = { readonly ids: { start: number; end: number }[]; readonly types: string[]; readonly members: Set<string> };

/** Kind of a value that is looked at: the top, a member's value, an item in a list, or a member of one. */
type Context =
  | { readonly of: "top" | "unless" }
  | { readonly of: "object" | "id"; readonly kind: KeptKind }
  | { readonly of: "items" }
  | { readonly of: "item" | "item id" | "item type"; readonly item: Item }
  | { readonly of: "item member"; readonly item: Item; readonly name: string };

const TOP: Context = { of: "top" };
const UNLESS: Context = { of: "unless" };
const ITEMS: Context = { of: "items" };

/** Search for references in a body. To be asked for its results once it has come to its end. */
export class ReferenceScan implements JsonVisitor<Context> {
  readonly #body: Buffer;
  readonly #scanner: JsonScanner<Context>;
  readonly #referring: ReadonlyMap<string, ReferringMember>;
  readonly #unless: string | undefined;
  readonly #references: KeptReference[] = [];
  readonly #items: Item[] = [];
  /** Values of the member by which nothing is kept. */
  readonly #switches: boolean[] = [];

  constructor(body: Buffer, { referring = {}, made }: KeptObjects) {
    this.#body = body;
    this.#referring = new Map(Object.entries(referring).map(([name, member]) => [folded(name), member]));
    this.#unless = made?.unless;
    this.#scanner = new JsonScanner<Context>(body, BODY_BOUNDS, this, TOP);
  }

  /**
   * Goes on for about so many steps.
   *
   * @returns true once the body's end was reached
   * @throws BodyFault for a body that is no JSON, or names objects in a way that is not read
   */
  run(steps: number): boolean {
    return this.#scanner.run(steps);
  }

  /** Objects that the body names, each once. */
  get references(): readonly KeptReference[] {
    const items = this.#items.filter(standsForKept).flatMap(({ ids }) => ids);
    const all = [...this.#references, ...items.map(({ start, end }) => this.#referenceAt("item", start, end))];
    const different = new Map(all.map((one) => [`${one.kind} ${one.id}`, one]));
    if (different.size > MOST_REFERENCES) {
      throw new BodyFault(`The body names more than ${MOST_REFERENCES} responses, conversations and items.`);
    }
    return [...different.values()];
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
        return isObject ? { of: "item", item: this.#beginItem() } : ITEMS;
      case "item member":
        context.item.members.add(context.name);
        return undefined;
      case "item type":
        context.item.types.push("");
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

  #beginItem(): Item {
    const item: Item = { ids: [], types: [], members: new Set() };
    this.#items.push(item);
    return item;
  }

  member(object: Context, start: number, end: number): Context | undefined {
    if (end - start > MAX_MEMBER_NAME) throw new BodyFault(`A member's name is longer than ${MAX_MEMBER_NAME} bytes.`);
    const name = foldedNameAt(this.#body, start, end);
    if (object.of === "top") return this.#contextAtTop(name, start, end);
    if (object.of === "id") return name === "id" ? object : undefined;
    if (object.of !== "item") return undefined;
    const { item } = object;
    if (name === "id") return { of: "item id", item };
    if (name === "type") {
      if (!this.#isSpelt("type", start, end)) item.types.push("");
      return { of: "item type", item };
    }
    const spelt = this.#body.toString("latin1", start + 1, end - 1);
    return WHOLE_MEMBERS.has(spelt) ? { of: "item member", item, name: spelt } : undefined;
  }

  #contextAtTop(name: string, start: number, end: number): Context | undefined {
    if (name === EXTRA_MEMBERS) return TOP;
    if (this.#unless !== undefined && name === folded(this.#unless)) {
      if (!this.#isSpelt(this.#unless, start, end)) this.#switches.push(true);
      return UNLESS;
    }
    const member = this.#referring.get(name);
    if (member === undefined) return undefined;
    return member === "items" ? ITEMS : { of: "object", kind: member };
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
        this.#references.push(this.#referenceAt(context.kind, start, end));
        return;
      case "item id":
        if (isNull) return;
        if (!isText) throw NO_ID;
        context.item.ids.push({ start, end });
        return;
      case "item type":
        context.item.types.push(isText && end - start <= LONGEST_ID ? decodeString(this.#body, start, end) : "");
        return;
      case "item member":
        // An empty text is a whole output, but no sealed reasoning and no picture.
        if (isNull || (end - start === 2 && (context.name === "encrypted_content" || context.name === "result")))
          return;
        context.item.members.add(context.name);
        return;
      case "items":
      case "item":
        return;
    }
  }

  #referenceAt(kind: KeptKind, start: number, end: number): KeptReference {
    if (end - start > LONGEST_ID) throw new BodyFault(`An id is longer than ${LONGEST_ID} bytes.`);
    return { kind, id: decodeString(this.#body, start, end) };
  }

  #isSpelt(name: string, start: number, end: number): boolean {
    return this.#body.toString("latin1", start + 1, end - 1) === name;
  }
}

const NO_OBJECT = new BodyFault("The body is not a JSON object.");
const NO_ID = new BodyFault("The body names a response, a conversation or an item by what is no id: an id is a text.");

/** True if an item has an id, and the upstream may take what it has under that for the item. */
function standsForKept({ ids, types, members }: Item): boolean {
  if (ids.length === 0) return false;
  if (types.length === 0 && !members.has(AUTHOR)) return true;
  const [type = "message", ...others] = types;
  const whole = Object.hasOwn(WHOLE_BY, type) ? WHOLE_BY[type] : undefined;
  return ids.length > 1 || others.length > 0 || whole === undefined || !members.has(whole);
}

function folded(name: string): string {
  return name.replaceAll("_", "").toLowerCase();
}
