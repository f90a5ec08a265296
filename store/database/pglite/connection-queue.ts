/**
 * Which queries go first on a connection that all share. Those that keep the key index current go first, and those that
 * an unauthenticated client can cause go last. Between them, the memory and all other queries share the connection by
 * time. Of the memory, one call waits at a time; a transaction takes as many turns of a busy event loop as it has
 * statements, and transactions one behind the other would keep the memory waiting for seconds.
 */
export type Priority = "feed" | "general" | "memory" | "unauthenticated";

/** How far one of the two may be behind the other, in milliseconds: one that asked nothing for long gets no more. */
const MAX_CREDIT_MS = 500;

/** The queue for the one connection of the embedded database. A caller keeps the connection until it releases it. */
export class ConnectionQueue {
  #held: { readonly by: Priority; readonly since: number } | undefined;
  /** What the general has had more than the memory, in milliseconds. */
  #ahead = 0;
  readonly #waiting: Record<Priority, Set<() => void>> = {
    feed: new Set(),
    general: new Set(),
    memory: new Set(),
    unauthenticated: new Set(),
  };
  readonly #now: () => number;

  /** @param now milliseconds, from any moment on */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /**
   * Resolves when the connection is the caller's, who releases it.
   *
   * @param signal leaves the queue, with the signal's reason; what has the connection by then keeps it
   */
  async acquire(priority: Priority, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    if (this.#held === undefined) {
      this.#hold(priority);
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
    this.#account();
    this.#held = undefined;
    const order: readonly Priority[] =
      this.#ahead > 0
        ? ["feed", "memory", "general", "unauthenticated"]
        : ["feed", "general", "memory", "unauthenticated"];
    for (const priority of order) {
      for (const next of this.#waiting[priority]) {
        this.#waiting[priority].delete(next);
        this.#hold(priority);
        next();
        return;
      }
    }
  }

  #hold(priority: Priority): void {
    this.#held = { by: priority, since: this.#now() };
  }

  #account(): void {
    if (this.#held === undefined) return;
    const { by, since } = this.#held;
    if (by !== "general" && by !== "memory") return;
    const had = this.#now() - since;
    const ahead = this.#ahead + (by === "general" ? had : -had);
    this.#ahead = Math.max(-MAX_CREDIT_MS, Math.min(MAX_CREDIT_MS, ahead));
  }
}
