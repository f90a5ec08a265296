import { TakesNoWritesError } from "./session.ts";

/** Milliseconds for which a database that takes no writes is believed to stay so. */
const BELIEVED_MS = 250;

/**
 * Knowledge of a process on whether its database takes writes. While it takes none, one new connection at a time looks
 * again. Every other is refused with the last finding, since each connection would cost the database a process only to
 * be given up (threats c94).
 */
export class WriteVerdict {
  #reason: string | undefined;
  #believedUntil = 0;
  #isLookedAt = false;

  /**
   * Refuses a connection that would only repeat the last finding. If it is time to look again, the caller's connection
   * does so.
   *
   * @throws TakesNoWritesError saying what was found
   */
  assertWorthConnecting(): void {
    if (this.#reason === undefined) return;
    const now = performance.now();
    if (now < this.#believedUntil) throw new TakesNoWritesError(this.#reason);
    // The connection that looked got no answer, as from a database that is away: each has to find that for itself.
    if (this.#isLookedAt) this.#reason = undefined;
    this.#isLookedAt = true;
    this.#believedUntil = now + BELIEVED_MS;
  }

  /** Records what a new connection has found while its session was prepared. */
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
