import type { Socket } from "node:net";

/** Observer of the traffic of a socket. */
export type SocketTraffic = {
  /** Called when a request is sent. */
  begin(): void;
  /** Called when a piece of an answer has come. */
  arrive(): void;
};

/** State of a socket when it failed. */
type SocketEnd = {
  readonly requests: number;
  readonly isAnswering: boolean;
  /** Milliseconds since the last request was begun. */
  readonly afterMs: number;
};

/** States of failed sockets, by their errors, which reach the calls that were on them. */
const ends = new WeakMap<Error, SocketEnd>();

/** Codes of the errors of a socket that the other side has closed. */
const CLOSED: ReadonlySet<unknown> = new Set(["ECONNRESET", "EPIPE", "UND_ERR_SOCKET"]);

/**
 * Milliseconds within which a connection that was given up while it was idle refuses a request's first bytes: one round
 * trip and its retransmissions. A connection that is closed later may have had the request, and worked on it.
 */
const AT_ONCE_MS = 1_000;

/**
 * Records the errors of a socket for {@link wasReused}.
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
 * True if a request failed because its socket, which had served another one before, was closed by the upstream at once
 * and before any byte of an answer. An upstream may give up an idle connection at any time, also just as it is used
 * again.
 *
 * @param sent true if the request was given to the socket: if it was not, the upstream has nothing of it
 */
export function wasReused(error: unknown, sent: boolean): boolean {
  if (!(error instanceof Error && "code" in error && CLOSED.has(error.code))) return false;
  const end = ends.get(error);
  if (end === undefined) return false;
  if (!sent) return end.requests > 0;
  return end.requests > 1 && !end.isAnswering && end.afterMs <= AT_ONCE_MS;
}
