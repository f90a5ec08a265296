import type { Store } from "../../store/database/store.ts";
import { noteLostUses } from "../../store/keys/uses/lost-uses.ts";

/**
 * Flag that uses of keys were lost here, until the database knows it: what decides by unused keys then waits, or says
 * less.
 */
export class LostUses {
  readonly #store: Store;
  #isUnsaid = false;

  constructor(store: Store) {
    this.#store = store;
  }

  /** True if uses were lost of which the database does not know yet. */
  get isUnsaid(): boolean {
    return this.#isUnsaid;
  }

  note(): void {
    this.#isUnsaid = true;
  }

  /** Stores that uses were lost until now, if any were. */
  async write(): Promise<void> {
    if (!this.#isUnsaid) return;
    // Before it is written: a loss meanwhile is written with the next.
    this.#isUnsaid = false;
    try {
      await noteLostUses(this.#store);
    } catch (error) {
      this.#isUnsaid = true;
      throw error;
    }
  }
}
