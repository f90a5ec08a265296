import { AsyncLocalStorage } from "node:async_hooks";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { hasSmallBody } from "../bodies/body-framing.ts";
import { problem } from "../problems/problem.ts";
import { refuseConnection } from "./bare-response.ts";
import { discardInput } from "./discard-input.ts";
import type { LingeringSockets } from "./refused-request.ts";

/** Number of requests that may wait on a connection for the request under way. */
const MAX_WAITING = 16;

/** Called with each request. */
export type Route = (request: IncomingMessage, response: ServerResponse) => void;

/** Waiting requests of a connection, kept from its first pipelined request on. */
type Pipeline = { waiting: number; overflowed: boolean };

const TOO_MANY = problem(
  "rate_limited",
  `At most ${MAX_WAITING} small requests wait on a connection for the one before them: send the next one when there is an answer.`,
  { "retry-after": "1" },
);

/**
 * Lets only one request of a connection be under way at a time (threats b85). Node hands out all requests of a
 * connection as they are parsed, but gives its socket to one response at a time: a request whose response has no socket
 * yet waits for it. A request beyond {@link MAX_WAITING}, or with a body that is not small, is answered 429 when its
 * turn comes, and is the connection's last.
 */
export class PipeliningLimit {
  readonly #lingering: LingeringSockets;
  readonly #pipelines = new WeakMap<Socket, Pipeline>();
  #waiting = 0;

  constructor(lingering: LingeringSockets) {
    this.#lingering = lingering;
  }

  /** Number of requests that wait, on all connections. */
  get waiting(): number {
    return this.#waiting;
  }

  /** Wraps a route with the limit. */
  guard(route: Route): Route {
    return (request, response) => {
      if (response.socket !== null) route(request, response);
      else this.#hold(request, response, route);
    };
  }

  #hold(request: IncomingMessage, response: ServerResponse, route: Route): void {
    const pipeline = this.#pipelineOf(request.socket);
    // Left over in the parser: it is never handled, since the connection ends before its turn.
    if (pipeline.overflowed) return;
    pipeline.overflowed = pipeline.waiting >= MAX_WAITING || !hasSmallBody(request);
    if (pipeline.overflowed) discardInput(request.socket);
    const proceed = pipeline.overflowed ? () => this.#refuse(request.socket, response) : () => route(request, response);
    this.#count(pipeline, 1);
    // Keeps the async context of the previous request, such as its slot at the database, away from this request
    // (threats b150): the end of the previous response calls it.
    const proceedAsItCame = AsyncLocalStorage.bind(() => {
      if (response.destroyed) return;
      this.#count(pipeline, -1);
      proceed();
    });
    // In a tick of its own, when Node has finished the response before.
    response.once("socket", () => process.nextTick(proceedAsItCame));
  }

  #pipelineOf(socket: Socket): Pipeline {
    const known = this.#pipelines.get(socket);
    if (known !== undefined) return known;
    const pipeline: Pipeline = { waiting: 0, overflowed: false };
    this.#pipelines.set(socket, pipeline);
    socket.once("close", () => this.#count(pipeline, -pipeline.waiting));
    return pipeline;
  }

  #count(pipeline: Pipeline, change: number): void {
    pipeline.waiting += change;
    this.#waiting += change;
  }

  #refuse(socket: Socket, response: ServerResponse): void {
    socket.destroySoon = () => this.#lingering.add(socket);
    refuseConnection(response, TOO_MANY);
  }
}
