import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/**
 * What a parser's callback for a head answers where nothing behind it is HTTP: the parser stops in the middle of what
 * was read. Node answers so itself for a request to change the protocol.
 */
const STOP = 2;

/** What takes each request as its head is parsed; Node's own, of which its types say nothing. */
type OnIncoming = (request: IncomingMessage, keepAlive: boolean) => number;

/** The response that was begun last before its request was there. */
let begun: ServerResponse<IncomingMessage> | undefined;

const stopped = new WeakSet<IncomingMessage>();

/** Notes a response that is its connection's last and begins before its request is there. */
export function noteUnread(response: ServerResponse<IncomingMessage>): void {
  begun = response;
}

/** Whether a request's body was left unparsed: Node takes it for complete. */
export function isStopped(request: IncomingMessage): boolean {
  return stopped.has(request);
}

/**
 * Has nothing of a body parsed whose request is answered as its head comes. A read brings up to 64 KiB of it with the
 * head, and in chunks of one byte those are ten thousand callbacks, fifty times what they cost in one piece (threats
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
