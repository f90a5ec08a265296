import { DAY_MS } from "../../domain/duration.ts";
import { rfc3339 } from "../../domain/rfc3339.ts";
import type { KeyRow } from "../key-index/key-row.ts";

/** Keys of which one thread remembers what it has noted: some 40 MB if there is one thing to note of each. */
const MAX_KEYS = 1 << 18;

/** Notes on keys within a day, by the rows of one table of keys: with another day or table, they begin anew. */
export class KeysOfDay<Known> {
  readonly #keys = new Map<number, Known>();
  readonly #begin: () => Known;
  #generation = -1;
  #begins = Number.NaN;

  /** @param begin returns what is known of a key at first */
  constructor(begin: () => Known) {
    this.#begin = begin;
  }

  /** The day of the last key, as `2026-11-25`. */
  get day(): string {
    return rfc3339(this.#begins).slice(0, 10);
  }

  /**
   * Returns what is known of a key on its day. Nothing is kept for a key beyond the capacity, so that the same is noted
   * with each of its calls.
   *
   * @param at milliseconds since the epoch, by the database's clock
   */
  find({ row, generation }: Pick<KeyRow, "row" | "generation">, at: number): Known {
    if (generation !== this.#generation || !(at >= this.#begins && at < this.#begins + DAY_MS)) {
      this.#keys.clear();
      this.#generation = generation;
      this.#begins = Math.floor(at / DAY_MS) * DAY_MS;
    }
    const known = this.#keys.get(row);
    if (known !== undefined) return known;
    const begun = this.#begin();
    if (this.#keys.size < MAX_KEYS) this.#keys.set(row, begun);
    return begun;
  }
}
