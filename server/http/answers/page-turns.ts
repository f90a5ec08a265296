/** What a turn reads of a response: it ends as that is closed. */
type Closing = { readonly destroyed: boolean; once(event: "close", listener: () => void): unknown };

/** How long a turn is waited for, in milliseconds: as a call of the memory waits for the database. */
const WAIT_MS = 2_000;

/** Of one principal. */
type Line = { open: number; readonly waiting: Set<() => void> };

/**
 * Has each principal's pages made so many at a time: the room for one is taken before it is made, and who asks for many
 * small ones at once is not to be refused for room that they will not need (threats b109). What waits holds nothing.
 */
export class PageTurns {
  readonly #max: number;
  readonly #waitMs: number;
  readonly #lines = new Map<string, Line>();

  /** @param max pages of one principal that are made, or have not left, at a time; one in any case */
  constructor(max: number, waitMs = WAIT_MS) {
    this.#max = Math.max(1, max);
    this.#waitMs = waitMs;
  }

  /** Principals that have a turn, or wait for one. */
  get principals(): number {
    return this.#lines.size;
  }

  /** Calls that wait, of all principals. */
  get waiting(): number {
    return [...this.#lines.values()].reduce((sum, { waiting }) => sum + waiting.size, 0);
  }

  /**
   * Calls back in the call's turn, or once it has waited for long: then the room that there is decides. Does not call
   * back where the caller has left before.
   *
   * @param go is given whether the turn was waited for
   */
  take(principal: string, response: Closing, go: (hasWaited: boolean) => void): void {
    if (response.destroyed) return;
    const line = this.#lines.get(principal) ?? { open: 0, waiting: new Set() };
    this.#lines.set(principal, line);
    if (line.open < this.#max) {
      this.#open(principal, line, response, () => go(false));
      return;
    }
    const begin = () => {
      clearTimeout(impatience);
      line.waiting.delete(begin);
      this.#open(principal, line, response, () => go(true));
    };
    const impatience = setTimeout(begin, this.#waitMs).unref();
    line.waiting.add(begin);
    response.once("close", () => {
      clearTimeout(impatience);
      line.waiting.delete(begin);
    });
  }

  #open(principal: string, line: Line, response: Closing, go: () => void): void {
    line.open++;
    go();
    // After those of the call itself: what it has taken is given back before the next one asks for it.
    response.once("close", () => {
      line.open--;
      const [next] = line.waiting;
      if (next !== undefined && line.open < this.#max) next();
      else if (line.open === 0) this.#lines.delete(principal);
    });
  }
}
