/** Google's generateContent and streamGenerateContent, in the types of its SDK. */
import type { Candidate, Content, FinishReason, GenerateContentResponse, Part, Schema } from "@google/genai";
import { type Asked, type Format, InvalidRequest, piecesOf, type Refusal, type Reply, TOKENS } from "./format.ts";

/** The body of a request, which the SDK makes of its own arguments: what the stub reads of it. */
type Body = {
  readonly contents: readonly Content[];
  readonly tools?: readonly { readonly functionDeclarations?: readonly Declaration[] }[];
  readonly generationConfig?: { readonly responseSchema?: Schema; readonly responseJsonSchema?: unknown };
};
type Declaration = { readonly name: string; readonly parameters?: Schema; readonly parametersJsonSchema?: unknown };
/** The SDK adds the rest itself. */
type Answer = Pick<GenerateContentResponse, "candidates" | "usageMetadata" | "modelVersion" | "responseId">;

function read(body: string, { pathname, searchParams }: URL): Asked {
  const [, model = "", action = ""] = /\/models\/([^/:]+):(\w+)$/.exec(pathname) ?? [];
  const isStream = action === "streamGenerateContent";
  const { contents, tools = [], generationConfig = {} }: Body = parseBody(body);
  const parts = contents.flatMap((content) => content.parts ?? []);
  const called = parts.flatMap(({ functionCall }) => (functionCall === undefined ? [] : [functionCall.name]));
  const results = parts.flatMap(({ functionResponse }) => (functionResponse === undefined ? [] : [functionResponse]));
  for (const { name } of results)
    if (!called.includes(name)) throw new InvalidRequest(`No call of ${name} came before.`);
  const [tool] = tools.flatMap(({ functionDeclarations = [] }) => functionDeclarations);
  const [image] = parts.flatMap(({ inlineData }) => (inlineData === undefined ? [] : [inlineData]));
  const { responseSchema, responseJsonSchema } = generationConfig;
  return {
    model: decodeURIComponent(model),
    isStream,
    isArray: searchParams.get("alt") !== "sse",
    prompt: contents
      .filter(({ role = "user" }) => role === "user")
      .flatMap((content) => content.parts ?? [])
      .map(({ text = "" }) => text)
      .join("\n"),
    image: image && { mimeType: image.mimeType ?? "", base64: toBase64(image.data ?? "") },
    tool: tool && { name: tool.name, schema: tool.parametersJsonSchema ?? toJsonSchema(tool.parameters) },
    toolResult: results.map(({ response }) => JSON.stringify(response))[0],
    schema: responseJsonSchema ?? (responseSchema && toJsonSchema(responseSchema)),
  };
}

/** Parses the JSON of a protocol buffer, which takes both spellings of a name: `mimeType`, and `mime_type`. */
function parseBody(body: string): Body {
  return JSON.parse(body, (_name, value) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
    const members = Object.entries(value).map(([name, member]) => [toCamelCase(name), member]);
    return Object.fromEntries(members);
  });
}

const toCamelCase = (name: string): string => name.replaceAll(/_([a-z])/g, (_, letter) => letter.toUpperCase());

/** Decodes what a protocol buffer takes as bytes: base64 of either alphabet. */
const toBase64 = (data: string): string => data.replaceAll("-", "+").replaceAll("_", "/");

/** The types of a schema of Google's own, by their numbers. */
const TYPES = ["", "string", "number", "integer", "boolean", "array", "object"];

/** Makes a JSON schema of one of Google's own, whose types are in capitals, or numbers. */
function toJsonSchema(schema: Schema | undefined): unknown {
  return JSON.parse(JSON.stringify(schema ?? {}), (name, value) => {
    if (name !== "type") return value;
    return typeof value === "number" ? TYPES[value] : String(value).toLowerCase();
  });
}

const partOf = (reply: Reply): Part =>
  reply.kind === "text" ? { text: reply.text } : { functionCall: { name: reply.name, args: { ...reply.args } } };

function answerOf(part: Part, { model }: Asked, isLast: boolean): Answer {
  const candidate: Candidate = { content: { role: "model", parts: [part] }, index: 0 };
  return {
    candidates: [isLast ? { ...candidate, finishReason: "STOP" as FinishReason } : candidate],
    usageMetadata: {
      promptTokenCount: TOKENS.input,
      ...(isLast && { candidatesTokenCount: TOKENS.output }),
      totalTokenCount: isLast ? TOKENS.total : TOKENS.input,
    },
    modelVersion: model,
    responseId: "stub",
  };
}

const STATUSES: Readonly<Record<Refusal, string>> = {
  400: "INVALID_ARGUMENT",
  401: "UNAUTHENTICATED",
  404: "NOT_FOUND",
  429: "RESOURCE_EXHAUSTED",
};

export const GENERATE_CONTENT: Format = {
  read,
  whole: (reply, asked) => answerOf(partOf(reply), asked, true),
  // A call of a tool comes whole, in one event.
  stream: (reply, asked) => ({
    opening: [],
    deltas: (reply.kind === "text" ? piecesOf(reply.text).map((text) => ({ text })) : [partOf(reply)]).map((part) => ({
      data: answerOf(part, asked, false),
    })),
    closing: [{ data: answerOf({ text: "" }, asked, true) }],
  }),
  error: (code, message) => ({ error: { code, message, status: STATUSES[code] } }),
};
