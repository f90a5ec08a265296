import { getEnvironmentData, setEnvironmentData, threadId } from "node:worker_threads";

/** Milliseconds that the lock's holder may show no sign of life: after that, another thread takes the lock over. */
const ALIVE_MS = 5_000;
const NAME = "keyplane.output-turn";

/** Indices of {@link state}: the thread that holds the lock, and how often a holder has tried to continue. */
const HOLDER = 0;
const TRIES = 1;
const FREE = 0;
/** Holder's value for this thread: one more than its id, because the main thread's id is 0. */
const OWN = threadId + 1;

/** State that all threads of the process share: a thread passes it to the threads that it starts. */
const state = new Int32Array(sharedMemory());

function sharedMemory(): SharedArrayBuffer {
  const known = getEnvironmentData(NAME);
  if (known instanceof SharedArrayBuffer) return known;
  const made = new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT);
  setEnvironmentData(NAME, made);
  return made;
}

/**
 * Lock by which one thread of the process at a time writes to standard output. A pipe may take only a part of a text
 * that is longer than 4 KiB: the thread whose line was cut keeps the lock, so that no other line gets into its middle.
 */
export class OutputLock {
  #seen = -1;
  #seenAt = 0;

  /** True if this thread holds the lock. */
  get isHeld(): boolean {
    return Atomics.load(state, HOLDER) === OWN;
  }

  /**
   * Takes the lock, or keeps it.
   *
   * @returns "cut" if its last holder died or stalled within a line; undefined while another thread holds it
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
