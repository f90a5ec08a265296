/**
 * Milliseconds after which a later deadline is checked against both clocks. So a machine that was suspended, whose
 * timers stood still meanwhile, is not late by more than this.
 */
const MAX_TIMEOUT_MS = 30_000;

export type Timers = {
  setTimeout(run: () => void, ms: number): unknown;
  clearTimeout(timer: unknown): void;
};

/** Actions that are to be done later, by name: of several deadlines of one name the earliest is kept. */
type Deadlines = {
  /** Calls `run` `delayMs` from now, unless it or another action is due before under this name. */
  set(name: string, delayMs: number, run: () => void): void;
  clear(): void;
};

/** @param clock in milliseconds: since the epoch, and a clock that never jumps */
export function createDeadlines(
  clock: { now(): number; monotonic(): number },
  timers: Timers = globalTimers,
): Deadlines {
  const deadlines = new Map<string, { at: number; timer: unknown }>();

  return {
    set(name, delayMs, run) {
      const at = clock.monotonic() + delayMs;
      const earlier = deadlines.get(name);
      if (earlier !== undefined) {
        if (earlier.at <= at) return;
        timers.clearTimeout(earlier.timer);
      }
      const due = clock.now() + delayMs;
      const wait = (ms: number) => {
        deadlines.set(name, { at, timer: timers.setTimeout(fire, Math.min(ms, MAX_TIMEOUT_MS)) });
      };
      const fire = () => {
        const left = Math.min(at - clock.monotonic(), due - clock.now());
        // A timer may come a millisecond early.
        if (left >= 1) return wait(left);
        deadlines.delete(name);
        run();
      };
      wait(delayMs);
    },
    clear() {
      for (const { timer } of deadlines.values()) timers.clearTimeout(timer);
      deadlines.clear();
    },
  };
}

const globalTimers: Timers = {
  setTimeout: (run, ms) => setTimeout(run, ms),
  clearTimeout: (timer) => clearTimeout(timer as NodeJS.Timeout),
};
