import type { KeyRecord } from "../../domain/access/key-record.ts";

type Call = { readonly record: KeyRecord };

/** From so many calls on they are counted for each key; below that, `countOf` goes through the list. */
const COUNTED_FROM = 128;

/**
 * How many of the open calls each key has. To count a call, its key's id has to be written out, which costs each call
 * something. It is done only while many calls are open, when going through the list for one key would cost as much.
 */
export class CallsPerKey {
  readonly #calls: readonly Call[];
  #counts: Map<string, number> | undefined;

  /** @param calls the list of all, as it is at any time */
  constructor(calls: readonly Call[]) {
    this.#calls = calls;
  }

  /** A call has been put on the list. */
  add({ record }: Call): void {
    if (this.#counts !== undefined) this.#counts.set(record.keyId, (this.#counts.get(record.keyId) ?? 0) + 1);
    else if (this.#calls.length >= COUNTED_FROM) this.#countAll();
  }

  /** A call is about to be taken from the list. */
  remove({ record }: Call): void {
    if (this.#counts === undefined) return;
    const { keyId } = record;
    const count = this.#counts.get(keyId) ?? 0;
    if (count > 1) this.#counts.set(keyId, count - 1);
    else this.#counts.delete(keyId);
    if (this.#calls.length <= COUNTED_FROM / 2) this.#counts = undefined;
  }

  countOf(keyId: string): number {
    if (this.#counts !== undefined) return this.#counts.get(keyId) ?? 0;
    return this.#calls.reduce((count, { record }) => (record.keyId === keyId ? count + 1 : count), 0);
  }

  #countAll(): void {
    this.#counts = new Map();
    for (const { record } of this.#calls) this.#counts.set(record.keyId, (this.#counts.get(record.keyId) ?? 0) + 1);
  }
}
