/** Maximum number of owners that are remembered. */
const MAX_SLOW = 10_000;

/**
 * Remembers the owners, such as teams, whose last piece of work was slow. An owner stays slow until a piece of its work
 * is not. Callers give all slow owners together a smaller share, so that they delay no other.
 */
export class SlowOwners {
  readonly #slowMs: number;
  readonly #monotonic: () => number;
  readonly #slow = new Set<string>();

  /**
   * @param slowMs milliseconds after which a piece of work is slow
   * @param monotonic milliseconds on a clock that never jumps
   */
  constructor(slowMs: number, monotonic: () => number) {
    this.#slowMs = slowMs;
    this.#monotonic = monotonic;
  }

  /** True if a piece of work that began at `since` has taken too long by now. */
  takesLong(since: number): boolean {
    return this.#monotonic() - since > this.#slowMs;
  }

  /** Records the end of an owner's piece of work. */
  noteEnd(owner: string, since: number): void {
    if (!this.takesLong(since)) this.#slow.delete(owner);
    else if (this.#slow.size < MAX_SLOW) this.#slow.add(owner);
  }

  /** True if the owner's last piece of work was slow. */
  has(owner: string): boolean {
    return this.#slow.has(owner);
  }

  /** Returns a copy of all slow owners. */
  all(): Set<string> {
    return new Set(this.#slow);
  }
}
