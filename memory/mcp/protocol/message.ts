import {
  classifyInboundRequest,
  PROTOCOL_VERSION_META_KEY,
  SUPPORTED_PROTOCOL_VERSIONS,
  specTypeSchemas,
} from "@modelcontextprotocol/server";
import { problem } from "../../../server/http/problems/problem.ts";
import { TOOLS } from "./server.ts";

/** Longest URI, in characters: no method here takes a URI, and a long one is an attack on its parser (threats b55). */
const MAX_URI = 2_048;
const WHOLE_LIST = 'The list of tools is one page, which no "cursor" goes on from: leave it out.';

/** Versions that are served: that of the era without a handshake, which the library does not list, and the earlier. */
const SERVED_VERSIONS: readonly string[] = ["2026-07-28", ...SUPPORTED_PROTOCOL_VERSIONS];

/** JSON-RPC message, with whatever members. */
export type Message = Readonly<Record<string, unknown>>;

/**
 * Reads one JSON-RPC message; a batch is no message since 2025-06-18. A null in place of `params`, or of a member of
 * it, is as good as left out: serialisers of many languages write one.
 *
 * @throws Problem `invalid_request` for anything else
 */
export function readMessage(body: unknown): Message {
  if (Array.isArray(body)) throw problem("invalid_request", "JSON-RPC batches are not served: send one message each.");
  if (!isObject(body)) throw problem("invalid_request", "The body must be one JSON-RPC message.");
  if (isObject(body.params) && typeof body.params.uri === "string" && body.params.uri.length > MAX_URI) {
    throw problem("invalid_request", `A uri is at most ${MAX_URI} characters long.`);
  }
  const { params, ...rest } = body;
  if (params === null) return rest;
  return isObject(params) && Object.values(params).includes(null) ? { ...rest, params: withoutNulls(params) } : body;
}

function withoutNulls(params: Message): Message {
  return Object.fromEntries(Object.entries(params).filter(([, value]) => value !== null));
}

/**
 * Requires that the header `MCP-Protocol-Version`, if there is one, names a version that is served. A message that
 * names a version itself is left to the protocol library, which compares the two.
 *
 * @throws Problem `invalid_request` for another version
 */
export function requireServedVersion(version: unknown, { params }: Message): void {
  if (typeof version !== "string" || version === "" || SERVED_VERSIONS.includes(version)) return;
  if (isObject(params) && isObject(params._meta) && PROTOCOL_VERSION_META_KEY in params._meta) return;
  const served = SERVED_VERSIONS.join(", ");
  throw problem("invalid_request", `This MCP-Protocol-Version is not served: send one of ${served}.`);
}

function isObject(value: unknown): value is Message {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns the tool that a message calls; undefined for any other message, and if there is no such tool. */
export function toolOf({ method, params }: Message) {
  if (method !== "tools/call" || !isObject(params) || typeof params.name !== "string") return undefined;
  return TOOLS.get(params.name);
}

/**
 * Returns the fault of a request that is not what its method takes, in words by which a model can mend it; undefined if
 * there is none, and for a notification.
 */
export function messageFault(message: Message): string | undefined {
  const { id, method, params = {} } = message;
  if (id === undefined || !isObject(params)) return undefined;
  if (method === "tools/list") return params.cursor === undefined || params.cursor === "" ? undefined : WHOLE_LIST;
  if (method === "initialize") return isLegacy(message) ? faultOfInitialize(params) : undefined;
  return method === "tools/call" ? faultOfCall(params) : undefined;
}

/** True if a message is of an era that has `initialize`: eras since 2026-07-28 have no such method. */
function isLegacy(body: Message): boolean {
  return classifyInboundRequest({ httpMethod: "POST", body }).kind === "legacy";
}

/** Returns the fault of an `initialize`: the protocol library would report it as a failure of its own. */
function faultOfInitialize(params: Message): string | undefined {
  const checked = specTypeSchemas.InitializeRequestParams["~standard"].validate(params);
  const [fault] = checked.issues ?? [];
  // Deeper down, names are the client's.
  return fault && `The "${fault.path?.slice(0, 2).join(".")}" of initialize is not valid: ${fault.message}.`;
}

function faultOfCall(params: Message): string | undefined {
  if (typeof params.name !== "string") return 'The "name" of a call must be a string: one of the names in tools/list.';
  if (params.arguments === undefined || isObject(params.arguments)) return undefined;
  return 'The "arguments" of a call must be an object: {} where nothing is to be said.';
}
