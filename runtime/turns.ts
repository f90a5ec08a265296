type Turns = {
  /** Takes one turn, that is, one piece of work; resolves to false if there was none. */
  takeTurn(): Promise<boolean>;
  /** Maximum number of turns in progress. */
  readonly most: number;
  readonly pollMs: number;
  onFailure(error: unknown): void;
};

/**
 * Takes turns for as long as there are any, and looks for new ones after every `pollMs` milliseconds.
 *
 * @returns `close` ends it, and waits for the turns in progress
 */
export function startTurns({ takeTurn, most, pollMs, onFailure }: Turns): { close(): Promise<void> } {
  let isClosed = false;
  const underWay = new Set<Promise<void>>();

  async function takeTurns(): Promise<void> {
    try {
      while (!isClosed && (await takeTurn()));
    } catch (error) {
      if (!isClosed) onFailure(error);
    }
  }

  const timer = setInterval(() => {
    if (underWay.size >= most) return;
    const turns = takeTurns().finally(() => underWay.delete(turns));
    underWay.add(turns);
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
