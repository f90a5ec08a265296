import type { Logger } from "../../runtime/log.ts";
import type { Store } from "../../store/database/store.ts";
import { addRequestCounts, outcomeOf, type RequestCount } from "../../store/keys/request-counts.ts";
import { type RequestCounts, readRequestCountName } from "./request-counts.ts";

/** So that no statement holds up others for long. */
const ROWS_AT_ONCE = 1_000;
/** What is kept while the database is away, some 25 MB: as many as 100,000 keys have in ten minutes. */
const MAX_WAITING = 250_000;

/** Counts of a transaction that broke off; whether it was committed is not known yet. */
type Doubtful = { readonly transaction: string; readonly counts: RequestCounts };

/** Requests that were counted and are not in the database yet. */
export class RequestCountBuffer {
  readonly #store: Store;
  readonly #log: Logger;
  #waiting: RequestCounts = new Map();
  #doubtful: Doubtful | undefined;
  #dropped = 0;

  constructor(store: Store, log: Logger) {
    this.#store = store;
    this.#log = log;
  }

  /** Takes in what a thread has counted; what there is no room for is dropped. */
  add(counts: RequestCounts): void {
    for (const [name, count] of counts) {
      const known = this.#waiting.get(name);
      if (known !== undefined || this.#waiting.size < MAX_WAITING) this.#waiting.set(name, (known ?? 0) + count);
      else this.#dropped += count;
    }
  }

  /** Writes what waits, a bounded number of rows at a time. What fails is tried again, and nothing is added twice. */
  async write(): Promise<void> {
    try {
      await this.#settle();
      while (this.#waiting.size > 0 && this.#doubtful === undefined) await this.#writeSome();
    } catch (error) {
      this.#log.warn({ error }, "could not store the counts of requests; it is tried again");
      if (this.#dropped > 0) this.#log.warn({ count: this.#dropped }, "requests were not counted: too many keys wait");
      this.#dropped = 0;
    }
  }

  async #writeSome(): Promise<void> {
    const counts: RequestCounts = new Map(this.#waiting.entries().take(ROWS_AT_ONCE));
    for (const name of counts.keys()) this.#waiting.delete(name);
    let transaction: string | undefined;
    try {
      await addRequestCounts(this.#store, [...counts].map(toRow), (id) => {
        transaction = id;
      });
    } catch (error) {
      if (transaction === undefined) this.add(counts);
      else this.#doubtful = { transaction, counts };
      throw error;
    }
  }

  /** Finds out how the transaction that broke off ended. Its counts are added again only where it was aborted. */
  async #settle(): Promise<void> {
    if (this.#doubtful === undefined) return;
    const { transaction, counts } = this.#doubtful;
    const outcome = await outcomeOf(this.#store.db, transaction);
    if (outcome === "in progress") return;
    this.#doubtful = undefined;
    if (outcome === "aborted") this.add(counts);
  }
}

function toRow([name, count]: [string, number]): RequestCount {
  return { ...readRequestCountName(name), count };
}
