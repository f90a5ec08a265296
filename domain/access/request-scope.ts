import { OPERATIONS, type OperationName } from "./operations.ts";
import { SCOPES } from "./scopes.ts";

/** What the requests of a key are counted by: the scope that let one through, or any of the memory's (MCP without a tool). */
export const REQUEST_SCOPES = [...SCOPES, "memory:*"] as const;

export type RequestScope = (typeof REQUEST_SCOPES)[number];

/** Requests are counted in pieces of this length, each beginning at a multiple of it since the epoch. */
export const REQUEST_SLOT_MS = 5 * 60_000;

/** What a request is counted by that was let through to an operation; undefined for what any key may ask of itself. */
export function requestScope(operation: OperationName): RequestScope | undefined {
  const { product, scope } = OPERATIONS[operation];
  return scope ?? (product === "memory" ? "memory:*" : undefined);
}
