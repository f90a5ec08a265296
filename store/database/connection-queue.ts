/**
 * Who goes first for a connection that all share: what keeps the key index current, then all else, then the memory, of
 * which one call waits at a time, and last what anybody can have asked without being known.
 */
const PRIORITIES = ["feed", "general", "memory", "unauthenticated"] as const;
export type Priority = (typeof PRIORITIES)[number];

/** The order of who may have the one connection of the embedded database. What has it keeps it until it is released. */
export class ConnectionQueue {
  #isTaken = false;
  readonly #waiting: Record<Priority, Set<() => void>> = {
    feed: new Set(),
    general: new Set(),
    memory: new Set(),
    unauthenticated: new Set(),
  };

  /**
   * Resolves when the connection is the caller's, who releases it.
   *
   * @param signal leaves the queue, with the signal's reason; what has the connection by then keeps it
   */
  async acquire(priority: Priority, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    if (!this.#isTaken) {
      this.#isTaken = true;
      return;
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const queue = this.#waiting[priority];
    queue.add(resolve);
    const leave = () => {
      if (queue.delete(resolve)) reject(signal?.reason);
    };
    signal?.addEventListener("abort", leave, { once: true });
    try {
      await promise;
    } finally {
      signal?.removeEventListener("abort", leave);
    }
  }

  release(): void {
    for (const priority of PRIORITIES) {
      for (const next of this.#waiting[priority]) {
        this.#waiting[priority].delete(next);
        next();
        return;
      }
    }
    this.#isTaken = false;
  }
}
