import { constants } from "node:os";

/** The signals that stop the command: from a person's Ctrl-C, or from the process that runs it. */
const SIGNALS = ["SIGINT", "SIGTERM"] as const;

/**
 * Has a signal end this process, until it drains, where it is the first one of a container. Other processes end by the
 * signal anyway, but from the first one the kernel keeps away every signal that it does not handle.
 */
export function endFirstProcess(): void {
  if (process.pid !== 1) return;
  for (const signal of SIGNALS) process.on(signal, end);
}

/** The exit code is what a shell says of a process that was ended by a signal. */
const end = (signal: (typeof SIGNALS)[number]): void => process.exit(128 + constants.signals[signal]);

/**
 * npm passes on the Ctrl-C that its script has had from the terminal itself: two signals for one, so close together.
 * Milliseconds.
 */
const SAME_PRESS_MS = 250;

/**
 * Aborts with SIGINT or SIGTERM, and says so: what runs is to drain. Either of them again ends the process at once,
 * with exit code 1, or with the one that it has come to where it has drained meanwhile.
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
  // Node that ends by itself takes its handlers away some time before it is gone: a signal that is passed on late would
  // kill it then. This way it keeps them to the end.
  const keepHandlers = () => process.exit();
  process.once("exit", keepHandlers);
  // Node reports an uncaught error only after that event.
  process.once("uncaughtExceptionMonitor", () => process.off("exit", keepHandlers));
  return stop.signal;
}
