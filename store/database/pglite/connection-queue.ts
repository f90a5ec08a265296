/**
 * Which queries go first on a connection that all share. Those that keep the key index current go first, and those that
 * an unauthenticated client can cause go last. Between them, the memory and all other queries share the connection by
 * time. Of the memory, one call waits at a time; a transaction takes as many turns of a busy event loop as it has
 * statements, and transactions one behind the other would keep the memory waiting for seconds.
 *
 * In the background is what no request waits for. A request asks its next question just after it has the answer to the
 * last, so that what is in the background goes where nothing was asked for a moment, and not between the two; as it must
 * go at some time, where none of it went for long the next of it goes first of all but the feed.
 */
export type Priority = "feed" | "general" | "memory" | "unauthenticated" | "background";

/** How far one of the two may be behind the other, in milliseconds: one that asked nothing for long gets no more. */
const MAX_CREDIT_MS = 500;
/** For how long nothing else was asked where the background goes: some turns of a busy event loop. */
const QUIET_MS = 5;
/** How long the background waits at most for the connection to be free, and how long all else has it to itself then. */
const MAX_BACKGROUND_WAIT_MS = 50;

/** The queue for the one connection of the embedded database. A caller keeps the connection until it releases it. */
export class ConnectionQueue {
  #held: { readonly by: Priority; readonly since: number } | undefined;
  /** What the general has had more than the memory, in milliseconds. */
  #ahead = 0;
  /** When anything but the background last had the connection. */
  #askedAt = Number.NEGATIVE_INFINITY;
  /** When the background last had it. */
  #backgroundAt = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;
  /** What hands the connection to a caller, with the moment at which it came. */
  readonly #waiting: Record<Priority, Map<() => void, number>> = {
    feed: new Map(),
    general: new Map(),
    memory: new Map(),
    unauthenticated: new Map(),
    background: new Map(),
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
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const queue = this.#waiting[priority];
    queue.set(resolve, this.#now());
    if (this.#held === undefined) this.#lend();
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
    this.#lend();
  }

  /** Lends the connection, which is free, to the next; where only the background wants it, once it is quiet. */
  #lend(): void {
    clearTimeout(this.#timer);
    const isOverdue = this.#isBackgroundOverdue();
    const shared: readonly Priority[] = this.#ahead > 0 ? ["memory", "general"] : ["general", "memory"];
    const order: readonly Priority[] = isOverdue
      ? ["feed", "background", ...shared, "unauthenticated"]
      : ["feed", ...shared, "unauthenticated", "background"];
    const priority = order.find((each) => this.#waiting[each].size > 0);
    if (priority === undefined) return;
    const quietInMs = this.#askedAt + QUIET_MS - this.#now();
    if (priority === "background" && !isOverdue && quietInMs > 0) {
      this.#timer = setTimeout(() => this.#lend(), quietInMs);
      return;
    }
    for (const next of this.#waiting[priority].keys()) {
      this.#waiting[priority].delete(next);
      this.#held = { by: priority, since: this.#now() };
      next();
      return;
    }
  }

  #isBackgroundOverdue(): boolean {
    for (const since of this.#waiting.background.values()) {
      return this.#now() - Math.max(since, this.#backgroundAt) >= MAX_BACKGROUND_WAIT_MS;
    }
    return false;
  }

  #account(): void {
    if (this.#held === undefined) return;
    const { by, since } = this.#held;
    if (by === "background") this.#backgroundAt = this.#now();
    else this.#askedAt = this.#now();
    if (by !== "general" && by !== "memory") return;
    const had = this.#now() - since;
    const ahead = this.#ahead + (by === "general" ? had : -had);
    this.#ahead = Math.max(-MAX_CREDIT_MS, Math.min(MAX_CREDIT_MS, ahead));
  }
}
