type Polling = {
  /** Does one piece of work; resolves to false if there was none. */
  runNext(): Promise<boolean>;
  /** Maximum number of pieces in progress. */
  readonly most: number;
  readonly pollMs: number;
  onFailure(error: unknown): void;
};

/**
 * Does pieces of work for as long as there are any, and looks for new ones after every `pollMs` milliseconds.
 *
 * @returns `close` ends it, and waits for the pieces in progress
 */
export function startPolling({ runNext, most, pollMs, onFailure }: Polling): { close(): Promise<void> } {
  let isClosed = false;
  const underWay = new Set<Promise<void>>();

  async function runAll(): Promise<void> {
    try {
      while (!isClosed && (await runNext()));
    } catch (error) {
      if (!isClosed) onFailure(error);
    }
  }

  const timer = setInterval(() => {
    if (underWay.size >= most) return;
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
