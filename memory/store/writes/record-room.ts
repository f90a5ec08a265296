import type { Db } from "../../../store/database/change.ts";
import { countRoom, MAX_SAVES } from "./repeatable-saves.ts";

/** The part of the room that was found which is not counted again, and the most that is not, in records. */
const UNCOUNTED_PART = 1 / 10;
const MOST_UNCOUNTED = 100;
/** For how long a caller without room is not counted again, in milliseconds: its records may go with a library. */
const FULL_MS = 10_000;
/** Callers that are remembered. */
const MAX_CALLERS = 10_000;

/** Times are milliseconds on the monotonic clock. */
type Known =
  | { readonly kind: "room"; readonly uncounted: number }
  | { readonly kind: "full"; readonly over: number; readonly countAgain: number };

/**
 * What a thread knows of the room that callers have for records of their saves. To count a caller's records takes longer
 * the more there are, up to several times a save: so where there is room, a tenth of it is given out before they are
 * counted again. No caller is refused a record that it has room for; where more than ten threads save for one caller at
 * once, each of them may go beyond the bound by a hundred.
 */
export class RecordRoom {
  readonly #monotonic: () => number;
  readonly #most: number;
  readonly #callers = new Map<string, Known>();

  /** @param most records of one caller */
  constructor(monotonic: () => number, most: number = MAX_SAVES) {
    this.#monotonic = monotonic;
    this.#most = most;
  }

  /**
   * Takes room for so many records.
   *
   * @returns how long the caller has to wait for it, in milliseconds: 0 where there is room
   */
  async waitFor(db: Db, caller: string, records = 1): Promise<number> {
    const known = this.#callers.get(caller);
    if (known?.kind === "room" && known.uncounted >= records) {
      this.#callers.set(caller, { kind: "room", uncounted: known.uncounted - records });
      return 0;
    }
    const now = this.#monotonic();
    if (known?.kind === "full" && now < known.countAgain) return known.over - now;
    const { free, waitMs } = await countRoom(db, caller, this.#most);
    const uncounted = Math.min(Math.floor(free * UNCOUNTED_PART), MOST_UNCOUNTED) - records;
    this.#remember(
      caller,
      free > 0
        ? { kind: "room", uncounted }
        : { kind: "full", over: now + waitMs, countAgain: now + Math.min(waitMs, FULL_MS) },
    );
    return waitMs;
  }

  #remember(caller: string, known: Known): void {
    this.#callers.delete(caller);
    const [oldest] = this.#callers.keys();
    if (this.#callers.size >= MAX_CALLERS && oldest !== undefined) this.#callers.delete(oldest);
    this.#callers.set(caller, known);
  }
}
