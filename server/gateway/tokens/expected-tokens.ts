import { type GatewayOperation, OPERATIONS } from "../../../domain/access/operations.ts";
import { type ExpectedTokens, expectTokens } from "../../../domain/usage/token-reservation.ts";
import type { RequestHead } from "../headers/headers.ts";
import { outputBound } from "./output-bound.ts";

/**
 * What a call may use, by its body where that was read, else by its length.
 *
 * @param text the body; undefined for one that is passed on as it comes
 */
export async function expectedTokens(
  operation: GatewayOperation,
  { contentEncoding, contentLength }: Pick<RequestHead, "contentEncoding" | "contentLength">,
  text: Buffer | undefined,
): Promise<ExpectedTokens> {
  const isWritten = OPERATIONS[operation].scope !== "gateway:embed";
  // The length of what is compressed says little.
  if (contentEncoding !== undefined) return expectTokens({ bytes: undefined, mostOutput: undefined, isWritten });
  const mostOutput = text === undefined || !isWritten ? undefined : await outputBound(operation, text);
  return expectTokens({ bytes: text?.length ?? contentLength, mostOutput, isWritten });
}
