import { setTimeout as delay } from "node:timers/promises";

/** Task that a process repeats. */
export type PeriodicTask = {
  /** @param signal aborted when the task is to end */
  readonly run: (signal: AbortSignal) => Promise<unknown>;
  /** Milliseconds from the beginning of one run to that of the next. */
  readonly intervalMs: number;
  /** True if the first run is now, and not an interval from now. */
  readonly isDueAtOnce?: boolean;
  /** True to vary each interval from half to one and a half of it, so that processes do not run together. */
  readonly isSpread?: boolean;
  /** Called with the error of a run that failed before the end of the task. */
  readonly onFailure: (error: unknown) => void;
};

/**
 * Runs a task at every interval until the signal. A run that takes longer is followed by the next at once. A run that
 * fails is repeated at the next interval.
 */
export async function runPeriodically(
  { run, intervalMs, isDueAtOnce = false, isSpread = false, onFailure }: PeriodicTask,
  signal: AbortSignal,
): Promise<void> {
  const nextInterval = () => (isSpread ? intervalMs * (0.5 + Math.random()) : intervalMs);
  for (let pauseMs = isDueAtOnce ? 0 : nextInterval(); ; ) {
    await delay(pauseMs, undefined, { signal }).catch(() => {});
    if (signal.aborted) return;
    const startedAt = performance.now();
    try {
      await run(signal);
    } catch (error) {
      if (!signal.aborted) onFailure(error);
    }
    pauseMs = Math.max(0, nextInterval() - (performance.now() - startedAt));
  }
}

/**
 * Runs a task as {@link runPeriodically} does, until it is ended.
 *
 * @returns function that ends it, and waits for the run in progress
 */
export function startPeriodically(task: PeriodicTask): () => Promise<void> {
  const ending = new AbortController();
  const running = runPeriodically(task, ending.signal);
  return () => {
    ending.abort();
    return running;
  };
}
