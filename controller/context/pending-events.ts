/**
 * Refusals that often pass by themselves, since what is declared together is found in some order. Such a one is an event
 * once it has lasted. What waits is in memory alone: a process that ends records none of it, and neither does the next.
 */
import type { DeclaredObject, ObjectRef } from "../cluster/port.ts";

/** How long a reason has to hold, from when the status with it was written. Milliseconds. */
const LASTS_MS = 30_000;

type PendingEvent = { readonly object: ObjectRef; readonly uid: string; readonly reason: string };

export type PendingEvents = {
  /** Whether an event of the object with this uid waits. */
  has(uid: string): boolean;
  /** Has an event wait from now on, in place of the one of this object that has waited. */
  add(object: DeclaredObject, reason: string): void;
  drop(uid: string): void;
  /** Takes out the oldest that has waited for long enough; undefined where none has. */
  takeDue(): PendingEvent | undefined;
};

/** @param monotonic milliseconds on a clock that never jumps */
export function createPendingEvents(monotonic: () => number): PendingEvents {
  /** By uid. All wait equally long, so that the first in the map is due first. */
  const waiting = new Map<string, PendingEvent & { readonly since: number }>();

  return {
    has: (uid) => waiting.has(uid),
    add({ uid, kind, namespace, name }, reason) {
      waiting.delete(uid);
      waiting.set(uid, { object: { kind, namespace, name }, uid, reason, since: monotonic() });
    },
    drop: (uid) => void waiting.delete(uid),
    takeDue() {
      const [first] = waiting.values();
      if (first === undefined || monotonic() < first.since + LASTS_MS) return undefined;
      waiting.delete(first.uid);
      return first;
    },
  };
}
