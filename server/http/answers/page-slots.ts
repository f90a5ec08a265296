/** Part of a response that a slot needs: the slot is freed when the response closes. */
type Closing = { readonly destroyed: boolean; once(event: "close", listener: () => void): unknown };

/** Milliseconds that a call waits for a slot, as a call of the memory waits for the database. */
const WAIT_MS = 2_000;

/** Queue of a principal: its open pages and its waiting calls. */
type Queue = { open: number; readonly waiting: Set<() => void> };

/**
 * Limits how many pages of a principal are made at a time. A page takes its memory budget before it is made, and a
 * caller that requests many small pages at once is not to be refused for budget that they will not need (threats b109).
 * A waiting call holds nothing.
 */
export class PageSlots {
  readonly #max: number;
  readonly #waitMs: number;
  readonly #queues = new Map<string, Queue>();

  /**
   * Creates the slots. @param max number of pages of a principal that are made, or have not left, at a time; at least
   * one
   */
  constructor(max: number, waitMs = WAIT_MS) {
    this.#max = Math.max(1, max);
    this.#waitMs = waitMs;
  }

  /** Number of principals that have a slot, or wait for one. */
  get principals(): number {
    return this.#queues.size;
  }

  /** Number of calls that wait, of all principals. */
  get waiting(): number {
    return [...this.#queues.values()].reduce((sum, { waiting }) => sum + waiting.size, 0);
  }

  /**
   * Calls back once the call has a slot, or has waited for the maximum time: then the memory budget decides. Does not
   * call back if the caller has left before.
   *
   * @param go called with true if the call waited for its slot
   */
  take(principal: string, response: Closing, go: (hasWaited: boolean) => void): void {
    if (response.destroyed) return;
    const queue = this.#queues.get(principal) ?? { open: 0, waiting: new Set() };
    this.#queues.set(principal, queue);
    if (queue.open < this.#max) {
      this.#open(principal, queue, response, () => go(false));
      return;
    }
    const begin = () => {
      clearTimeout(impatience);
      queue.waiting.delete(begin);
      this.#open(principal, queue, response, () => go(true));
    };
    const impatience = setTimeout(begin, this.#waitMs).unref();
    queue.waiting.add(begin);
    response.once("close", () => {
      clearTimeout(impatience);
      queue.waiting.delete(begin);
    });
  }

  #open(principal: string, queue: Queue, response: Closing, go: () => void): void {
    queue.open++;
    go();
    // Runs after the call's own listeners, which give back what it has taken before the next call asks for it.
    response.once("close", () => {
      queue.open--;
      const [next] = queue.waiting;
      if (next !== undefined && queue.open < this.#max) next();
      else if (queue.open === 0) this.#queues.delete(principal);
    });
  }
}
