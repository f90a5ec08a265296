/** Failures in a row after which an upstream is left out. */
const MOST_FAILURES = 5;
/** Milliseconds for which it is left out at first, and at the longest: each failed try doubles them. */
const FIRST_MS = 5_000;
const LONGEST_MS = 60_000;

/**
 * Circuit breaker of one upstream on one thread. After several failures in a row the upstream is left out for a while,
 * and then one call at a time tries it. It refuses nothing: a call that has no other upstream goes there all the same.
 */
export class UpstreamBreaker {
  readonly #monotonic: () => number;
  #failures = 0;
  /** Milliseconds for which it is left out; 0 if it is not. */
  #leftOutMs = 0;
  /** Time from which a call tries it; while one does, from which another may. */
  #tryAt = 0;
  /** Mark of the first calls since it was last left out. */
  #openedMark = 0;
  /** Mark of the call that tries it; undefined while none does. */
  #trial: number | undefined;
  /** Mark of calls that begin now. */
  #mark = 0;

  /** @param monotonic milliseconds on a clock that never jumps */
  constructor(monotonic: () => number) {
    this.#monotonic = monotonic;
  }

  /** True from when it was left out until a call has been answered. */
  get #isOpen(): boolean {
    return this.#leftOutMs > 0;
  }

  /** True if a call that may go to another upstream is to go there. */
  get isLeftOut(): boolean {
    return this.#isOpen && this.#monotonic() < this.#tryAt;
  }

  /**
   * Notes that a call begins: it tries the upstream if that is due. A try that does not end keeps it left out for
   * {@link LONGEST_MS} at most.
   *
   * @returns its mark, with which the end of the call is noted
   */
  begin(): number {
    if (!this.#isOpen || this.isLeftOut) return this.#mark;
    this.#trial = ++this.#mark;
    this.#tryAt = this.#monotonic() + LONGEST_MS;
    this.#mark++;
    return this.#trial;
  }

  succeeded(mark: number): void {
    if (this.#failures === 0) return;
    // A call that began before it was left out says nothing of the upstream since.
    if (this.#isOpen && mark < this.#openedMark) return;
    if (this.#isOpen) this.#mark++;
    this.#failures = 0;
    this.#leftOutMs = 0;
    this.#trial = undefined;
  }

  /**
   * Returns the milliseconds for which the upstream is left out because of this failure; undefined if it is not.
   *
   * @param isRetry true if the call has failed here before: one call is to leave out nothing for others
   */
  failed(mark: number, isRetry = false): number | undefined {
    if (this.#isOpen) return mark === this.#trial ? this.#leaveOut(this.#leftOutMs * 2) : undefined;
    if (isRetry || mark !== this.#mark || ++this.#failures < MOST_FAILURES) return undefined;
    return this.#leaveOut(FIRST_MS);
  }

  /** Notes that a call ended without having shown anything: if it tried the upstream, the next call does. */
  givenUp(mark: number): void {
    if (mark !== this.#trial) return;
    this.#trial = undefined;
    this.#tryAt = 0;
  }

  #leaveOut(milliseconds: number): number {
    this.#leftOutMs = Math.min(milliseconds, LONGEST_MS);
    this.#tryAt = this.#monotonic() + this.#leftOutMs;
    this.#trial = undefined;
    this.#openedMark = ++this.#mark;
    return this.#leftOutMs;
  }
}
