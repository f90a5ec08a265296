import type { ServedOperation } from "../../../domain/access/gateway-operations.ts";
import type { Dialect } from "../../../domain/access/key-record.ts";
import type { ProblemCode } from "../../http/problems/catalogue.ts";
import type { Problem } from "../../http/problems/problem.ts";

/** Words of a format for problems, by their code; a code that is not listed takes the word of its status's class. */
type Words = { readonly [code in ProblemCode]?: string } & { readonly client: string; readonly server: string };

const OPENAI_TYPES: Words = {
  unauthorized: "authentication_error",
  forbidden: "permission_error",
  address_not_allowed: "permission_error",
  rate_limited: "rate_limit_error",
  budget_exceeded: "insufficient_quota",
  client: "invalid_request_error",
  server: "server_error",
};
const GEMINI_STATUSES: Words = {
  unauthorized: "UNAUTHENTICATED",
  forbidden: "PERMISSION_DENIED",
  address_not_allowed: "PERMISSION_DENIED",
  not_found: "NOT_FOUND",
  method_not_allowed: "UNIMPLEMENTED",
  rate_limited: "RESOURCE_EXHAUSTED",
  budget_exceeded: "RESOURCE_EXHAUSTED",
  bad_gateway: "UNAVAILABLE",
  unavailable: "UNAVAILABLE",
  gateway_timeout: "DEADLINE_EXCEEDED",
  client: "INVALID_ARGUMENT",
  server: "INTERNAL",
};
const ANTHROPIC_TYPES: Words = {
  unauthorized: "authentication_error",
  forbidden: "permission_error",
  address_not_allowed: "permission_error",
  not_found: "not_found_error",
  payload_too_large: "request_too_large",
  rate_limited: "rate_limit_error",
  budget_exceeded: "rate_limit_error",
  gateway_timeout: "timeout_error",
  client: "invalid_request_error",
  server: "api_error",
};

/**
 * Error body of each format, as its official SDK reads it. If the format has no field for our code, the message begins
 * with the code.
 */
const BODIES: Readonly<Record<Dialect, (shown: Problem) => object>> = {
  openai: (shown) => ({
    error: { message: shown.detail, type: word(OPENAI_TYPES, shown), code: shown.code, param: null },
  }),
  gemini: (shown) => ({
    error: { code: shown.status, message: `${shown.code}: ${shown.detail}`, status: word(GEMINI_STATUSES, shown) },
  }),
  anthropic: (shown) => ({
    type: "error",
    error: {
      type: word(ANTHROPIC_TYPES, shown),
      message: `${shown.code}: ${shown.detail}`,
      ...(Object.keys(shown.members).length > 0 && { details: shown.members }),
    },
  }),
};

/** Returns the body of an error that the gateway itself makes, in the caller's format (spec §4). */
export function dialectError(dialect: Dialect, shown: Problem): string {
  return JSON.stringify(BODIES[dialect](shown));
}

/** Operations whose streams are of events that are numbered and name their type, an error's too. */
const OF_RESPONSES: ReadonlySet<ServedOperation> = new Set(["gateway.responses", "gateway.get_response"]);

/** Returns the last event of a stream that is broken off, which the format's SDK raises as an error. */
export function terminalEvent(dialect: Dialect, operation: ServedOperation, shown: Problem): string {
  const body = dialectError(dialect, shown);
  if (OF_RESPONSES.has(operation)) return `event: error\ndata: ${responsesError(body, shown)}\n\n`;
  const name = dialect === "anthropic" ? "event: error\n" : "";
  return `${name}data: ${body}\n\n`;
}

/**
 * Returns an error as an event of OpenAI's responses: with its members beside the type, as it is published, and in
 * `error`, where OpenAI's SDKs look. The gateway does not count the events before it.
 */
function responsesError(body: string, { code, detail }: Problem): string {
  return JSON.stringify({
    type: "error",
    sequence_number: 0,
    code,
    message: detail,
    param: null,
    ...JSON.parse(body),
  });
}

function word(words: Words, { code, status }: Problem): string {
  return words[code] ?? (status < 500 ? words.client : words.server);
}
