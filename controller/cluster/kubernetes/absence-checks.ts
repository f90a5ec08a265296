/**
 * Asks by name for the objects that a list lacked. Until the API server has answered, an object is taken to be there as
 * it was.
 */
import { setTimeout as delay } from "node:timers/promises";
import type { Presence } from "../../../domain/garbage-collection.ts";
import type { DeclaredObject } from "../port.ts";

/** Number of objects that are asked for before it is judged whether the list was wrong. */
const AT_ONCE = 10;
/** Milliseconds of pause before the objects that are still unconfirmed are asked for again. */
const PAUSE_MS = 20_000;

export class AbsenceChecks {
  readonly #unconfirmed: () => readonly DeclaredObject[];
  readonly #lookUp: (object: DeclaredObject) => Promise<Presence>;
  #running: Promise<void> | undefined;
  #listedAgain = Promise.withResolvers<void>();

  /**
   * @param unconfirmed returns the objects that a list lacked and that nothing has been heard of since
   * @param lookUp asks for an object by name, and notes what it finds if it can
   */
  constructor(unconfirmed: () => readonly DeclaredObject[], lookUp: (object: DeclaredObject) => Promise<Presence>) {
    this.#unconfirmed = unconfirmed;
    this.#lookUp = lookUp;
  }

  /**
   * Checks the objects that the last list lacked; to be called after each list. Resolves once nothing is unconfirmed
   * any more, or with the signal.
   */
  run(signal: AbortSignal): Promise<void> {
    this.#listedAgain.resolve();
    this.#running ??= this.#askUntilConfirmed(signal).finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  async #askUntilConfirmed(signal: AbortSignal): Promise<void> {
    while (!signal.aborted && this.#unconfirmed().length > 0) {
      this.#listedAgain = Promise.withResolvers();
      await this.#askForAll(signal);
      if (this.#unconfirmed().length === 0) return;
      const pause = new AbortController();
      const until = AbortSignal.any([signal, pause.signal]);
      await Promise.race([this.#listedAgain.promise, delay(PAUSE_MS, undefined, { signal: until }).catch(() => {})]);
      pause.abort();
    }
  }

  /**
   * Asks for all unconfirmed objects. If one of them is there, the list was wrong: another list will clear up the rest.
   */
  async #askForAll(signal: AbortSignal): Promise<void> {
    const all = this.#unconfirmed();
    for (let from = 0; from < all.length && !signal.aborted; from += AT_ONCE) {
      const answers = await Promise.all(all.slice(from, from + AT_ONCE).map(this.#lookUp));
      if (answers.includes("present")) return;
    }
  }
}
