import { getEnvironmentData, setEnvironmentData, threadId } from "node:worker_threads";

/** How long a thread that has the turn may be without a sign of life: longer, and another takes it over. */
const ALIVE_MS = 5_000;
const NAME = "keyplane.output-turn";

/** Of {@link state}: which thread has the turn, and how often one that has it tried to go on. */
const HOLDER = 0;
const TRIES = 1;
const FREE = 0;
/** Of this thread: the main thread's id is 0, too. */
const OWN = threadId + 1;

/** One for all threads of the process: those that a thread starts are given what it has. */
const state = new Int32Array(sharedMemory());

function sharedMemory(): SharedArrayBuffer {
  const known = getEnvironmentData(NAME);
  if (known instanceof SharedArrayBuffer) return known;
  const made = new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT);
  setEnvironmentData(NAME, made);
  return made;
}

/**
 * Whose turn it is to write to standard output, among the threads of the process. A pipe takes a part of what is longer
 * than 4 KiB: the thread whose line was cut keeps the turn, so that no other line gets into its middle.
 */
export class OutputTurn {
  #seen = -1;
  #seenAt = 0;

  /** Whether this thread has it. */
  get isHeld(): boolean {
    return Atomics.load(state, HOLDER) === OWN;
  }

  /**
   * Takes it, or holds it on.
   *
   * @returns "cut" where its last holder has died, or stood still, within a line; undefined while another has it
   */
  take(): "whole" | "cut" | undefined {
    const holder = Atomics.compareExchange(state, HOLDER, FREE, OWN);
    if (holder === FREE || holder === OWN) {
      Atomics.add(state, TRIES, 1);
      return "whole";
    }
    const tries = Atomics.load(state, TRIES);
    const now = performance.now();
    if (tries !== this.#seen) {
      this.#seen = tries;
      this.#seenAt = now;
    }
    if (now - this.#seenAt < ALIVE_MS) return undefined;
    return Atomics.compareExchange(state, HOLDER, holder, OWN) === holder ? "cut" : undefined;
  }

  release(): void {
    Atomics.compareExchange(state, HOLDER, OWN, FREE);
  }
}
