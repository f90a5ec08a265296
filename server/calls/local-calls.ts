import type { SharedCalls } from "./shared-calls.ts";

/**
 * Number of calls that owners have under way on the one thread that serves, as {@link SharedCalls} counts them for
 * several threads.
 */
export class LocalCalls implements Pick<SharedCalls, "take" | "giveBack"> {
  readonly #counts = new Map<string, number>();

  /** Counts a call. Returns false if its owner has so many already. */
  take(owner: string, limit: number): boolean {
    const count = this.#counts.get(owner) ?? 0;
    if (count >= limit) return false;
    this.#counts.set(owner, count + 1);
    return true;
  }

  /** Notes that a call that was counted has ended. */
  giveBack(owner: string): void {
    const count = this.#counts.get(owner) ?? 0;
    if (count > 1) this.#counts.set(owner, count - 1);
    else this.#counts.delete(owner);
  }
}
