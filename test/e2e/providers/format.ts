/** What the formats of the providers have in common: what is asked, what is answered, and how one becomes the other. */
import { createHash } from "node:crypto";
import { Ajv } from "ajv";

/** A request, as far as the stub looks into it. */
export type Asked = {
  readonly model: string;
  readonly isStream: boolean;
  /** True if a stream is to be an array of JSON instead of events. */
  readonly isArray?: boolean;
  /** The user's texts, one after the other. */
  readonly prompt: string;
  readonly image: { readonly mimeType: string; readonly base64: string } | undefined;
  readonly tool: { readonly name: string; readonly schema: unknown } | undefined;
  /** What the caller's tool returned for the stub's call of it. */
  readonly toolResult: string | undefined;
  /** The schema of the answer that is to be JSON. */
  readonly schema: unknown;
};

/** What the model says: a text, or a call of a tool of the caller's. */
export type Reply =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "call"; readonly name: string; readonly args: object };

/** An event of a stream; some formats name it. */
export type StreamEvent = { readonly name?: string; readonly data: object | "[DONE]" };

/** A stream in three parts: the middle one may be repeated, or broken off. */
export type Stream = Readonly<Record<"opening" | "deltas" | "closing", readonly StreamEvent[]>>;

/** How one API of a provider reads requests and writes answers. */
export type Format = {
  /**
   * Reads a request.
   *
   * @throws InvalidRequest where the provider would refuse it
   */
  readonly read: (body: string, url: URL, header: (name: string) => string | undefined) => Asked;
  readonly whole: (reply: Reply, asked: Asked) => object;
  readonly stream: (reply: Reply, asked: Asked) => Stream;
  readonly error: (status: Refusal, message: string) => object;
};

/** The statuses that the stub refuses with. */
export type Refusal = 400 | 401 | 404 | 429;

export class InvalidRequest extends Error {
  readonly status: Refusal;
  constructor(message: string, status: Refusal = 400) {
    super(message);
    this.status = status;
  }
}

/** The tokens of every answer. */
export const TOKENS = { input: 12, output: 7, total: 19 };

/** What the model knows, by the name of the member that asks for it. */
const FACTS: Readonly<Record<string, unknown>> = { city: "Paris", degrees: 18 };

/**
 * Returns what the model says.
 *
 * @throws InvalidRequest if the caller's schema is none, or asks for what the model does not know
 */
export function replyTo({ model, tool, toolResult, schema, image }: Asked): Reply {
  if (toolResult !== undefined) return { kind: "text", text: `The tool returned: ${toolResult}` };
  if (tool !== undefined) return { kind: "call", name: tool.name, args: instanceOf(tool.schema) };
  if (schema !== undefined) return { kind: "text", text: JSON.stringify(instanceOf(schema)) };
  if (image !== undefined) return { kind: "text", text: describe(image) };
  return { kind: "text", text: `I am a stub, not a model. You asked for ${model}.` };
}

function instanceOf(schema: unknown): object {
  const { properties = {} } = Object(schema);
  const known = Object.entries(FACTS).filter(([name]) => name in properties);
  const instance = Object.fromEntries(known);
  const ajv = new Ajv({ strict: false });
  let isValid: boolean;
  try {
    isValid = ajv.validate(Object(schema), instance);
  } catch (error) {
    throw new InvalidRequest(`Invalid schema: ${error instanceof Error ? error.message : error}`);
  }
  if (!isValid) throw new InvalidRequest(`The stub has no answer of this schema: ${ajv.errorsText()}`);
  return instance;
}

/** Returns what shows that each byte of an image has arrived. It is red, as the tests' image is. */
function describe({ mimeType, base64 }: NonNullable<Asked["image"]>): string {
  const bytes = Buffer.from(base64, "base64");
  if (bytes.toString("base64") !== base64) throw new InvalidRequest("The image is not base64.");
  const digest = createHash("sha256").update(bytes).digest("hex");
  return `Red. ${bytes.length} bytes of ${mimeType}, ${digest}`;
}

/** Cuts a text into pieces as a model streams them. */
export const piecesOf = (text: string): string[] => text.split(/(?<=[ ,])/);

/** Splits the URL of data that is within a request. */
export function imageOf(url: string): NonNullable<Asked["image"]> {
  const [, mimeType, base64] = /^data:([\w/+-]+);base64,(.*)$/.exec(url) ?? [];
  if (mimeType === undefined || base64 === undefined) throw new InvalidRequest("The image is no URL of data.");
  return { mimeType, base64 };
}

/** Holds the id of a tool's result to that of the call: a provider refuses one that answers no call. */
export function answersCall(id: string | undefined, expected: string): void {
  if (id !== expected) throw new InvalidRequest(`There is no tool call with the id ${id}.`);
}
