import type { UpstreamTimes } from "./upstream/upstream-times.ts";

/** Bounds the time of an answer that comes in several pieces: between two pieces, and in all. */
export class AnswerPace {
  readonly #deadline: NodeJS.Timeout;
  readonly #silence: NodeJS.Timeout;

  /**
   * Starts both timers as the first piece comes.
   *
   * @param onTooLong called when the whole answer has taken too long
   * @param onSilence called when the next piece has taken too long; not again before {@link wait}
   */
  constructor({ silence, whole }: UpstreamTimes, onTooLong: () => void, onSilence: () => void) {
    this.#deadline = setTimeout(onTooLong, whole).unref();
    this.#silence = setTimeout(onSilence, silence).unref();
  }

  /** Waits anew for the next piece. */
  wait(): void {
    this.#silence.refresh();
  }

  stop(): void {
    clearTimeout(this.#deadline);
    clearTimeout(this.#silence);
  }
}
