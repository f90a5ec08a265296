type Turns = {
  /** Takes one turn; resolves to false where there was none to take. */
  takeTurn(): Promise<boolean>;
  /** Turns that are under way at a time. */
  readonly most: number;
  readonly pollMs: number;
  onFailure(error: unknown): void;
};

/**
 * Takes turns for as long as there are any, and looks for others time and again.
 *
 * @returns ends it: what is under way is waited for
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
