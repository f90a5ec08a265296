import { isUtf8 } from "node:buffer";
import { GATEWAY_OPERATIONS, type ServedOperation } from "../../../domain/access/gateway-operations.ts";
import { BodyPieces } from "../../http/bodies/body-pieces.ts";
import { BodyFault } from "../../http/bodies/json-scanner.ts";
import { reusedRoom } from "../../http/bodies/reused-room.ts";
import { inSlices } from "../../http/bodies/slices.ts";
import { listed } from "../../http/listed.ts";
import { type Problem, problem } from "../../http/problems/problem.ts";
import { GEMINI_REPEATS, type ModelMembers, TOP_LEVEL } from "../model/model-members.ts";
import { ModelScan, type ModelSpan } from "../model/model-scan.ts";
import { bare } from "../model/requested-model.ts";
import { MemberValues } from "./member-values.ts";
import { type KeptReference, type ReadId, ReferenceScan } from "./reference-scan.ts";

const NEWLINE = 0x0a;
/** Bytes of a file at most: OpenAI takes 200 MB. */
const MOST_BYTES = 200 << 20;
/** Requests at most, as at OpenAI. */
const MOST_REQUESTS = 50_000;
/** Lines at most, blank ones included: each costs something. */
const MOST_LINES = 2 * MOST_REQUESTS;
/** Bytes of a line at most. */
const LONGEST_LINE = 4 << 20;
/** Blanks before the body of a line at most. */
const MOST_BLANKS = 1_024;
/** Objects that the lines name at most. */
const MOST_REFERENCES = 1_000;
/** Characters that some readers take for the end of a line, beside control characters. */
const OTHER_ENDS = ["\u0085", "\u2028", "\u2029"].map((end) => Buffer.from(end));
const [TAB, RETURN, SPACE, BRACE] = [0x09, 0x0d, 0x20, 0x7b];

/** Form of the lines of a format. */
type LineForm = {
  /** Members of a line: a gateway behind this one may read what another says beside the request. */
  readonly members: readonly string[];
  /** Member that is the request. */
  readonly request: string;
  /** True if a line asks for what the batch does. */
  readonly isAsked: (line: MemberValues) => boolean;
  /** Members by which a request names models. */
  readonly modelMembers: ModelMembers;
  /** Returns the models that a request names; undefined for none if it has to name one. */
  readonly modelsOf: (found: readonly ModelSpan[]) => readonly (string | undefined)[];
};

type LinesDeps = LineForm & {
  /** Operation that each line asks for. */
  readonly operation: ServedOperation;
  /** Reads the id of an object that a line names; each text is one where it is left out. */
  readonly readId?: ReadId | undefined;
  /** True if models matter: then all lines name one. */
  readonly readsModels: boolean;
  /** Makes room for so many bytes more; returns the problem to answer if there is none. */
  readonly reserve: (bytes: number) => Problem | undefined;
};

/** Returns the form of OpenAI's lines, each of which asks for the same path. */
export function openaiLine(endpoint: string): LineForm {
  return {
    members: ["custom_id", "method", "url", "body"],
    request: "body",
    isAsked: (line) => line.text("method") === "POST" && line.text("url") === endpoint,
    modelMembers: TOP_LEVEL,
    modelsOf: ([first]) => [first?.value],
  };
}

/** Form of Gemini's lines, which may leave their model to the batch. */
export const GEMINI_LINE: LineForm = {
  members: ["key", "request"],
  request: "request",
  isAsked: () => true,
  modelMembers: GEMINI_REPEATS,
  modelsOf: (found) => found.map(({ value }) => bare(value)),
};

/** Reads the requests of a batch from the lines of its file as they pass; it keeps one line at a time. */
export class BatchLines {
  readonly #deps: LinesDeps;
  readonly #references = new Map<string, KeptReference>();
  readonly #models = new Set<string | undefined>();
  #line = new BodyPieces();
  readonly #makeRoom: ReturnType<typeof reusedRoom>;
  #bytes = 0;
  #number = 1;
  #requests = 0;
  #refusal: Problem | undefined;
  #isWhole = false;

  constructor(deps: LinesDeps) {
    this.#deps = deps;
    this.#makeRoom = reusedRoom(deps.reserve);
  }

