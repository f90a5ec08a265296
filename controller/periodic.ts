import { setTimeout as delay } from "node:timers/promises";
import { errorText } from "../domain/error-text.ts";
import type { LogLine } from "./log-line.ts";

export type PeriodicTask = {
  /** For the log, after "while". */
  readonly what: string;
  /** From the beginning of one run to that of the next. Milliseconds. */
  readonly intervalMs: number;
  /** Whether the first run is now, and not an interval from now. */
  readonly isDueAtOnce?: boolean;
  readonly run: () => Promise<void>;
};

/**
 * Runs a task at every interval until the signal, or as soon as it has ended where it takes longer; one that fails is
 * logged and comes round again.
 */
export async function runPeriodically(
  { what, intervalMs, isDueAtOnce = false, run }: PeriodicTask,
  log: LogLine,
  signal: AbortSignal,
): Promise<void> {
  for (let pauseMs = isDueAtOnce ? 0 : intervalMs; ; ) {
    await delay(pauseMs, undefined, { signal }).catch(() => {});
    if (signal.aborted) return;
    const startedAt = performance.now();
    try {
      await run();
    } catch (error) {
      log("warn", `while ${what}: ${errorText(error)}`);
    }
    pauseMs = Math.max(0, intervalMs - (performance.now() - startedAt));
  }
}
