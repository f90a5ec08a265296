import type { Store } from "../../store/database/store.ts";
import { noteLostUses } from "../../store/keys/uses/lost-uses.ts";

/** That uses of keys were lost here, until the database knows: what decides by unused keys waits, or says less. */
export class LostUses {
  readonly #store: Store;
  #isUnsaid = false;

  constructor(store: Store) {
    this.#store = store;
  }

  /** Whether some were lost of which the database does not know yet. */
  get isUnsaid(): boolean {
    return this.#isUnsaid;
  }

  note(): void {
    this.#isUnsaid = true;
  }

  /** Stores that some were lost until now, where some were. */
  async write(): Promise<void> {
    if (!this.#isUnsaid) return;
    // Before it is said: what is lost meanwhile is said with the next.
    this.#isUnsaid = false;
    try {
      await noteLostUses(this.#store);
    } catch (error) {
      this.#isUnsaid = true;
      throw error;
    }
  }
}
