/** A request as far as the pace of its body goes; Node's IncomingMessage is one. */
type PacedRequest = {
  readonly complete: boolean;
  /** Null before the body is first read, false while it is not being read. */
  readonly readableFlowing: boolean | null;
  readonly socket: { readonly bytesRead: number };
};

/** Milliseconds for which a body that is waited for may bring less than {@link MIN_BYTES}. */
const WINDOW_MS = 30_000;
/**
 * Bytes in a window at least: 1 KiB a second. A body that is held back on purpose comes slower, a body over a poor line
 * does not.
 */
const MIN_BYTES = (WINDOW_MS / 1_000) * 1_024;

/** Time since which less than the minimum has come, and the bytes that had come until then. */
type Pace = { since: number; bytes: number };

/** Pace of the bodies that are waited for. It is looked at from time to time: nothing is noted with each piece. */
export class BodyPace {
  readonly #paces = new WeakMap<PacedRequest, Pace>();

  /**
   * True if a request's body comes more slowly than any may. Time in which it is not read does not count: then this
   * server, or the upstream behind it, holds it up.
   *
   * @param now milliseconds on the monotonic clock
   */
  isTooSlow(request: PacedRequest, now: number): boolean {
    if (request.complete) return false;
    const bytes = request.socket.bytesRead;
    const pace = this.#paces.get(request);
    if (pace === undefined) {
      this.#paces.set(request, { since: now, bytes });
      return false;
    }
    if (request.readableFlowing === true && bytes - pace.bytes < MIN_BYTES) return now - pace.since >= WINDOW_MS;
    pace.since = now;
    pace.bytes = bytes;
    return false;
  }
}
