import type { UpstreamTimes } from "./upstream/upstream-times.ts";

/** Bounds an answer of several pieces: each piece, and all of them. */
export class AnswerPace {
  readonly #deadline: NodeJS.Timeout;
  readonly #silence: NodeJS.Timeout;

  /**
   * Begins to wait with the first piece.
   *
   * @param onTooLong called once all of it has taken too long
   * @param onSilence called once the next piece has taken too long; not again before {@link wait}
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
