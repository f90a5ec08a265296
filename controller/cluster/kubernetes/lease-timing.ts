/**
 * When a leader renews its Lease, until when it leads, and when another may take it. Milliseconds, but where it says
 * seconds.
 */

/** A moment on both clocks: the steady one stands still while a machine is suspended, the other one may be set. */
export type Moment = { readonly wall: number; readonly steady: number };

/** How long a Lease holds that is not renewed, as it says itself. */
export const LEASE_SECONDS = 15;
/**
 * How long a leader leads from when it sent the last write that was answered. It is over before any other may take the
 * Lease, also where their clocks run at rates that differ by some percent.
 */
export const TERM_MS = 13_000;
/** From one renewal's being sent to the next one's. */
const RENEWAL_MS = 2_000;
/** From one look at another's Lease to the next, at most. */
const LOOK_MS = 1_000;

/** How much is left of the term of a leader whose last answered write was sent at that moment, by the further clock. */
export function termLeft(sent: Moment, now: Moment): number {
  return Math.max(0, TERM_MS - Math.max(now.steady - sent.steady, now.wall - sent.wall));
}

/**
 * How long the next renewal waits, once the last one was answered or failed. It counts from when that was sent: a pause
 * after a slow answer would be lost of a term that two answers must fit into.
 */
export function untilRenewal(sent: Moment, now: Moment): number {
  return Math.max(0, RENEWAL_MS - (now.steady - sent.steady));
}

/**
 * How long another's Lease may not be taken, which has not changed since it was seen. It may have been renewed up to a
 * look before that: so that a crash costs no more than the Lease's own time, it is respected for a look less.
 *
 * @param seconds the Lease's own
 * @param seenFor on our own clock, since theirs may be wrong
 */
export function respectLeft(seconds: number, seenFor: number): number {
  return Math.max(0, seconds * 1_000 - LOOK_MS - seenFor);
}

/**
 * How long until the next look at another's Lease.
 *
 * @param respect as {@link respectLeft} says
 * @param random uniform in [0, 1), so that those who wait do not ask as one
 */
export function untilLook(respect: number, random: number): number {
  const pause = LOOK_MS * (1 - random / 5);
  return respect === 0 ? pause : Math.min(respect, pause);
}
