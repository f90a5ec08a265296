import type { Logger } from "../../runtime/log.ts";
import type { Store } from "../../store/database/store.ts";
import { outcomeOf } from "../../store/keys/uses/request-counts.ts";
import { WaitingCounts } from "./waiting-counts.ts";

/** Kind of counts, each of which has a name that says of what it is, and how they are written. */
export type Countable<C> = {
  /** Plural of what is counted, for the log. */
  readonly what: string;
  /** Counts that wait at most, while the database is away. */
  readonly maxWaiting: number;
  /** Returns how much a count is. */
  sizeOf(count: C): number;
  /** Returns the team among whose counts it waits. */
  teamOf(count: C): string;
  add(known: C, more: C): C;
  /** @param onBegun receives the transaction's id */
  write(store: Store, counts: ReadonlyMap<string, C>, onBegun: (transaction: string) => void): Promise<void>;
};

/** Counts of a transaction that broke off; whether it was committed is not known yet. */
type Doubtful<C> = { readonly transaction: string; readonly counts: ReadonlyMap<string, C> };

/** Counts that are not in the database yet. */
export class CountBuffer<C> {
  readonly #of: Countable<C>;
  readonly #store: Store;
  readonly #log: Logger;
  readonly #onLoss: () => void;
  readonly #waiting: WaitingCounts<C>;
  #doubtful: Doubtful<C> | undefined;
  #dropped = 0;

  /** @param onLoss called if counts are lost */
  constructor(of: Countable<C>, store: Store, log: Logger, onLoss: () => void) {
    this.#of = of;
    this.#waiting = new WaitingCounts(of.maxWaiting, of.add);
    this.#store = store;
    this.#log = log;
    this.#onLoss = onLoss;
  }

  /** True if no count waits. */
  get isWritten(): boolean {
    return this.#waiting.size === 0 && this.#doubtful === undefined;
  }

  /** Adds what a thread has counted; counts that there is no space for are dropped. */
  add(counts: ReadonlyMap<string, C>): void {
    for (const [name, count] of counts) {
      const dropped = this.#waiting.add(this.#of.teamOf(count), name, count);
      if (dropped === undefined) continue;
      this.#dropped += this.#of.sizeOf(dropped);
      this.#onLoss();
    }
  }

  /**
   * Writes what waits, a bounded number of rows at a time. A write that fails is tried again, and nothing is added
   * twice.
   */
  async write(): Promise<void> {
    try {
      await this.#settle();
      while (this.#waiting.size > 0 && this.#doubtful === undefined) await this.#writeSome();
    } catch (error) {
      const { what } = this.#of;
      this.#log.warn({ error }, `could not store the counts of ${what}; it is tried again`);
      if (this.#dropped > 0) this.#log.warn({ count: this.#dropped }, `${what} were not counted: too many keys wait`);
      this.#dropped = 0;
    }
  }

  async #writeSome(): Promise<void> {
    const counts = this.#waiting.take(this.#store.backgroundRows);
    let transaction: string | undefined;
    try {
      await this.#of.write(this.#store, counts, (id) => {
        transaction = id;
      });
    } catch (error) {
      if (transaction === undefined) this.add(counts);
      else this.#doubtful = { transaction, counts };
      throw error;
    }
  }

  /** Finds out how the transaction that broke off ended. Its counts are added again only if it was aborted. */
  async #settle(): Promise<void> {
    if (this.#doubtful === undefined) return;
    const { transaction, counts } = this.#doubtful;
    const outcome = await outcomeOf(this.#store.db, transaction);
    if (outcome === "in progress") return;
    this.#doubtful = undefined;
    if (outcome === "aborted") this.add(counts);
    if (outcome === "forgotten") this.#onLoss();
  }
}
