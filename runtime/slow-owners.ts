/** Owners that are remembered. */
const MAX_SLOW = 10_000;

/**
 * Remembers the owners, such as teams, whose last piece of work was slow: they are slow until one of theirs is not, and
 * share less among all of them, so that they hold up no other.
 */
export class SlowOwners {
  readonly #slowMs: number;
  readonly #monotonic: () => number;
  readonly #slow = new Set<string>();

  /**
   * @param slowMs how long a piece of work may take, in milliseconds
   * @param monotonic milliseconds on a clock that never jumps
   */
  constructor(slowMs: number, monotonic: () => number) {
    this.#slowMs = slowMs;
    this.#monotonic = monotonic;
  }

  /** Whether a piece of work that began then has taken too long by now. */
  takesLong(since: number): boolean {
    return this.#monotonic() - since > this.#slowMs;
  }

  /** Notes the end of an owner's piece of work. */
  noteEnd(owner: string, since: number): void {
    if (!this.takesLong(since)) this.#slow.delete(owner);
    else if (this.#slow.size < MAX_SLOW) this.#slow.add(owner);
  }

  /** Whether the owner's last piece of work was slow. */
  has(owner: string): boolean {
    return this.#slow.has(owner);
  }

  /** All of them, as of now. */
  all(): Set<string> {
    return new Set(this.#slow);
  }
}
