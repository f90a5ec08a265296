/**
 * Priority of queries on the one connection that all callers share.
 *
 * Queries that keep the key index current (`feed`) go first. Between them and queries that an unauthenticated client
 * can cause, the memory and all other queries (`general`) share the connection by time. Of the memory, one call waits
 * at a time. A transaction takes as many iterations of a busy event loop as it has statements, so several transactions
 * in a row would keep the memory waiting for seconds.
 *
 * No request waits for a query in the `background`. A request asks its next query just after it has the answer to the
 * last, so background queries run only after a moment without other queries, and not between the two. If none of them
 * has run for long, the next of them goes first of all but the feed.
 */
export type Priority = "feed" | "general" | "memory" | "unauthenticated" | "background";

/** Milliseconds by which the memory or the general queries may be behind: a long pause gains no more credit. */
const MAX_CREDIT_MS = 500;
/** Milliseconds without another query after which the background may run: some iterations of a busy event loop. */
const QUIET_MS = 5;
/** Milliseconds that the background waits at most, and for which others then have the connection to themselves. */
const MAX_BACKGROUND_WAIT_MS = 50;

/** Queue for the one connection of the embedded database. A caller keeps the connection until it releases it. */
export class ConnectionQueue {
  #held: { readonly by: Priority; readonly since: number } | undefined;
  /** Milliseconds for which general queries have had the connection longer than the memory. */
  #ahead = 0;
  /** Time at which anything but the background last had the connection. */
  #askedAt = Number.NEGATIVE_INFINITY;
  /** Time at which the background last had the connection. */
  #backgroundAt = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;
  /** Waiting callers by priority: the function that gives a caller the connection, and the time at which it came. */
  readonly #waiting: Record<Priority, Map<() => void, number>> = {
    feed: new Map(),
    general: new Map(),
    memory: new Map(),
    unauthenticated: new Map(),
    background: new Map(),
  };
  readonly #now: () => number;

  /** @param now returns milliseconds since any fixed moment */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /**
   * Waits until the caller has the connection, which the caller then releases.
   *
   * @param signal takes the caller out of the queue, with the signal's reason; a caller that has the connection keeps
   *   it
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

  /** Gives the free connection to the next caller; if only the background waits, once the connection is quiet. */
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
