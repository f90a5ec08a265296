import { constants } from "node:os";

/** Signals that stop the command: from a person's Ctrl-C, or from the process that runs it. */
const SIGNALS = ["SIGINT", "SIGTERM"] as const;

/**
 * Lets a signal end this process until it drains, if it is the first process of a container. Signals end other
 * processes anyway, but the kernel keeps from the first process every signal that it does not handle.
 */
export function endFirstProcess(): void {
  if (process.pid !== 1) return;
  for (const signal of SIGNALS) process.on(signal, end);
}

/** Ends the process with the exit code that a shell reports for a process that a signal ended. */
const end = (signal: (typeof SIGNALS)[number]): void => process.exit(128 + constants.signals[signal]);

/**
 * Milliseconds within which two signals count as one: npm passes on the Ctrl-C that its script has also got from the
 * terminal.
 */
const SAME_PRESS_MS = 250;

/**
 * Returns a signal that SIGINT or SIGTERM aborts, and tells the user: running work is to drain. A second signal ends
 * the process at once, with exit code 1, or with its final exit code if it has drained meanwhile.
 */
export function stopSignal(
  env: { readonly npm_lifecycle_event?: string | undefined },
  out: (line: string) => void,
): AbortSignal {
  const stop = new AbortController();
  const samePressMs = env.npm_lifecycle_event === undefined ? 0 : SAME_PRESS_MS;
  let stoppedAt = 0;
  const onSignal = () => {
    if (stop.signal.aborted) {
      if (performance.now() - stoppedAt >= samePressMs) process.exit(process.exitCode ?? 1);
      return;
    }
    stoppedAt = performance.now();
    out("stopping; send the signal again to end at once");
    stop.abort();
  };
  for (const signal of SIGNALS) process.on(signal, onSignal).off(signal, end);
  // A Node process that ends by itself removes its handlers some time before it is gone: a signal that is passed on
  // late would kill it then. This way it keeps them to the end.
  const keepHandlers = () => process.exit();
  process.once("exit", keepHandlers);
  // Node reports an uncaught error only after that event.
  process.once("uncaughtExceptionMonitor", () => process.off("exit", keepHandlers));
  return stop.signal;
}
