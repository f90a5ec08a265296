import type { Header, JsonSchema, Operation, Paths, ResponseObject } from "../../../server/openapi/format.ts";
import { RATE_HEADERS } from "../../../server/openapi/rate-headers.ts";
import { type RefusalBody, refusals } from "../../../server/openapi/refusals.ts";
import { KEY_SECURITY } from "../../../server/openapi/security.ts";

const VERSION = { const: "2.0" } as const;
const ID = { type: ["string", "integer", "null"] } as const;

const MESSAGE: JsonSchema = {
  title: "JsonRpcMessage",
  type: "object",
  required: ["jsonrpc", "method"],
  properties: {
    jsonrpc: VERSION,
    id: { type: ["string", "integer"], description: "Left out of a notification." },
    method: { type: "string", description: "Such as `initialize`, `tools/list` and `tools/call`." },
    params: { type: "object" },
  },
};

const ERROR: JsonSchema = {
  title: "JsonRpcError",
  type: "object",
  required: ["jsonrpc", "id", "error"],
  properties: {
    jsonrpc: VERSION,
    id: ID,
    error: {
      type: "object",
      required: ["code", "message"],
      properties: { code: { type: "integer" }, message: { type: "string" } },
    },
  },
};

const RESPONSE: JsonSchema = {
  title: "JsonRpcResponse",
  type: "object",
  required: ["jsonrpc", "id"],
  properties: { jsonrpc: VERSION, id: ID, result: { type: "object" }, error: { type: "object" } },
};

const jsonRpcBody: RefusalBody = () => ({ "application/json": { schema: ERROR } });

const CHALLENGE: Header = {
  description: 'Of a tool whose scope the key lacks: `Bearer error="insufficient_scope", scope="..."`.',
  required: false,
  schema: { type: "string" },
};

const IN_PROBLEM_DOCUMENTS = refusals(
  [
    ...(["unauthorized", "forbidden", "forbidden_origin", "request_timeout"] as const),
    ...(["expectation_failed", "internal", "unavailable"] as const),
  ],
  undefined,
  { 403: { "WWW-Authenticate": CHALLENGE } },
);
const IN_JSON_RPC = refusals(
  [...(["invalid_request", "not_acceptable", "payload_too_large", "unsupported_media_type"] as const), "rate_limited"],
  jsonRpcBody,
  { 429: RATE_HEADERS },
);

/** Adds the refusal of a tool that the key may not call, in the protocol's form, to the refusals of the key itself. */
function withToolRefusal(answer: ResponseObject | undefined): ResponseObject {
  return { description: "", ...answer, content: { ...answer?.content, "application/json": { schema: ERROR } } };
}

const SEND: Operation = {
  tags: ["MCP"],
  summary: "Send a message of the Model Context Protocol",
  description:
    "Takes `Accept: application/json, text/event-stream`. A browser's page of another origin is refused before anything else is looked at.",
  operationId: "postMcp",
  parameters: [
    {
      ...{ name: "MCP-Protocol-Version", in: "header", required: false },
      description: "What client and server have agreed on.",
      schema: { type: "string" },
    },
  ],
  requestBody: {
    required: true,
    content: {
      "application/json": {
        schema: MESSAGE,
        example: {
          ...{ jsonrpc: "2.0", id: 1, method: "tools/call" },
          params: { name: "memory_search", arguments: { query: "deploy freeze" } },
        },
      },
    },
  },
  responses: {
    200: {
      description: "The answer, as JSON or as a stream of events; a tool's own failure too.",
      headers: RATE_HEADERS,
      content: { "application/json": { schema: RESPONSE }, "text/event-stream": { schema: { type: "string" } } },
    },
    202: { description: "A notification was taken.", headers: RATE_HEADERS },
    ...IN_PROBLEM_DOCUMENTS,
    ...IN_JSON_RPC,
    403: withToolRefusal(IN_PROBLEM_DOCUMENTS[403]),
  },
  security: KEY_SECURITY,
};

/** @param path where the endpoint is served */
export function mcpPaths(path: string): Paths {
  return { [path]: { post: SEND } };
}
