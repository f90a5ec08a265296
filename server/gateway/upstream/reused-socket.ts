import type { Socket } from "node:net";

/** What follows the traffic of a socket. */
export type SocketTraffic = {
  /** A request is sent. */
  begin(): void;
  /** A piece of an answer has come. */
  arrive(): void;
};

/** How far a socket had come when it failed. */
type SocketEnd = {
  readonly requests: number;
  readonly isAnswering: boolean;
  /** Since the last request was begun. */
  readonly afterMs: number;
};

/** By the errors of sockets, which reach the calls that were on them. */
const ends = new WeakMap<Error, SocketEnd>();

/** Codes of the errors of a socket that the other side has closed. */
const CLOSED: ReadonlySet<unknown> = new Set(["ECONNRESET", "EPIPE", "UND_ERR_SOCKET"]);

/**
 * A connection that was given up while it was idle refuses the first bytes of a request, which takes one round trip and
 * its retransmissions. What is closed later may have had the request, and worked on it.
 */
const AT_ONCE_MS = 1_000;

/**
 * Has {@link wasReused} know the errors of a socket.
 *
 * @param monotonic milliseconds on a clock that never jumps
 */
export function watchReuse(socket: Socket, monotonic: () => number = () => performance.now()): SocketTraffic {
  let requests = 0;
  let begunAt = 0;
  let isAnswering = false;
  socket.once("error", (error) => ends.set(error, { requests, isAnswering, afterMs: monotonic() - begunAt }));
  return {
    begin() {
      requests += 1;
      begunAt = monotonic();
      isAnswering = false;
    },
    arrive() {
      isAnswering = true;
    },
  };
}

/**
 * Whether a request failed because its socket, which had served another one before, was closed by the upstream at once
 * and before any byte of an answer: an upstream may give up an idle connection at any time, also just as it is used
 * again.
 *
 * @param sent whether the request was given to the socket: of one that was not, the upstream has nothing
 */
export function wasReused(error: unknown, sent: boolean): boolean {
  if (!(error instanceof Error && "code" in error && CLOSED.has(error.code))) return false;
  const end = ends.get(error);
  if (end === undefined) return false;
  if (!sent) return end.requests > 0;
  return end.requests > 1 && !end.isAnswering && end.afterMs <= AT_ONCE_MS;
}
