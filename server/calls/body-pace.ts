/** A request as far as the pace of its body goes; Node's IncomingMessage is one. */
type PacedRequest = {
  readonly complete: boolean;
  /** Null before the body is first read, false while it is not being read. */
  readonly readableFlowing: boolean | null;
  readonly socket: { readonly bytesRead: number };
};

/** How long a body that is waited for may bring less than {@link MIN_BYTES}. */
const WINDOW_MS = 30_000;
/** 1 KiB a second: a body that is held back on purpose comes slower, one from a poor line does not. */
const MIN_BYTES = (WINDOW_MS / 1_000) * 1_024;

/** Since when less than the least has come, and what had come until then. */
type Pace = { since: number; bytes: number };

/** How fast the bodies come that are waited for. Asked from time to time: nothing is noted with each piece. */
export class BodyPace {
  readonly #paces = new WeakMap<PacedRequest, Pace>();

  /**
   * Whether a request's body comes more slowly than any may. Time in which it is not read does not count: then this
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
