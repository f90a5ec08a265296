import { setTimeout as delay } from "node:timers/promises";
import { errorText } from "../domain/error-text.ts";
import type { LogLine } from "./log-line.ts";

/** Runs a task every `intervalMs` until the signal; one that fails is logged and comes round again. */
export async function runPeriodically(
  what: string,
  intervalMs: number,
  task: () => Promise<void>,
  log: LogLine,
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    await delay(intervalMs, undefined, { signal }).catch(() => {});
    if (signal.aborted) return;
    try {
      await task();
    } catch (error) {
      log("warn", `while ${what}: ${errorText(error)}`);
    }
  }
}
