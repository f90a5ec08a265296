import { countedUnit, GATEWAY_OPERATIONS, type ServedOperation } from "../../../domain/access/gateway-operations.ts";
import { type CallBounds, type ExpectedTokens, expectTokens } from "../../../domain/usage/token-reservation.ts";
import { callBounds } from "./call-bounds.ts";

/**
 * Estimates the tokens that a call may use, by its whole body; see {@link callBounds}.
 *
 * @param contentType media type of the body
 */
export function expectedTokens(
  operation: ServedOperation,
  body: Buffer,
  contentType?: string,
): ExpectedTokens | Promise<ExpectedTokens> {
  const row = GATEWAY_OPERATIONS[operation];
  const usual = row.usage === "unread" ? undefined : row.usage.usual;
  const expect = ({ most = usual, ...bounds }: CallBounds): ExpectedTokens =>
    expectTokens(body.length, { ...bounds, most }, countedUnit(row));
  const bounds = callBounds(operation, body, contentType);
  return bounds instanceof Promise ? bounds.then(expect) : expect(bounds);
}
