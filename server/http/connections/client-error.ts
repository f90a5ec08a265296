import type { Socket } from "node:net";
import { OWN_ERROR } from "../error-source.ts";
import type { ProblemCode } from "../problems/catalogue.ts";
import { problem, problemDocument } from "../problems/problem.ts";
import { CLIENT_HEADER, nextRequestId, REQUEST_ID_HEADER } from "../request-id.ts";
import type { LingeringSockets } from "./refused-request.ts";

/** Problem codes for refusals of the parser; any other is answered 400. */
const CODES: Readonly<Record<string, ProblemCode>> = {
  HPE_HEADER_OVERFLOW: "headers_too_large",
  ERR_HTTP_REQUEST_TIMEOUT: "invalid_request",
};

/**
 * Returns a handler that answers input which is not HTTP with a problem document, then closes the connection, like that
 * of any refused request. Nothing of the input is echoed.
 */
export function clientErrorHandler(
  lingering: LingeringSockets,
): (error: Error & { code?: string }, socket: Socket) => void {
  return (error, socket) => {
    if (error.code === "ECONNRESET" || socket.destroyed || !socket.writable) {
      socket.destroy();
      return;
    }
    const shown = problem(CODES[error.code ?? ""] ?? "invalid_request");
    const id = nextRequestId();
    // The path is unknown, but the error is never an upstream's.
    const body = problemDocument(shown, id);
    socket.write(
      `HTTP/1.1 ${shown.status} ${shown.title}\r\nContent-Type: application/problem+json\r\n${REQUEST_ID_HEADER}: ${id}\r\n${CLIENT_HEADER}: ${id}\r\n${OWN_ERROR.join(": ")}\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
    );
    lingering.add(socket);
  };
}
