import type { ServedOperation } from "../../../domain/access/gateway-operations.ts";
import { type ExpectedTokens, expectTokens } from "../../../domain/usage/token-reservation.ts";
import { callBounds } from "./call-bounds.ts";

/** Estimates the tokens that a call may use, by its whole body; see {@link callBounds}. */
export function expectedTokens(operation: ServedOperation, body: Buffer): ExpectedTokens | Promise<ExpectedTokens> {
  const bounds = callBounds(operation, body);
  if (bounds instanceof Promise) return bounds.then((found) => expectTokens(body.length, found));
  return expectTokens(body.length, bounds);
}
