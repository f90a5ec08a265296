import type { Db } from "../../../store/database/change.ts";
import { countRecords, MAX_SAVES } from "./repeatable-saves.ts";

/** Part of the free capacity that is used before records are counted again, and the upper limit of that, in records. */
const UNCOUNTED_PART = 1 / 10;
const MOST_UNCOUNTED = 100;
/** Milliseconds for which a caller without capacity is not counted again; its records may be deleted with a library. */
const FULL_MS = 10_000;
/** Number of callers that are remembered. */
const MAX_CALLERS = 10_000;

/** Capacity of a caller as last counted. Times are milliseconds on the monotonic clock. */
type CountedCapacity =
  | { readonly kind: "free"; readonly uncounted: number }
  | { readonly kind: "full"; readonly over: number; readonly countAgain: number };

/**
 * Capacity of callers for records of their saves, as a thread knows it. Counting a caller's records takes longer the
 * more there are, up to several times a save: so a tenth of its free capacity is used before they are counted again. No
 * caller is refused a record that it has capacity for; if more than ten threads save for one caller at once, each of
 * them may exceed the limit by a hundred.
 */
export class RecordCapacity {
  readonly #monotonic: () => number;
  readonly #most: number;
  readonly #callers = new Map<string, CountedCapacity>();

  /** @param most limit of records of one caller */
  constructor(monotonic: () => number, most: number = MAX_SAVES) {
    this.#monotonic = monotonic;
    this.#most = most;
  }

  /**
   * Takes capacity for some records.
   *
   * @returns milliseconds until the caller has capacity: 0 if it has
   */
  async waitFor(db: Db, caller: string, records = 1): Promise<number> {
    const known = this.#callers.get(caller);
    if (known?.kind === "free" && known.uncounted >= records) {
      this.#callers.set(caller, { kind: "free", uncounted: known.uncounted - records });
      return 0;
    }
    const now = this.#monotonic();
    if (known?.kind === "full" && now < known.countAgain) return known.over - now;
    const { free, waitMs } = await countRecords(db, caller, this.#most);
    const uncounted = Math.min(Math.floor(free * UNCOUNTED_PART), MOST_UNCOUNTED) - records;
    this.#remember(
      caller,
      free > 0
        ? { kind: "free", uncounted }
        : { kind: "full", over: now + waitMs, countAgain: now + Math.min(waitMs, FULL_MS) },
    );
    return waitMs;
  }

  #remember(caller: string, known: CountedCapacity): void {
    this.#callers.delete(caller);
    const [oldest] = this.#callers.keys();
    if (this.#callers.size >= MAX_CALLERS && oldest !== undefined) this.#callers.delete(oldest);
    this.#callers.set(caller, known);
  }
}
