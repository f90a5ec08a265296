import type { IncomingMessage, OutgoingHttpHeader, OutgoingHttpHeaders, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { AnswerRoom } from "../answers/answer-room.ts";
import { PacedResponse } from "../answers/paced-response.ts";
import { hasBody, hasSmallBody } from "../bodies/body-framing.ts";
import { discardInput } from "./discard-input.ts";
import { isStopped, noteUnread } from "./stop-parsing.ts";

/** Sockets of unfinished requests that may linger at a time in one process (spec §2.8). */
export const MAX_LINGERING = 64;
/** How long a refused request's rest is waited for, or thrown away. */
const LINGER_MS = 1_000;

/** The connections that have their answer while their caller still sends: each lives a second more, unread. */
export class LingeringSockets {
  readonly #max: number;
  readonly #sockets = new Set<Socket>();

  /** @param max how many may linger at a time; those beyond are ended at once */
  constructor(max: number) {
    this.#max = max;
  }

  get size(): number {
    return this.#sockets.size;
  }

  /** Ends a connection whose answer was written: nothing more of its input is parsed. */
  add(socket: Socket): void {
    if (socket.destroyed || this.#sockets.has(socket)) return;
    if (this.#sockets.size >= this.#max) {
      socket.destroy();
      return;
    }
    this.#sockets.add(socket);
    const impatience = setTimeout(() => socket.destroy(), LINGER_MS);
    socket.once("close", () => {
      clearTimeout(impatience);
      this.#sockets.delete(socket);
    });
    socket.once("end", () => socket.destroy());
    discardInput(socket);
    socket.end();
  }
}

/**
 * Makes the listener's class of responses. Where a response ends before its request did, nothing more of the request is
 * processed, whatever the response says and whichever part of the server sends it (spec §2.8, threats b82).
 *
 * @param answers where responses take their room
 */
export function responseClass(
  lingering: LingeringSockets,
  answers: AnswerRoom,
): typeof ServerResponse<IncomingMessage> {
  // One for all responses: a flood of refusals makes no closure for each.
  const leaveRequest = function (this: ServerResponse<IncomingMessage>): void {
    leave(this.req, lingering);
  };
  return class ListenerResponse extends PacedResponse {
    protected override get room(): AnswerRoom {
      return answers;
    }

    override writeHead(status: number, reason?: string, headers?: OutgoingHttpHeaders | OutgoingHttpHeader[]): this;
    override writeHead(status: number, headers?: OutgoingHttpHeaders | OutgoingHttpHeader[]): this;
    override writeHead(
      status: number,
      reason?: string | OutgoingHttpHeaders | OutgoingHttpHeader[],
      headers?: OutgoingHttpHeaders | OutgoingHttpHeader[],
    ): this {
      if (isUnfinished(this.req)) {
        // Written as `Connection: close`.
        if (status >= 200 && !hasSmallBody(this.req)) {
          this.shouldKeepAlive = false;
          noteUnread(this);
        }
        // Before Node's own listener, which would close a connection that ends here with what came unread: a reset.
        this.prependListener("finish", leaveRequest);
      }
      return typeof reason === "string" ? super.writeHead(status, reason, headers) : super.writeHead(status, reason);
    }
  };
}

/** Leaves a request whose response has been written: it may end by itself where it is small, else it is cut off. */
function leave(request: IncomingMessage, lingering: LingeringSockets): void {
  const { socket } = request;
  if ((request.complete && !isStopped(request)) || socket.destroyed) return;
  if (!hasSmallBody(request)) {
    socket.destroySoon = ignore;
    lingering.add(socket);
    return;
  }
  if (!lastLeft.has(socket)) {
    const destroySoon = socket.destroySoon.bind(socket);
    // What Node calls where the caller asked for the connection to be closed.
    socket.destroySoon = () => (lastLeft.get(socket)?.complete === false ? lingering.add(socket) : destroySoon());
  }
  lastLeft.set(socket, request);
  if (left.push(request) === 1) setImmediate(limitLeft);
}

/** Small requests that were left in this turn of the event loop. */
let left: IncomingMessage[] = [];

/**
 * Waits for those whose rest has not come. Most bodies come with their head, and Node hands out the head before it
 * reads them: a timer for each would keep all that a flood of refusals is made of for as long as it runs.
 */
function limitLeft(): void {
  const requests = left;
  left = [];
  for (const request of requests) {
    if (request.complete) continue;
    setTimeout(() => {
      if (!request.complete) request.socket.destroy();
    }, LINGER_MS).unref();
  }
}

/** Of each connection that goes on: one at a time, however many of its requests are left. */
const lastLeft = new WeakMap<Socket, IncomingMessage>();

const ignore = (): void => {};

/** Node calls a request without a body complete a moment after it has handed it out. */
function isUnfinished(request: IncomingMessage): boolean {
  return !request.complete && hasBody(request);
}
