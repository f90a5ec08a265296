import { setTimeout as delay } from "node:timers/promises";

/** What a process does again and again. */
export type PeriodicTask = {
  /** @param signal aborted when the task is to end */
  readonly run: (signal: AbortSignal) => Promise<unknown>;
  /** From the beginning of one run to that of the next, in milliseconds. */
  readonly intervalMs: number;
  /** Whether the first run is now, and not an interval from now. */
  readonly isDueAtOnce?: boolean;
  /** Whether each interval is between half and one and a half of that: processes that start together do not run at once. */
  readonly isSpread?: boolean;
  /** Reports a run that failed before the end of the task. */
  readonly onFailure: (error: unknown) => void;
};

/**
 * Runs a task at every interval until the signal, or as soon as it has ended where it takes longer. One that fails comes
 * round again.
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
 * @returns ends it, and waits for what is under way
 */
export function startPeriodically(task: PeriodicTask): () => Promise<void> {
  const ending = new AbortController();
  const running = runPeriodically(task, ending.signal);
  return () => {
    ending.abort();
    return running;
  };
}
