import { type GatewayOperation, OPERATIONS } from "../../../domain/access/operations.ts";
import { type ExpectedTokens, expectTokens } from "../../../domain/usage/token-reservation.ts";
import { outputBound } from "./output-bound.ts";

/** What a call may use, by its whole body. */
export async function expectedTokens(operation: GatewayOperation, body: Buffer): Promise<ExpectedTokens> {
  const isWritten = OPERATIONS[operation].scope !== "gateway:embed";
  return expectTokens(body.length, isWritten ? await outputBound(operation, body) : undefined);
}
