/** Number of calls from which on they are counted for each owner; below that, `countOf` goes through the list. */
const COUNTED_FROM = 128;

/**
 * Number of the open calls that each owner has: each key, or each team. To count a call, its owner's id has to be read,
 * and a key's even written out, which costs each call something. It is done only while many calls are open, when going
 * through the list for one owner would cost as much, and from when the first count is asked for: if no call comes near
 * a bound, none is ever counted.
 */
export class CallCounts<Call> {
  readonly #calls: readonly Call[];
  readonly #ownerOf: (call: Call) => string;
  #counts: Map<string, number> | undefined;

  /**
   * @param calls the list of all, as it is at any time
   * @param ownerOf returns the owner of a call, always the same
   */
  constructor(calls: readonly Call[], ownerOf: (call: Call) => string) {
    this.#calls = calls;
    this.#ownerOf = ownerOf;
  }

  /** Notes that a call has been put on the list. */
  add(call: Call): void {
    if (this.#counts !== undefined) this.#count(this.#counts, call);
  }

  /** Notes that a call is about to be taken from the list. */
  remove(call: Call): void {
    if (this.#counts === undefined) return;
    const owner = this.#ownerOf(call);
    const count = this.#counts.get(owner) ?? 0;
    if (count > 1) this.#counts.set(owner, count - 1);
    else this.#counts.delete(owner);
    if (this.#calls.length <= COUNTED_FROM / 2) this.#counts = undefined;
  }

  countOf(owner: string): number {
    if (this.#counts === undefined && this.#calls.length >= COUNTED_FROM) {
      const counts = new Map<string, number>();
      for (const call of this.#calls) this.#count(counts, call);
      this.#counts = counts;
    }
    if (this.#counts !== undefined) return this.#counts.get(owner) ?? 0;
    return this.#calls.reduce((count, call) => (this.#ownerOf(call) === owner ? count + 1 : count), 0);
  }

  #count(counts: Map<string, number>, call: Call): void {
    const owner = this.#ownerOf(call);
    counts.set(owner, (counts.get(owner) ?? 0) + 1);
  }
}
