import { OPERATIONS, type OperationName } from "./operations.ts";
import { SCOPES } from "./scopes.ts";

/** Labels by which requests are counted: the scope that permitted one, or any of the memory's (MCP without a tool). */
export const REQUEST_SCOPES = [...SCOPES, "memory:*"] as const;

export type RequestScope = (typeof REQUEST_SCOPES)[number];

/** Length of the intervals in which requests are counted, each beginning at a multiple of it since the epoch. */
export const REQUEST_SLOT_MS = 5 * 60_000;

/** Returns the label under which a permitted request is counted; undefined for what any key may ask of itself. */
export function requestScope(operation: OperationName): RequestScope | undefined {
  const { product, scope } = OPERATIONS[operation];
  return scope ?? (product === "memory" ? "memory:*" : undefined);
}
