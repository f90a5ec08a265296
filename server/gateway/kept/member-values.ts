import { parseJson } from "../../../domain/parse-json.ts";
import { refuseFault } from "../../http/bodies/json-body.ts";
import { BodyFault, JsonScanner, type JsonVisitor } from "../../http/bodies/json-scanner.ts";
import { inSlices } from "../../http/bodies/slices.ts";
import { listed } from "../../http/listed.ts";
import { problem } from "../../http/problems/problem.ts";
import { decodeString, foldedNameAt, MAX_MEMBER_NAME } from "../model/model-members.ts";

const BODY_BOUNDS = { values: 1_000_000, depth: 256 };
/** Bytes of a text at most: it is parsed at once. */
const MAX_TEXT = 1_024;
/** Members of the object itself at most. */
const MOST_MEMBERS = 100;
const COLON = ":".charCodeAt(0);

type Member = { readonly name: string; readonly from: number; to: number };

/**
 * Members of a JSON object, as they stand in a text. Each is there once for every parser, whichever case and letters it
 * folds. To be asked for once the text has come to its end.
 */
export class MemberValues implements JsonVisitor<true> {
  readonly #text: Buffer;
  readonly #scanner: JsonScanner<true>;
  readonly #members = new Map<string, Member>();
  #last: Member | undefined;

  constructor(text: Buffer) {
    this.#text = text;
    this.#scanner = new JsonScanner<true>(text, BODY_BOUNDS, this, true);
  }

  /**
   * Goes on for about so many steps.
   *
   * @returns true once the text's end was reached
   * @throws BodyFault for a text that is no JSON object, or has a member twice
   */
  run(steps: number): boolean {
    const isOver = this.#scanner.run(steps);
    if (isOver && this.#last !== undefined) this.#last.to = this.#text.lastIndexOf("}");
    return isOver;
  }

  /** Names of the members, as they are spelt. */
  get names(): readonly string[] {
    return [...this.#members.values()].map(({ name }) => name);
  }

  /** Returns the value of a member as JSON; undefined unless the member is there, spelt so. */
  value(name: string): Buffer | undefined {
    const member = [...this.#members.values()].find((each) => each.name === name);
    if (member === undefined) return undefined;
    const { from, to } = member;
    const between = this.#text.subarray(this.#text.indexOf(COLON, from) + 1, to);
    // Behind all but the last stands the comma before the next name.
    const end = member === this.#last ? between.length : between.lastIndexOf(",");
    return between.subarray(0, end);
  }

  /** Returns the text that a member is; undefined unless the member is there, spelt so, and a text of 1 KiB at most. */
  text(name: string): string | undefined {
    const value = this.value(name);
    if (value === undefined || value.length > MAX_TEXT) return undefined;
    const text = parseJson(value.toString());
    return typeof text === "string" ? text : undefined;
  }

  open(_context: true, isObject: boolean): true {
    if (!isObject) throw NO_OBJECT;
    return true;
  }

  member(_object: true, start: number, end: number): undefined {
    if (end - start > MAX_MEMBER_NAME) throw new BodyFault(`A member's name is longer than ${MAX_MEMBER_NAME} bytes.`);
    if (this.#members.size === MOST_MEMBERS) throw new BodyFault(`It has more than ${MOST_MEMBERS} members.`);
    if (this.#last !== undefined) this.#last.to = start;
    const folded = foldedNameAt(this.#text, start, end);
    if (this.#members.has(folded)) throw new BodyFault("It has a member twice, or in two spellings.");
    this.#last = { name: decodeString(this.#text, start, end), from: end, to: end };
    this.#members.set(folded, this.#last);
  }

  scalar(): void {
    throw NO_OBJECT;
  }
}

/**
 * Refuses a body that has other members than these.
 *
 * @throws Problem `invalid_request`, also for a body that has one of them twice
 */
export async function requireMembers(body: Buffer, members: readonly string[]): Promise<void> {
  const found = new MemberValues(body);
  try {
    await inSlices((steps) => found.run(steps));
  } catch (error) {
    refuseFault(error);
  }
  if (found.names.every((name) => members.includes(name))) return;
  throw problem("invalid_request", `The body has no other members here than ${listed(members)}: leave them out.`);
}

const NO_OBJECT = new BodyFault("It is not a JSON object.");
