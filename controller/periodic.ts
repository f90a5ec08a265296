import { setTimeout as delay } from "node:timers/promises";
import { errorText } from "../domain/error-text.ts";
import type { LogLine } from "./log-line.ts";

/**
 * Runs a task every `intervalMs` until the signal, or as soon as it has ended where it takes longer; one that fails is
 * logged and comes round again.
 */
export async function runPeriodically(
  what: string,
  intervalMs: number,
  task: () => Promise<void>,
  log: LogLine,
  signal: AbortSignal,
): Promise<void> {
  for (let pauseMs = intervalMs; ; ) {
    await delay(pauseMs, undefined, { signal }).catch(() => {});
    if (signal.aborted) return;
    const startedAt = performance.now();
    try {
      await task();
    } catch (error) {
      log("warn", `while ${what}: ${errorText(error)}`);
    }
    pauseMs = Math.max(0, intervalMs - (performance.now() - startedAt));
  }
}