  /** Takes the next piece; resolves once the next may come, or to the problem to answer. */
  async push(piece: Buffer): Promise<Problem | undefined> {
    this.#bytes += piece.length;
    if (this.#bytes > MOST_BYTES) this.#refusal ??= TOO_LARGE;
    let at = 0;
    for (let end = piece.indexOf(NEWLINE); end !== -1; end = piece.indexOf(NEWLINE, at)) {
      this.#keep(piece.subarray(at, end));
      if (this.#line.size > 0) await this.#endLine();
      if (++this.#number > MOST_LINES) this.#refusal ??= TOO_MANY_LINES;
      if (this.#refusal !== undefined) return this.#refusal;
      at = end + 1;
    }
    this.#keep(piece.subarray(at));
    return this.#refusal;
  }

  /** Ends the file; resolves to the problem to answer if it is none of a batch that may begin. */
  async end(): Promise<Problem | undefined> {
    await this.#endLine();
    this.#isWhole = true;
    return this.#refusal ?? (this.#requests === 0 ? EMPTY : undefined);
  }

  /** True once the file has ended. */
  get isWhole(): boolean {
    return this.#isWhole;
  }

  /** Objects that the lines name, each once. */
  get references(): readonly KeptReference[] {
    return [...this.#references.values()];
  }

  /** Model that all lines name; undefined if they name none, or models do not matter. */
  get model(): string | undefined {
    return [...this.#models][0];
  }

  #keep(part: Buffer): void {
    if (this.#refusal !== undefined || part.length === 0) return;
    const length = this.#line.size + part.length;
    if (length > LONGEST_LINE) {
      this.#refusal = this.#refused(`It is longer than ${LONGEST_LINE >> 20} MiB.`);
      return;
    }
    this.#refusal = this.#makeRoom(length);
    this.#line.add(part);
  }

  async #endLine(): Promise<void> {
    if (this.#refusal !== undefined) return;
    const line = this.#line.whole();
    this.#line = new BodyPieces();
    try {
      if (line.length > 1 || (line.length === 1 && line[0] !== RETURN)) await this.#read(line);
    } catch (error) {
      if (!(error instanceof BodyFault)) throw error;
      this.#refusal = this.#refused(error.message);
    }
  }

  /** @throws BodyFault for a line that is no request, or that may be read in two ways */
  async #read(line: Buffer): Promise<void> {
    const { members: known, request, isAsked, operation, readId, readsModels, modelMembers, modelsOf } = this.#deps;
    if (!isUtf8(line) || OTHER_ENDS.some((end) => line.includes(end))) throw NO_LINE;
    await inSlices(findControls(line));
    const members = new MemberValues(line);
    await inSlices((steps) => members.run(steps));
    if (members.names.some((name) => !known.includes(name)))
      throw new BodyFault(`It has another member than ${listed(known.map((name) => `\`${name}\``))}.`);
    if (!isAsked(members)) throw OTHER_CALL;
    const body = members.value(request);
    // A gateway may read a text as the JSON that stands in it.
    if (body === undefined || firstByte(body) !== BRACE) throw new BodyFault(`Its \`${request}\` is no object.`);
    const references = new ReferenceScan(body, GATEWAY_OPERATIONS[operation].kept ?? {}, readId);
    await inSlices((steps) => references.run(steps));
    for (const one of references.references) this.#references.set(`${one.kind} ${one.id}`, one);
    if (this.#references.size > MOST_REFERENCES) throw TOO_MANY;
    if (++this.#requests > MOST_REQUESTS) throw TOO_MANY_REQUESTS;
    if (!readsModels) return;
    const models = new ModelScan(body, modelMembers);
    await inSlices((steps) => models.run(steps));
    for (const model of modelsOf(models.models)) this.#models.add(model);
    if (this.#models.size > 1) throw TWO_MODELS;
  }

  #refused(why: string): Problem {
    return problem("invalid_request", `Line ${this.#number} of the batch's file: ${why} Upload a file without.`);
  }
}

/** Returns the first byte that is no blank; undefined if it does not come soon. */
function firstByte(body: Buffer): number | undefined {
  for (let at = 0; at < MOST_BLANKS; at++) {
    const byte = body[at];
    if (byte === undefined || byte > SPACE) return byte;
  }
  return undefined;
}

/** Returns the search for control characters in a line, at which some readers cut it; it throws for one. */
function findControls(line: Buffer): (steps: number) => boolean {
  let at = 0;
  return (steps) => {
    const stop = Math.min(line.length, at + steps);
    for (; at < stop; at++) {
      const byte = line[at] ?? 0;
      const isEnd = byte === RETURN && at === line.length - 1;
      if (byte < SPACE && byte !== TAB && !isEnd) throw NO_LINE;
    }
    return at === line.length;
  };
}

const NO_LINE = new BodyFault(
  "It is no UTF-8, or has a separator of lines or a control character that is not escaped.",
);
const OTHER_CALL = new BodyFault("Its `method` is not POST, or its `url` is not the `endpoint` of the batch.");
const TOO_MANY = new BodyFault(`With it the lines name more than ${MOST_REFERENCES} objects that the upstream keeps.`);
const TOO_MANY_REQUESTS = new BodyFault(`With it the file has more than ${MOST_REQUESTS} requests.`);
const TWO_MODELS = new BodyFault(
  "It names another model than the lines before it: with this key, or at this gateway, a batch names one.",
);
const TOO_LARGE = problem(
  "payload_too_large",
  `The batch's file is larger than ${MOST_BYTES >> 20} MiB: begin several batches.`,
);
const TOO_MANY_LINES = problem("invalid_request", `The batch's file has more than ${MOST_LINES} lines.`);
const EMPTY = problem("invalid_request", "The batch's file has no request: upload a line for each.");
