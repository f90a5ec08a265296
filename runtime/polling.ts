type Polling = {
  /** Does one piece of work; resolves to false if there was none. */
  runNext(): Promise<boolean>;
  /** Maximum number of pieces in progress. */
  readonly most: number;
  readonly pollMs: number;
  /** Counts the writes after which there may be new work; undefined if they cannot be counted. */
  readonly writes: (() => number) | undefined;
  onFailure(error: unknown): void;
};

/**
 * Does pieces of work for as long as there are any, and looks for new ones after every `pollMs` milliseconds.
 *
 * @returns `close` ends it, and waits for the pieces in progress
 */
export function startPolling({ runNext, most, pollMs, writes, onFailure }: Polling): { close(): Promise<void> } {
  let isClosed = false;
  const underWay = new Set<Promise<void>>();

  async function runAll(): Promise<void> {
    try {
      while (!isClosed && (await runNext()));
    } catch (error) {
      if (!isClosed) onFailure(error);
    }
  }

  const isIdle = createIdleCheck(writes);
  const timer = setInterval(() => {
    if (underWay.size >= most || isIdle()) return;
    const running = runAll().finally(() => underWay.delete(running));
    underWay.add(running);
  }, pollMs);
  timer.unref();
  return {
    async close() {
      isClosed = true;
      clearInterval(timer);
      await Promise.all(underWay);
    },
  };
}

/** Returns a task that is left out while nothing was written since its last run, as {@link createIdleCheck} says. */
export function unlessIdle<Args extends unknown[]>(
  writes: (() => number) | undefined,
  run: (...args: Args) => Promise<unknown>,
): (...args: Args) => Promise<void> {
  const isIdle = createIdleCheck(writes);
  return async (...args) => void (isIdle() || (await run(...args)));
}

/** Maximum number of looks that are left out in a row: work may have been put off to a later time. */
const MAX_LEFT_OUT = 4;

/**
 * Makes a check for a caller that looks for work every so often: true if nothing was written since its last look, so
 * that it can leave this one out. Every fifth look is due in any case.
 *
 * @param writes returns the number of writes so far; undefined if they cannot be counted
 */
export function createIdleCheck(writes: (() => number) | undefined): () => boolean {
  let seen: number | undefined;
  let leftOut = 0;
  return () => {
    const written = writes?.();
    const isIdle = written !== undefined && written === seen && leftOut < MAX_LEFT_OUT;
    leftOut = isIdle ? leftOut + 1 : 0;
    seen = written;
    return isIdle;
  };
}
