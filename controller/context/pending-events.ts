/**
 * Refusals that often pass by themselves, since objects that are declared together are found in some order. Such a
 * refusal becomes an event once it has lasted. The pending events are in memory alone: if the process ends, neither it
 * nor the next process records them.
 */
import type { DeclaredObject, ObjectRef } from "../cluster/port.ts";

/** Milliseconds that a reason has to hold, from when the status with it was written. */
const LASTS_MS = 30_000;

type PendingEvent = { readonly object: ObjectRef; readonly uid: string; readonly reason: string };

export type PendingEvents = {
  /** True if an event of the object with this uid waits. */
  has(uid: string): boolean;
  /** Makes an event wait from now on, instead of the event of this object that has waited. */
  add(object: DeclaredObject, reason: string): void;
  drop(uid: string): void;
  /** Takes out the oldest event that has waited for long enough; undefined if none has. */
  takeDue(): PendingEvent | undefined;
};

/** @param monotonic milliseconds on a clock that never jumps */
export function createPendingEvents(monotonic: () => number): PendingEvents {
  /** Events by uid. All wait equally long, so that the first in the map is due first. */
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
