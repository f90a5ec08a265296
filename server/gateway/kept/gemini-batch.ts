import type { ServedOperation } from "../../../domain/access/gateway-operations.ts";
import { BodyFault, JsonScanner, type JsonVisitor } from "../../http/bodies/json-scanner.ts";
import { inSlices } from "../../http/bodies/slices.ts";
import { type Problem, problem } from "../../http/problems/problem.ts";
import { decodeString, foldedNameAt, MAX_MEMBER_NAME } from "../model/model-members.ts";
import type { Resolved } from "../resolve.ts";
import { type BatchFile, type FileDeps, LIMITED_ROUTE, readingOfLines } from "./batch-file.ts";
import { BatchLines, GEMINI_LINE } from "./batch-lines.ts";

const BODY_BOUNDS = { values: 1_000_000, depth: 256 };
/** Name of a file, as Gemini's answers spell it. */
const FILE = /^files\/([a-z0-9-]{1,64})$/;
/** Bytes of a file's name at most, its quotes and escapes included. */
const LONGEST_FILE = 512;
const QUOTE = 0x22;

/** Members of a body, by their folded names; a text says what a value is. */
type Members = { readonly [member: string]: Members | "file" | "object" | "any" };

/**
 * Members of a batch: by another, an upstream would name it, take its requests from elsewhere, put its results
 * elsewhere, or send word of it there.
 */
const BATCH: Members = {
  batch: {
    ...{ displayname: "any", model: "any", priority: "any" },
    inputconfig: { filename: "file", requests: { requests: { request: "object", metadata: "any" } } },
  },
};

/** Object that is open, or a value that comes: the members that it may have, and a bit for each that it has had. */
type Context = { readonly of: Members | "file" | "object" | "any"; seen: number };

/** Search for where the requests of a batch of Gemini's stand. */
class BatchSource implements JsonVisitor<Context> {
  readonly #body: Buffer;
  readonly #scanner: JsonScanner<Context>;
  /** Number of places with requests. */
  #places = 0;
  file: string | undefined;

  constructor(body: Buffer) {
    this.#body = body;
    this.#scanner = new JsonScanner<Context>(body, BODY_BOUNDS, this, { of: BATCH, seen: 0 });
  }

  /**
   * Goes on for about so many steps.
   *
   * @returns true once the body's end was reached
   * @throws BodyFault for a body that has other members than a batch has, or none of the requests' place
   */
  run(steps: number): boolean {
    const isOver = this.#scanner.run(steps);
    if (isOver && this.#places !== 1) throw NO_SOURCE;
    return isOver;
  }

  open(context: Context, isObject: boolean): Context | undefined {
    const { of } = context;
    if (of === "file") throw NO_FILE;
    if (typeof of === "string") {
      if (of === "object" && !isObject) throw NO_REQUEST;
      return undefined;
    }
    // The one list in a batch is that of its requests.
    if (isObject) return { of, seen: 0 };
    if (of.request === undefined || context.seen === IN_LIST) throw NO_LIST;
    return { of, seen: IN_LIST };
  }

  member(object: Context, start: number, end: number): Context {
    if (end - start > MAX_MEMBER_NAME) throw new BodyFault(`A member's name is longer than ${MAX_MEMBER_NAME} bytes.`);
    const of = typeof object.of === "object" ? object.of : {};
    const name = foldedNameAt(this.#body, start, end);
    const place = Object.keys(of).indexOf(name);
    const meaning = of[name];
    if (place === -1 || meaning === undefined) throw OTHER_MEMBER;
    if ((object.seen & (1 << place)) !== 0) throw new BodyFault("The body has a member twice, or in two spellings.");
    object.seen |= 1 << place;
    if (of.filename !== undefined) this.#places++;
    return { of: meaning, seen: 0 };
  }

  scalar({ of }: Context, start: number, end: number): void {
    if (of === "any") return;
    if (of !== "file") throw NO_REQUEST;
    if (this.#body[start] !== QUOTE || end - start > LONGEST_FILE) throw NO_FILE;
    this.file = FILE.exec(decodeString(this.#body, start, end))?.[1];
    if (this.file === undefined) throw NO_FILE;
  }
}

/** Stands for the members of a list: none may be a list again. */
const IN_LIST = -1;

/**
 * Finds the file in which the requests of a batch of Gemini's stand.
 *
 * @returns the file's id; undefined if they stand in the body
 * @throws BodyFault for a body that is no such batch
 */
export async function fileOfBatch(body: Buffer): Promise<string | undefined> {
  const source = new BatchSource(body);
  await inSlices((steps) => source.run(steps));
  return source.file;
}

type GeminiDeps = FileDeps & {
  /** Operation that the requests ask for. */
  readonly asks: ServedOperation;
  /** Model that the path names. */
  readonly pathModel: string | undefined;
};

/** Finds what a batch of Gemini's is to ask; its file, if it names one, is still to be read. */
export function geminiBatch(
  file: string | undefined,
  { asks, pathModel, refuse, readsModels, reserve, ...deps }: GeminiDeps,
): BatchFile | Problem {
  const refusal = refuse(asks);
  if (refusal !== undefined) return refusal;
  const lines = new BatchLines({ ...GEMINI_LINE, operation: asks, readId: deps.readId, readsModels, reserve });
  return {
    read: () => undefined,
    refusalAt({ limits, candidates: [{ model = pathModel }] }: Resolved) {
      if (limits !== undefined) return LIMITED_ROUTE;
      return lines.model === undefined || lines.model === model ? undefined : OTHER_MODEL;
    },
    before:
      file === undefined
        ? undefined
        : {
            path: { version: "v1beta", before: `/files/${file}:download`, after: "?alt=media" },
            reading: readingOfLines(lines, { refuse: () => refuse(asks), ...deps }),
            notGiven: NOT_GIVEN,
          },
  };
}

const NO_SOURCE = new BodyFault(
  "A batch has its requests in one place: `batch.inputConfig.requests.requests`, or the file that `batch.inputConfig.fileName` names.",
);
const NO_FILE = new BodyFault("The file of a batch is named as `files/ID`.");
const NO_LIST = new BodyFault("The body of a batch has a list where it has none, or has one within another.");
const NO_REQUEST = new BodyFault("What a batch has in `batch`, `inputConfig`, `requests` or `request` is no object.");
const OTHER_MEMBER = new BodyFault(
  "The body of a batch has other members than `displayName`, `priority`, `model` and `inputConfig`, with `fileName` or `requests`, each of a `request` and `metadata`: leave them out.",
);
const NOT_GIVEN = problem(
  "invalid_request",
  "The provider does not give the batch's file back (Google gives back generated files alone): send the requests in the body.",
);
const OTHER_MODEL = problem(
  "invalid_request",
  "A line of the batch's file names another model than the one that is asked: lines are sent as they are, so leave `model` out of them.",
);
