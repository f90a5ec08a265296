import type { IncomingMessage } from "node:http";

/** Up to this declared length a body is small: its end may be waited for. */
const MAX_SMALL_BODY = 64 * 1024;

/** Whether a request's head says that there is a body. */
export function hasBody({ headers }: IncomingMessage): boolean {
  return headers["transfer-encoding"] !== undefined || (headers["content-length"] ?? "0") !== "0";
}

/** Whether all of a request's body is small by its declared length; of a body in chunks nobody knows. */
export function hasSmallBody({ headers }: IncomingMessage): boolean {
  return headers["transfer-encoding"] === undefined && Number(headers["content-length"] ?? "0") <= MAX_SMALL_BODY;
}
