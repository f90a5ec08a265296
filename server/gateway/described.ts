import type { Dialect } from "../../domain/access/key-record.ts";
import type { GatewayOperation } from "../../domain/access/operations.ts";
import type { ProblemCode } from "../http/problems/catalogue.ts";
import { operationIdOf } from "../openapi/describe-route.ts";
import type { Header, JsonSchema, MediaTypes, Operation, Parameter, Paths, ResponseObject } from "../openapi/format.ts";
import { RATE_HEADERS } from "../openapi/rate-headers.ts";
import { type RefusalBody, refusals } from "../openapi/refusals.ts";
import { KEY_BODY_REFUSALS, KEY_REFUSALS } from "../openapi/route-refusals.ts";
import { KEY_SECURITY } from "../openapi/security.ts";
import { SERVED_PATHS, type ServedPath } from "./classify.ts";
import { ERROR_SCHEMAS, errorSchema, MODEL_LIST_SCHEMAS, MODEL_SCHEMAS } from "./described-schemas.ts";
import { ROUTE_ID_HEADER } from "./headers/headers.ts";

/** What every path under `/g/` refuses with. */
const ALWAYS = [...KEY_REFUSALS, "upgrade_required"] as const satisfies readonly ProblemCode[];
/** What a call refuses with that goes to an upstream. */
const FORWARDED = [
  ...ALWAYS,
  ...KEY_BODY_REFUSALS,
  ...(["not_found", "bad_gateway", "upstream_credential_refused", "gateway_timeout"] as const),
] as const satisfies readonly ProblemCode[];

type OperationText = { readonly summary: string; readonly example?: unknown };

const MESSAGES = [{ role: "user", content: "Hello" }];
const CONTENTS = [{ role: "user", parts: [{ text: "Hello" }] }];

const OPERATION_TEXTS: Readonly<Record<Exclude<GatewayOperation, "gateway.resolve_route">, OperationText>> = {
  "gateway.chat_completions": {
    summary: "Generate, as OpenAI's chat completions",
    example: { model: "fast-chat", messages: MESSAGES },
  },
  "gateway.completions": {
    summary: "Generate, as OpenAI's completions",
    example: { model: "fast-chat", prompt: "Hello" },
  },
  "gateway.responses": { summary: "Generate, as OpenAI's responses", example: { model: "fast-chat", input: "Hello" } },
  "gateway.messages": {
    summary: "Generate, as Anthropic's messages",
    example: { model: "fast-chat", max_tokens: 256, messages: MESSAGES },
  },
  "gateway.count_message_tokens": {
    summary: "Count tokens, as Anthropic's messages",
    example: { model: "fast-chat", messages: MESSAGES },
  },
  "gateway.generate_content": { summary: "Generate, as Gemini", example: { contents: CONTENTS } },
  "gateway.stream_generate_content": {
    summary: "Generate as a stream, as Gemini",
    example: { contents: CONTENTS },
  },
  "gateway.count_tokens": { summary: "Count tokens, as Gemini", example: { contents: CONTENTS } },
  "gateway.embeddings": { summary: "Embed, as OpenAI", example: { model: "embed", input: "Hello" } },
  "gateway.embed_content": { summary: "Embed, as Gemini", example: { content: CONTENTS[0] } },
  "gateway.batch_embed_contents": {
    summary: "Embed several, as Gemini",
    example: { requests: [{ model: "models/embed", content: CONTENTS[0] }] },
  },
  "gateway.list_models": { summary: "List the gateway's logical routes" },
  "gateway.get_model": { summary: "Read one of the gateway's logical routes" },
};

/** The gateway's operations by their paths: as they are classified, so that no path is left out. */
export function gatewayPaths(): Paths {
  const paths: Record<string, Record<string, Operation>> = {};
  for (const served of SERVED_PATHS) {
    const path = `/g/{publicId}/${served.path}`;
    paths[path] = { ...paths[path], [served.method.toLowerCase()]: describe(path, served) };
  }
  return paths;
}

