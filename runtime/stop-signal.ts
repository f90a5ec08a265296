/** What the command is told by: a person's Ctrl-C, or whatever runs it. */
const SIGNALS = ["SIGINT", "SIGTERM"] as const;
/**
 * npm passes on the Ctrl-C that its script has had from the terminal itself: two signals for one, so close together.
 * Milliseconds.
 */
const SAME_PRESS_MS = 250;

/**
 * Aborts with SIGINT or SIGTERM, and says so: what runs is to drain. Either of them again ends the process at once,
 * with exit code 1.
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
      if (performance.now() - stoppedAt >= samePressMs) process.exit(1);
      return;
    }
    stoppedAt = performance.now();
    out("stopping; once more ends it at once");
    stop.abort();
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
  return stop.signal;
}
