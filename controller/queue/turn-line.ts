/**
 * Queue of names in groups; an entry's group is its `turn`. The groups take turns, and within each the oldest name is
 * first. A group without a waiting name is dropped.
 */
export class TurnLine<Entry extends { readonly turn: string }> {
  readonly #entries = new Map<string, Entry>();
  /** Names of each group, in the order in which the groups take turns; a Map keeps the order of insertion. */
  readonly #turns = new Map<string, Set<string>>();

  get size(): number {
    return this.#entries.size;
  }

  has(name: string): boolean {
    return this.#entries.has(name);
  }

  get(name: string): Entry | undefined {
    return this.#entries.get(name);
  }

  /** Puts a name that does not wait behind the other names of its group. */
  set(name: string, entry: Entry): void {
    const names = this.#turns.get(entry.turn) ?? new Set();
    this.#turns.set(entry.turn, names.add(name));
    this.#entries.set(name, entry);
  }

  delete(name: string): void {
    const turn = this.#entries.get(name)?.turn ?? "";
    const names = this.#turns.get(turn);
    names?.delete(name);
    if (names?.size === 0) this.#turns.delete(turn);
    this.#entries.delete(name);
  }

  /** Takes the first name of the group that is next, and puts the group behind the others. */
  take(): [name: string, entry: Entry] | undefined {
    for (const [turn, names] of this.#turns) {
      for (const name of names) {
        const entry = this.#entries.get(name);
        this.delete(name);
        if (this.#turns.delete(turn)) this.#turns.set(turn, names);
        if (entry !== undefined) return [name, entry];
      }
    }
    return undefined;
  }

  clear(): void {
    this.#entries.clear();
    this.#turns.clear();
  }
}
