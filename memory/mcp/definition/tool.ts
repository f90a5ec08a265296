import type { Tool } from "@modelcontextprotocol/server";
import { Ajv } from "ajv";
import { permits } from "../../../domain/access/authorize.ts";
import type { KeyRecord } from "../../../domain/access/key-record.ts";
import type { MemoryOperation } from "../../../domain/access/operations.ts";
import type { Reach } from "../../../domain/access/reach.ts";
import { describeSchemaError } from "../../../server/http/schema-error.ts";
import { findLibraryToRead, findRequestedLibrary, noSuchLibrary } from "../../../server/libraries/libraries.ts";
import type { LibraryUser } from "../../../server/libraries/library-use.ts";
import { withSingleTypes } from "../../../server/openapi/single-types.ts";
import type { ServerDeps } from "../../../server/product/deps.ts";
import type { Db } from "../../../store/database/change.ts";
import type { ReachableLibrary } from "../../../store/libraries/reachable-libraries.ts";
import type { QuestionVectors } from "../../embedding/question.ts";
import { type CursorPosition, type CursorScope, readAtomCursor } from "../../request/cursor.ts";
import { LIBRARY, LIMIT } from "../../request/schemas.ts";
import type { MemoryWrite } from "../../writes/write-as.ts";
import { MAX_TOKENS, sentences, tokensIn } from "./budget.ts";
import { readArguments } from "./lenient-arguments.ts";
import { listedSchema } from "./listed-schema.ts";

/** Context that a tool works in: its call's handle of the database, and the key that the call is made with. */
export type ToolContext = Pick<ServerDeps, "clock" | "recordCapacity"> &
  LibraryUser & {
    readonly db: Db;
    /** Libraries that the call reaches, and the subject whose memory it is for. */
    readonly reach: Reach;
    /** Vectors of the call's question; undefined if it is answered by words alone. */
    readonly meaning: QuestionVectors | undefined;
    /** Writes by what the key may do at that moment; undefined if the key does not reach the library (any more). */
    write<T>(operation: ToolOperation, task: MemoryWrite<T>): Promise<T | undefined>;
  };

/** Answer of a tool: `structured` fits its output schema, `text` says the same to a reader. */
export type ToolAnswer = { readonly structured: Record<string, unknown>; readonly text: string };

/** Error that says what the model has to do differently: shown as the tool's result, with isError. */
export class ToolFault extends Error {}

type ToolOperation = Extract<MemoryOperation, `mcp.memory_${string}`>;

export type MemoryTool = {
  /** Operation that a key needs to see the tool and to call it: the tool's name behind `mcp.`. */
  readonly operation: ToolOperation;
  readonly definition: Tool;
  /** Returns the question of a call in words, and its library; undefined if the call asks none. */
  questionOf?(args: unknown): ToolQuestion | undefined;
  /** @throws ToolFault for arguments that break the input schema, and for what is not there */
  call(context: ToolContext, args: unknown): Promise<ToolAnswer>;
};

type Schema = { readonly [field: string]: unknown };

/** Question whose meaning matters. */
type ToolQuestion = { readonly query: string; readonly library?: string | undefined };

/** Description of a tool. `input` and `output` are the properties of its two schemas. */
type ToolDescription<Args, Answer> = {
  readonly operation: ToolOperation;
  readonly title: string;
  /** Text for a model: what the tool does, and when to use it. */
  readonly description: string;
  readonly annotations: {
    readonly readOnlyHint: boolean;
    readonly destructiveHint: boolean;
    readonly idempotentHint: boolean;
  };
  readonly input: Schema;
  readonly requires?: readonly string[];
  readonly output: Schema;
  readonly questionOf?: (args: Args) => ToolQuestion | undefined;
  /** Returns the answer as text. */
  text(answer: Answer): string;
};

// Tests check the schemas themselves: to compile the schema of schemas takes longer than those of the tools.
const ajv = new Ajv({
  ...{ strict: true, validateSchema: false, allowUnionTypes: true, verbose: true, useDefaults: true },
  code: { optimize: false },
});

