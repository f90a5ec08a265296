import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/**
 * Answer of a parser's callback for a head if nothing after it is HTTP: the parser stops in the middle of what was
 * read. Node itself answers so for a request to change the protocol.
 */
const STOP = 2;

/** Called with each request as its head is parsed; Node's own, which its types do not declare. */
type OnIncoming = (request: IncomingMessage, keepAlive: boolean) => number;

/** Last response that began before its request was complete, and that ends its connection. */
let begun: ServerResponse<IncomingMessage> | undefined;

const stopped = new WeakSet<IncomingMessage>();

/** Notes a response that is its connection's last and begins before its request is complete. */
export function noteUnread(response: ServerResponse<IncomingMessage>): void {
  begun = response;
}

/** True if a request's body was left unparsed: Node takes it for complete. */
export function isStopped(request: IncomingMessage): boolean {
  return stopped.has(request);
}

/**
 * Stops the parser at the body of a request that is answered as its head comes. A read brings up to 64 KiB of the body
 * with the head, and in chunks of one byte those are ten thousand callbacks, fifty times the cost of one piece (threats
 * b111).
 */
export function stopAtRefusals(socket: Socket): void {
  const parser: unknown = Reflect.get(socket, "parser");
  if (!takesRequests(parser)) return;
  const { onIncoming } = parser;
  parser.onIncoming = (request, keepAlive) => {
    takeBegun();
    const taken = onIncoming(request, keepAlive);
    const response = takeBegun();
    if (response?.req !== request || !response.writableEnded) return taken;
    stopped.add(request);
    return STOP;
  };
}

function takeBegun(): ServerResponse<IncomingMessage> | undefined {
  const response = begun;
  begun = undefined;
  return response;
}

function takesRequests(parser: unknown): parser is { onIncoming: OnIncoming } {
  return (
    typeof parser === "object" && parser !== null && "onIncoming" in parser && typeof parser.onIncoming === "function"
  );
}
