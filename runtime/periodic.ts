import { setTimeout as delay } from "node:timers/promises";
import type { Logger } from "./log.ts";

/** Something that a replica does now and then. */
type Rounds = {
  readonly round: (signal: AbortSignal) => Promise<unknown>;
  /** Between two rounds, in milliseconds. */
  readonly intervalMs: number;
  readonly log: Logger;
  /** For the log. */
  readonly failure: string;
  /** From 0 up to 1. */
  readonly random?: () => number;
};

/**
 * Does something now and then, whether there is a controller or not. Each round comes at another moment, so that
 * replicas that were started together do not all ask at once; what fails is done again with the next.
 *
 * @returns ends it, and waits for what is under way
 */
export function startRounds({ round, intervalMs, log, failure, random = Math.random }: Rounds): () => Promise<void> {
  const ending = new AbortController();
  const { signal } = ending;
  async function run(): Promise<void> {
    for (;;) {
      await delay(intervalMs * (0.5 + random()), undefined, { signal, ref: false }).catch(() => {});
      if (signal.aborted) return;
      try {
        await round(signal);
      } catch (error) {
        log.warn({ error }, failure);
      }
    }
  }
  const running = run();
  return () => {
    ending.abort();
    return running;
  };
}
