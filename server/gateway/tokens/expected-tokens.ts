import type { ServedOperation } from "../../../domain/access/gateway-operations.ts";
import { type ExpectedTokens, expectTokens } from "../../../domain/usage/token-reservation.ts";
import { callBounds } from "./call-bounds.ts";

/** Estimates the tokens that a call may use, by its whole body. */
export async function expectedTokens(operation: ServedOperation, body: Buffer): Promise<ExpectedTokens> {
  return expectTokens(body.length, await callBounds(operation, body));
}