function describe(path: string, served: ServedPath): Operation {
  const { method, operation, dialect } = served;
  if (operation === "gateway.resolve_route") throw new Error("a logical route is no path of its own");
  const { summary, example } = OPERATION_TEXTS[operation];
  const isForwarded = method === "POST";
  const one = operation === "gateway.get_model";
  const codes: readonly ProblemCode[] = isForwarded ? FORWARDED : one ? [...ALWAYS, "not_found"] : ALWAYS;
  return {
    tags: ["Gateway"],
    summary,
    operationId: operationIdOf(method, path),
    parameters: parametersOf(path, isForwarded ? undefined : dialect, method),
    ...(isForwarded && {
      requestBody: { required: true, content: { "application/json": { schema: FORWARDED_BODY, example } } },
    }),
    responses: {
      200: isForwarded ? PASSED_ON : models(one, dialect),
      ...refusals(codes, errorBody(dialect, isForwarded), { 429: RATE_HEADERS }),
      ...refusals(["uri_too_long"]),
      ...(isForwarded && { default: UPSTREAM_STATUS }),
    },
    security: KEY_SECURITY,
  };
}

const TEXT = { type: "string" } as const;

function parametersOf(path: string, dialect: Dialect | undefined, method: string): Parameter[] {
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => ({
    ...({ name, in: "path", required: true, schema: TEXT } as const),
    description: name === "model" ? "A logical route, or a model of the upstream's." : "The gateway's public id.",
  }));
  const asksForShape = method === "GET" && dialect === undefined;
  return asksForShape ? [...inPath, ANTHROPIC_VERSION] : inPath;
}

const ANTHROPIC_VERSION: Parameter = {
  name: "anthropic-version",
  in: "header",
  required: false,
  description:
    "Asks for Anthropic's shape; the vendor header or `?key=` as the key's carrier for Gemini's, else OpenAI's.",
  schema: TEXT,
};

const FORWARDED_BODY: JsonSchema = {
  type: "object",
  description: "As the path's API takes it. The name of a logical route is replaced by its upstream's model.",
  properties: { model: { ...TEXT, description: "Where the path names none: a logical route, or a model." } },
};

const ROUTE_ID: Readonly<Record<string, Header>> = {
  [ROUTE_ID_HEADER]: { description: "The logical route that the model named.", required: false, schema: TEXT },
};

const PASSED_ON: ResponseObject = {
  description: "What the upstream answered, byte by byte.",
  headers: { ...ROUTE_ID, ...RATE_HEADERS },
  content: { "application/json": { schema: {} }, "text/event-stream": { schema: TEXT } },
};
const UPSTREAM_STATUS: ResponseObject = {
  description: "Any other status that the upstream answered with, byte by byte.",
  content: { "*/*": { schema: {} } },
};

function models(one: boolean, dialect: Dialect | undefined): ResponseObject {
  const schemas = one ? MODEL_SCHEMAS : MODEL_LIST_SCHEMAS;
  return {
    description: one ? "A logical route." : "The logical routes that the key may name.",
    headers: { ...(one ? ROUTE_ID : {}), ...RATE_HEADERS },
    content: {
      "application/json": { schema: dialect === undefined ? { anyOf: Object.values(schemas) } : schemas[dialect] },
    },
  };
}

/** In the form of the path's API. An upstream's own refusal of the same status passes as it is. */
function errorBody(dialect: Dialect | undefined, isForwarded: boolean): RefusalBody {
  return (status, codes): MediaTypes => {
    const dialects = dialect === undefined ? (Object.keys(ERROR_SCHEMAS) as Dialect[]) : [dialect];
    const own = dialects.map((each) => errorSchema(each, status, codes));
    const theirs = isForwarded ? [{ description: "What the upstream answered." }] : [];
    const all = [...own, ...theirs];
    return { "application/json": { schema: all.length === 1 ? (all[0] ?? {}) : { anyOf: all } } };
  };
}
