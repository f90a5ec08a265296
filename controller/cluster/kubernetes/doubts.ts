/** Asks by name for what a list lacked. Until the API server has answered, it is taken to be there as it was. */
import { setTimeout as delay } from "node:timers/promises";
import type { Presence } from "../../../domain/garbage-collection.ts";
import type { DeclaredObject } from "../port.ts";

/** How many are asked for before it is judged whether the list was wrong. */
const AT_ONCE = 10;
/** The pause before what is still in doubt is asked for again. Milliseconds. */
const PAUSE_MS = 20_000;

/**
 * Makes the questioner, which is to be called after each list. It resolves once nothing is in doubt any more, or with
 * the signal.
 *
 * @param doubted those that are in doubt now
 * @param lookUp settles the doubt where it can
 */
export function createDoubts(
  doubted: () => readonly DeclaredObject[],
  lookUp: (object: DeclaredObject) => Promise<Presence>,
): (signal: AbortSignal) => Promise<void> {
  let running: Promise<void> | undefined;
  let listedAgain = Promise.withResolvers<void>();

  async function settle(signal: AbortSignal): Promise<void> {
    while (!signal.aborted && doubted().length > 0) {
      listedAgain = Promise.withResolvers();
      await askForAll(signal);
      if (doubted().length === 0) return;
      const pause = new AbortController();
      const until = AbortSignal.any([signal, pause.signal]);
      await Promise.race([listedAgain.promise, delay(PAUSE_MS, undefined, { signal: until }).catch(() => {})]);
      pause.abort();
    }
  }

  /** One that is there shows that the list was wrong: another list will clear up the rest. */
  async function askForAll(signal: AbortSignal): Promise<void> {
    const all = doubted();
    for (let from = 0; from < all.length && !signal.aborted; from += AT_ONCE) {
      const answers = await Promise.all(all.slice(from, from + AT_ONCE).map(lookUp));
      if (answers.includes("present")) return;
    }
  }

  return (signal) => {
    listedAgain.resolve();
    running ??= settle(signal).finally(() => {
      running = undefined;
    });
    return running;
  };
}
