import { setTimeout as delay } from "node:timers/promises";
import type { Store } from "../../store/database/store.ts";
import { createConfirmer } from "../../store/replicas/confirmer.ts";
import { replicaRegister } from "../../store/replicas/replicas.ts";

/**
 * Milliseconds between two looks at the replicas' acknowledgements: the first wait if no other key waits, then ever
 * longer ones; and the wait after a look that confirmed some keys, so that the next of many come together.
 */
const FIRST_POLL_MS = 5;
const NEXT_POLL_MS = 20;
const MAX_POLL_MS = 250;
/** Placeholder for the seq of a change whose answer is outstanding, or lost. */
const UNKNOWN = Number.POSITIVE_INFINITY;

/**
 * Record of the keys that are confirmed, by the uid of their declaration: every replica decides by them as they are now
 * (architecture §3). A key without a noted change is confirmed once the head that was found at the start is.
 */
export type Confirmations = {
  /** Notes that a key is about to be changed: it is not confirmed from here on, even if the answer gets lost. */
  changing(uid: string): void;
  /** Notes the seq of a change of a key; the same seq again is no news. */
  changed(uid: string, seq: number): void;
  /** True if a key is confirmed, from memory; false may be out of date. */
  isConfirmed(uid: string): boolean;
  /** Returns for how many milliseconds a key has waited to be confirmed; 0 if it does not wait. */
  waitedMs(uid: string): number;
  /** Calls back once a key is confirmed, and blocks no caller meanwhile. Never after the signal. */
  whenConfirmed(uid: string, resume: () => void, signal: AbortSignal): void;
  forget(uid: string): void;
};

/**
 * Makes the record, and watches the replicas' acknowledgements.
 *
 * @param monotonic milliseconds on a clock that never jumps
 * @param onConfirmed called with how long a key has waited, in milliseconds
 */
export function watchConfirmations(
  store: Store,
  monotonic: () => number,
  onConfirmed: (waitedMs: number) => void = () => {},
): Confirmations {
  const confirm = createConfirmer(replicaRegister(store), monotonic);
  /** Last change of each key, until a look that began after it was noted finds it confirmed. */
  const unconfirmed = new Map<string, number>();
  /** Change of each key that was last found confirmed. */
  const proven = new Map<string, number>();
  const waiting = new Map<string, { readonly since: number; readonly resume: () => void }>();
  /**
   * Position that is confirmed before any change that was noted: the head at the start, or since the database was
   * rolled back.
   */
  let floor = { seq: 0, isConfirmed: false, history: -1 };
  let polling = false;

  const isConfirmed = (uid: string) => floor.isConfirmed && !unconfirmed.has(uid);

  async function look(): Promise<void> {
    const noted = [...unconfirmed];
    const waited = new Set(waiting.keys());
    const { seq: confirmed, head, history } = await confirm();
    if (history !== floor.history) {
      floor = { seq: head, isConfirmed: false, history };
      proven.clear();
    }
    floor.isConfirmed ||= floor.seq <= confirmed;
    for (const [uid, seq] of noted) {
      if (unconfirmed.get(uid) !== seq) continue;
      if (seq <= confirmed) {
        unconfirmed.delete(uid);
        proven.set(uid, seq);
      } else if (seq > head && waited.has(uid)) {
        // The change got no answer, or the database has lost it. The waiting worker read its outcome before this head.
        unconfirmed.set(uid, head);
      }
    }
  }

  /** Makes one query at a time, however many keys wait. */
  async function poll(signal: AbortSignal): Promise<void> {
    polling = true;
    let pause = FIRST_POLL_MS;
    while (waiting.size > 0 && !signal.aborted) {
      // A database that does not answer is reported by the workers that need it.
      await look().catch(() => {});
      for (const [uid, { since, resume }] of waiting) {
        if (!isConfirmed(uid) || signal.aborted) continue;
        waiting.delete(uid);
        onConfirmed(monotonic() - since);
        pause = NEXT_POLL_MS / 2;
        resume();
      }
      if (waiting.size > 0) await delay(pause, undefined, { signal }).catch(() => {});
      pause = Math.min(pause * 2, MAX_POLL_MS);
    }
    polling = false;
  }

  return {
    isConfirmed,
    changing(uid) {
      waiting.delete(uid);
      unconfirmed.set(uid, UNKNOWN);
    },
    changed(uid, seq) {
      const noted = unconfirmed.get(uid);
      if (noted === undefined ? proven.get(uid) !== seq : noted === UNKNOWN || noted < seq) unconfirmed.set(uid, seq);
    },
    waitedMs(uid) {
      const { since = monotonic() } = waiting.get(uid) ?? {};
      return monotonic() - since;
    },
    whenConfirmed(uid, resume, signal) {
      waiting.set(uid, { since: waiting.get(uid)?.since ?? monotonic(), resume });
      if (!polling) void poll(signal);
    },
    forget(uid) {
      unconfirmed.delete(uid);
      proven.delete(uid);
      waiting.delete(uid);
    },
  };
}
