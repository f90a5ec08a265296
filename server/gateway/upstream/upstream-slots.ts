/** Calls that may be under way to one upstream from one process, each on a connection of its own. */
const MAX_CALLS = 512;
/** Calls that may wait for a slot. */
const MAX_QUEUED = 256;
/** Milliseconds that a call waits at most. */
const MAX_QUEUED_MS = 5_000;

/** Number of calls that an upstream takes, and that may wait, and for how many milliseconds. */
export type SlotLimits = { readonly calls: number; readonly queued: number; readonly queuedMs: number };

/** @param workers threads that share a process's limits */
export function slotLimits(workers: number): SlotLimits {
  return {
    calls: Math.ceil(MAX_CALLS / workers),
    queued: Math.ceil(MAX_QUEUED / workers),
    queuedMs: MAX_QUEUED_MS,
  };
}

type QueuedCall = { readonly start: () => void; readonly patience: NodeJS.Timeout };

/** The calls under way to one upstream, and those that wait to be (threats b85). */
export class UpstreamSlots {
  readonly #limits: SlotLimits;
  readonly #queue = new Set<QueuedCall>();
  #inUse = 0;
  #refused = 0;

  constructor(limits: SlotLimits) {
    this.#limits = limits;
  }

  get figures(): { inUse: number; queued: number; refused: number } {
    return { inUse: this.#inUse, queued: this.#queue.size, refused: this.#refused };
  }

  /** Takes a slot if one is free and no call waits; {@link release} gives it back. */
  tryTake(): boolean {
    if (this.#inUse >= this.#limits.calls || this.#queue.size > 0) return false;
    this.#inUse++;
    return true;
  }

  /**
   * Waits for a slot.
   *
   * @param start called once, with the slot taken
   * @param refuse called instead when the wait is too long, or at once when too many wait
   * @returns a function to call when the slot is wanted no more
   */
  wait(start: () => void, refuse: () => void): () => void {
    if (this.#queue.size >= this.#limits.queued) {
      this.#refused++;
      refuse();
      return ignore;
    }
    const patience = setTimeout(() => {
      if (!this.#queue.delete(waiting)) return;
      this.#refused++;
      refuse();
    }, this.#limits.queuedMs);
    const waiting: QueuedCall = { start, patience };
    this.#queue.add(waiting);
    return () => {
      clearTimeout(patience);
      this.#queue.delete(waiting);
    };
  }

  /** Gives a slot back: the call that has waited longest takes it. */
  release(): void {
    const [next] = this.#queue;
    if (next === undefined) {
      this.#inUse--;
      return;
    }
    this.#queue.delete(next);
    clearTimeout(next.patience);
    next.start();
  }
}

const ignore = (): void => {};
