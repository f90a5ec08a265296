import type { IncomingMessage, OutgoingHttpHeader, OutgoingHttpHeaders, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { AnswerBudget } from "../answers/answer-budget.ts";
import { PacedResponse } from "../answers/paced-response.ts";
import { hasBody, hasSmallBody } from "../bodies/body-framing.ts";
import { discardInput } from "./discard-input.ts";
import { isStopped, noteUnread } from "./stop-parsing.ts";

/** Maximum number of sockets of unfinished requests that linger at a time in a process (spec §2.8). */
export const MAX_LINGERING = 64;
/** Milliseconds that the rest of a refused request is waited for, or discarded. */
const LINGER_MS = 1_000;

/**
 * Connections that have their answer while their caller still sends: each stays open for a second more, and its input
 * is not parsed.
 */
export class LingeringSockets {
  readonly #max: number;
  readonly #sockets = new Set<Socket>();

  /** Creates an empty set. @param max maximum number that linger at a time; any further socket is ended at once */
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
 * Makes the listener's class of responses. If a response ends before its request, nothing more of the request is
 * processed, whatever the response and whichever part of the server sends it (spec §2.8, threats b82).
 *
 * @param answers memory budget of the responses
 */
export function responseClass(
  lingering: LingeringSockets,
  answers: AnswerBudget,
): typeof ServerResponse<IncomingMessage> {
  // Shared by all responses, so that a flood of refusals makes no closure for each.
  const leaveRequest = function (this: ServerResponse<IncomingMessage>): void {
    leave(this.req, lingering);
  };
  return class ListenerResponse extends PacedResponse {
    protected override get budget(): AnswerBudget {
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
        // Before Node's own listener, which would close the connection with unread input: a reset.
        this.prependListener("finish", leaveRequest);
      }
      return typeof reason === "string" ? super.writeHead(status, reason, headers) : super.writeHead(status, reason);
    }
  };
}

/**
 * Gives up a request whose response has been written. The rest of a small request may still come; the connection of any
 * other is ended.
 */
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
    // Node calls this if the caller asked to close the connection.
    socket.destroySoon = () => (lastLeft.get(socket)?.complete === false ? lingering.add(socket) : destroySoon());
  }
  lastLeft.set(socket, request);
  if (left.push(request) === 1) setImmediate(limitLeft);
}

/** Small requests that were given up in this iteration of the event loop. */
let left: IncomingMessage[] = [];

/**
 * Bounds the wait for the rest of requests that were given up. Most bodies come with their head, and Node hands out the
 * head before it reads them: a timer for each would keep all objects of a flood of refusals for as long as it runs.
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

/** Last request that was given up on each connection that goes on. */
const lastLeft = new WeakMap<Socket, IncomingMessage>();

const ignore = (): void => {};

/**
 * True if a request's body has not ended. Node marks a request without a body as complete a moment after it has handed
 * it out.
 */
function isUnfinished(request: IncomingMessage): boolean {
  return !request.complete && hasBody(request);
}
