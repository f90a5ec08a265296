/**
 * Times at which a leader renews its Lease, until which it leads, and from which another may take it. Milliseconds, but
 * where it says seconds.
 */

/** Moment on two clocks: the steady clock stands still while a machine is suspended, and the wall clock may be set. */
export type Moment = { readonly wall: number; readonly steady: number };

/** Seconds for which a Lease that is not renewed holds, as it says itself. */
export const LEASE_SECONDS = 15;
/**
 * Milliseconds that a leader leads from when it sent the last write that was answered. They are over before any other
 * may take the Lease, even if their clocks run at rates that differ by some percent.
 */
export const TERM_MS = 13_000;
/** Milliseconds from the sending of a renewal to the sending of the next. */
const RENEWAL_MS = 2_000;
/** Longest time from one look at another's Lease to the next, in milliseconds. */
const LOOK_MS = 1_000;

/**
 * Returns what is left of the term of a leader whose last answered write was sent at that moment, by the clock that is
 * further on.
 */
export function termLeft(sent: Moment, now: Moment): number {
  return Math.max(0, TERM_MS - Math.max(now.steady - sent.steady, now.wall - sent.wall));
}

/**
 * Returns how long to wait for the next renewal, once the last one was answered or failed. It counts from when the last
 * one was sent: a pause after a slow answer would be lost of a term that two answers must fit into.
 */
export function untilRenewal(sent: Moment, now: Moment): number {
  return Math.max(0, RENEWAL_MS - (now.steady - sent.steady));
}

/**
 * Returns how long another's Lease, which has not changed since it was seen, may not be taken. The Lease may have been
 * renewed up to a look before that. So it is respected for a look less, and a crash costs no more than the Lease's own
 * time.
 *
 * @param seconds the Lease's own
 * @param seenFor milliseconds on our own clock, since the other's may be wrong
 */
export function respectLeft(seconds: number, seenFor: number): number {
  return Math.max(0, seconds * 1_000 - LOOK_MS - seenFor);
}

/**
 * Returns how long to wait until the next look at another's Lease.
 *
 * @param respect result of {@link respectLeft}
 * @param random uniform in [0, 1), so that waiting controllers do not all ask at once
 */
export function untilLook(respect: number, random: number): number {
  const pause = LOOK_MS * (1 - random / 5);
  return respect === 0 ? pause : Math.min(respect, pause);
}
