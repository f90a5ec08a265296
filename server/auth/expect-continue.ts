import type { IncomingMessage, Server, ServerResponse } from "node:http";

/** Requests whose client waits for `100 Continue` before it sends a body. */
const waiting = new WeakSet<IncomingMessage>();

/**
 * Takes over `Expect: 100-continue`, which Node would answer by itself before anybody is asked: the request is routed as
 * any other, and its body is asked for by {@link continueBody} alone.
 */
export function holdExpectations(
  server: Server,
  route: (request: IncomingMessage, response: ServerResponse) => void,
): void {
  server.on("checkContinue", (request: IncomingMessage, response: ServerResponse) => {
    waiting.add(request);
    route(request, response);
  });
}

/** Asks for the body where the client waits to be asked: the request has been let through. */
export function continueBody(request: IncomingMessage, response: ServerResponse): void {
  if (waiting.delete(request)) response.writeContinue();
}
