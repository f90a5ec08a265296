import type { LogLine } from "./log-line.ts";

/**
 * Largest difference from the monotonic clock between two readings that counts as drift. A larger difference is a clock
 * that was set, or a machine that slept.
 */
const MAX_JUMP_MS = 60_000;
/**
 * Milliseconds that a clock has to run on after a jump to be believed: correcting a clock that was set wrongly takes
 * minutes.
 */
const STEADY_AFTER_MS = 10 * 60_000;

/** Watch of the clock that decides, which is the database's: with the embedded database that is the machine's own. */
export type DatabaseClock = {
  /** Passes on an answer that has the database's time, and compares that time with the monotonic clock. */
  timed<T extends { readonly now: number }>(ask: () => Promise<T>): Promise<T>;
  /**
   * Returns the time from which the effects of time alone may be final, in milliseconds since the epoch by the
   * database's clock. Until then, after a jump that may be set right again, nothing is retired, no interval has passed
   * and nothing is deleted. What expires is refused meanwhile, which can be undone.
   *
   * @param now by the database's clock
   */
  steadyFrom(now: number): number;
};

/** @param monotonic milliseconds on a clock that never jumps */
export function watchDatabaseClock(monotonic: () => number, log: LogLine): DatabaseClock {
  let last: ClockReading | undefined;
  let steadyAt = Number.NEGATIVE_INFINITY;

  function note(reading: ClockReading): void {
    // If two queries are under way at once, the answer to the older may come later.
    if (last !== undefined && reading.askedAt < last.askedAt) return;
    const jump = last === undefined ? 0 : jumpBetween(last, reading);
    last = reading;
    if (Math.abs(jump) <= MAX_JUMP_MS) return;
    steadyAt = reading.answeredAt + STEADY_AFTER_MS;
    const minutes = STEADY_AFTER_MS / 60_000;
    log(
      "warn",
      `the clock of the database, which is this machine's with the embedded one, jumped: no version is retired, none rotated and nothing deleted because of the time before it has been steady for ${minutes} minutes`,
      { seconds: Math.round(jump / 1_000) },
    );
  }

  return {
    async timed(ask) {
      const askedAt = monotonic();
      const answer = await ask();
      note({ askedAt, answeredAt: monotonic(), now: answer.now });
      return answer;
    },
    steadyFrom(now) {
      const left = steadyAt - monotonic();
      return left > 0 ? now + left : Number.NEGATIVE_INFINITY;
    },
  };
}

/**
 * Returns a task that deletes by the database's time, and that is left out while its clock is not steady.
 *
 * @param readTime reads the database's time, in milliseconds since the epoch
 */
export function whileSteady(
  clock: DatabaseClock,
  readTime: () => Promise<number>,
  run: (signal: AbortSignal) => Promise<unknown>,
): (signal: AbortSignal) => Promise<void> {
  return async (signal) => {
    const { now } = await clock.timed(async () => ({ now: await readTime() }));
    if (now >= clock.steadyFrom(now)) await run(signal);
  };
}

/**
 * Database time that was read at some moment between a question and its answer on the monotonic clock. Milliseconds.
 */
type ClockReading = { readonly askedAt: number; readonly answeredAt: number; readonly now: number };

/** Returns how much more, or less, time passed by the database's clock than can have passed. */
function jumpBetween(before: ClockReading, after: ClockReading): number {
  const passed = after.now - before.now;
  const [least, most] = [after.askedAt - before.answeredAt, after.answeredAt - before.askedAt];
  return passed > most ? passed - most : Math.min(0, passed - least);
}
