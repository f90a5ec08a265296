import type { RouteOptions } from "fastify";
import type { ProblemCode } from "../http/problems/catalogue.ts";
import { SAFE_METHODS } from "../http/safe-methods.ts";
import type { RouteDocs } from "./route-docs.ts";

/** Refusals of every operation that a key opens. */
export const KEY_REFUSALS = [
  ...(["unauthorized", "forbidden", "rate_limited"] as const),
  ...(["expectation_failed", "internal", "unavailable"] as const),
] as const satisfies readonly ProblemCode[];
/** Refusals of an operation that may have a body. */
export const BODY_REFUSALS = [
  ...(["invalid_request", "request_timeout", "payload_too_large", "unsupported_media_type"] as const),
] as const satisfies readonly ProblemCode[];

const MANAGEMENT = [
  ...(["unauthorized", "forbidden_origin", "expectation_failed", "internal", "unavailable"] as const),
] as const satisfies readonly ProblemCode[];

/** True for an operation of the memory over REST, whose calls may be for a subject. */
export function isOfMemory(operation: unknown): boolean {
  return typeof operation === "string" && operation.startsWith("atoms.");
}

/**
 * Lists every code that a route refuses with: those that its access, path, query, body and preconditions imply, and
 * those that it declares.
 */
export function refusalsOf({ url, schema, config }: RouteOptions, docs: RouteDocs, method: string): ProblemCode[] {
  const { ifMatch, idempotent, refusals = [] } = docs;
  const [isKeyed, isManaged] = [config?.operation !== undefined, config?.management === true];
  const hasParameters = url.includes("/:");
  const isChange = !SAFE_METHODS.has(method);
  return [
    ...(isKeyed ? KEY_REFUSALS : []),
    ...(isOfMemory(config?.operation) ? (["subject_required", "invalid_request"] as const) : []),
    ...(isManaged ? MANAGEMENT : []),
    ...(isManaged ? (isChange ? (["forbidden", "insufficient_storage"] as const) : (["rate_limited"] as const)) : []),
    ...(hasParameters ? (["not_found", "uri_too_long"] as const) : []),
    ...(schema?.querystring === undefined ? [] : (["invalid_request"] as const)),
    ...(isChange ? BODY_REFUSALS : []),
    ...(ifMatch === undefined ? [] : (["precondition_failed"] as const)),
    ...(ifMatch === "required" ? (["precondition_required"] as const) : []),
    ...(idempotent ? (["idempotency_mismatch"] as const) : []),
    ...refusals,
  ];
}
