/**
 * Queue of names in groups; an entry's group is its `group`. The groups take turns, and within each the oldest name is
 * first. A group without a waiting name is dropped.
 */
export class GroupQueue<Entry extends { readonly group: string }> {
  readonly #entries = new Map<string, Entry>();
  /** Names of each group, in the order in which the groups take turns; a Map keeps the order of insertion. */
  readonly #groups = new Map<string, Set<string>>();

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
    const names = this.#groups.get(entry.group) ?? new Set();
    this.#groups.set(entry.group, names.add(name));
    this.#entries.set(name, entry);
  }

  delete(name: string): void {
    const group = this.#entries.get(name)?.group ?? "";
    const names = this.#groups.get(group);
    names?.delete(name);
    if (names?.size === 0) this.#groups.delete(group);
    this.#entries.delete(name);
  }

  /** Takes the first name of the group that is next, and puts the group behind the others. */
  take(): [name: string, entry: Entry] | undefined {
    for (const [group, names] of this.#groups) {
      for (const name of names) {
        const entry = this.#entries.get(name);
        this.delete(name);
        if (this.#groups.delete(group)) this.#groups.set(group, names);
        if (entry !== undefined) return [name, entry];
      }
    }
    return undefined;
  }

  clear(): void {
    this.#entries.clear();
    this.#groups.clear();
  }
}