/** Makes a tool whose arguments are checked before it runs. Its answer has no field that is at its default. */
export function defineTool<Args, Answer extends { readonly note?: string }>(
  description: ToolDescription<Args, Answer>,
  run: (context: ToolContext, args: Args & { readonly maxTokens: number }) => Promise<Answer>,
): MemoryTool {
  const { operation, title, annotations, input, requires = [], output, questionOf, text } = description;
  const inputSchema = {
    type: "object" as const,
    additionalProperties: false,
    required: [...requires],
    properties: { ...input, maxTokens: MAX_TOKENS },
  };
  const outputSchema = { type: "object", properties: { ...output, note: NOTE } };
  const validate = ajv.compile<Args & { maxTokens: number }>(inputSchema);
  const name = operation.slice("mcp.".length);
  return {
    operation,
    definition: {
      name,
      title,
      description: description.description,
      // A schema is JSON: the protocol's type for it is wider in words only.
      inputSchema: withSingleTypes(listedSchema(inputSchema)) as Tool["inputSchema"],
      outputSchema: withSingleTypes(outputSchema) as Tool["outputSchema"],
      annotations: { ...annotations, title, openWorldHint: false },
    },
    questionOf(given) {
      if (questionOf === undefined) return undefined;
      const read = readArguments(given, inputSchema);
      return typeof read === "object" && validate(read.args) ? questionOf(read.args) : undefined;
    },
    async call(context, given) {
      const read = readArguments(given, inputSchema);
      if (typeof read === "string") throw new ToolFault(`In the input of ${name} ${read}`);
      const { args, notes } = read;
      if (!validate(args)) throw new ToolFault(describeSchemaError(validate.errors?.[0], `The input of ${name}`));
      const said = notes.join(" ");
      const maxTokens = args.maxTokens - (said === "" ? 0 : tokensIn({ note: said }, said));
      const found = await run(context, { ...args, maxTokens });
      const answer = said === "" ? found : { ...found, note: sentences(said, found.note) };
      return { structured: Object.fromEntries(Object.entries(answer)), text: text(answer) };
    },
  };
}

/** Annotations of a tool that only reads. */
export const READ_ANNOTATIONS = { readOnlyHint: true, destructiveHint: false, idempotentHint: true } as const;
/** Annotations of a tool that corrects: a second call does so again, and what was there before is kept. */
export const WRITE_ANNOTATIONS = { readOnlyHint: false, destructiveHint: false, idempotentHint: false } as const;
/** JSON Schema of the argument for the library that a call means. */
export const LIBRARY_NAME = {
  ...LIBRARY,
  description: "name or namespace/name; else the default one.",
} as const;
/** JSON Schema of the argument for the library that a call reads. */
export const LIBRARY_TO_READ = {
  ...LIBRARY,
  description: "name or namespace/name, * for all; else the default one.",
} as const;
/** JSON Schema of the number of items that a list gives a model. */
export const LIST_LIMIT = { ...LIMIT, default: 10 } as const;
/** JSON Schema of an answer's note on itself. */
const NOTE = { type: "string", description: "What there is to be said of the answer." } as const;
export const TRUNCATED = { type: "boolean", description: "More was found than maxTokens has room for." } as const;
/** JSON Schema of a list's output, besides its items. */
export const PAGE_OUTPUT = {
  nextCursor: { type: "string", description: "To be passed as cursor for the next page; left out on the last." },
  truncated: TRUNCATED,
} as const;

/**
 * Returns the position behind which a page begins: null for the first page.
 *
 * @throws ToolFault for a cursor that is not of this list
 */
export function positionOfCursor(scope: CursorScope, cursor: string | undefined): CursorPosition | null {
  const position = cursor ? readAtomCursor(scope, cursor) : null;
  if (typeof position === "string") throw new ToolFault("The cursor is not of this list: begin again without one.");
  return position;
}

/** Message for an id that names no atom, or an atom that the key may not reach. */
export const NO_ATOM_HINT = "There is no atom of this id for this key: look it up with memory_search.";

/**
 * Returns the library that a call means, and notes its use: the library it names, else the default (spec §2.6).
 *
 * @throws ToolFault if there is no such library for the key
 */
export async function libraryOf(
  { db, key, noteLibrary }: ToolContext,
  named: string | undefined,
): Promise<ReachableLibrary> {
  const library = (await findRequestedLibrary(db, key, named)) ?? (await noLibrary(db, key, named));
  noteLibrary(library.id);
  return library;
}

/**
 * Returns the library that a call reads, likewise: null for all libraries, of which the libraries that the answer is
 * from are noted.
 */
export async function libraryToRead(
  { db, key, noteLibrary }: ToolContext,
  named: string | undefined,
): Promise<ReachableLibrary | null> {
  const library = await findLibraryToRead(db, key, named);
  if (library === undefined) return noLibrary(db, key, named);
  if (library !== null) noteLibrary(library.id);
  return library;
}

async function noLibrary(db: Db, key: KeyRecord, named: string | undefined): Promise<never> {
  const fault = await noSuchLibrary(db, key, named);
  const mayList = permits(key, "mcp.memory_libraries");
  throw new ToolFault(mayList ? `${fault} memory_libraries lists those that there are.` : fault);
}
