import { TakesNoWritesError } from "./session.ts";

/** So long a database that takes no writes is believed to stay so. Milliseconds. */
const BELIEVED_MS = 250;

/**
 * What a process knows of whether its database takes writes. While it takes none, one new connection at a time looks
 * again; every other one is refused by what the last one found, since each would cost the database a process only to be
 * given up (threats c94).
 */
export class WriteVerdict {
  #reason: string | undefined;
  #believedUntil = 0;
  #isLookedAt = false;

  /**
   * Refuses a connection that would find what is known. Where it is time to look again, the caller is the one that does.
   *
   * @throws TakesNoWritesError saying what was found
   */
  assertWorthConnecting(): void {
    if (this.#reason === undefined) return;
    const now = performance.now();
    if (now < this.#believedUntil) throw new TakesNoWritesError(this.#reason);
    // The one that looked found no answer, as where the database is away: each is to find that for itself.
    if (this.#isLookedAt) this.#reason = undefined;
    this.#isLookedAt = true;
    this.#believedUntil = now + BELIEVED_MS;
  }

  /** Notes what a new connection has found as its session was prepared. */
  async noted(preparation: Promise<void>): Promise<void> {
    try {
      await preparation;
      this.#reason = undefined;
    } catch (error) {
      if (error instanceof TakesNoWritesError) {
        this.#reason = error.message;
        this.#believedUntil = performance.now() + BELIEVED_MS;
        this.#isLookedAt = false;
      }
      throw error;
    }
  }
}
