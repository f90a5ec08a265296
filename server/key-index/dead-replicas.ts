import { LEASE_MARGIN_MS } from "../../domain/protocol.ts";
import { watchReplicas } from "../../store/replicas/replica-watch.ts";
import type { Neighbour, ReplicaRegister } from "../../store/replicas/replicas.ts";

/** Milliseconds between two readings of all replicas. */
const READING_MS = 2_000;

/**
 * Creates the function that removes dead replicas. The replicas form a ring, and each heartbeat returns the last sign
 * of life of the replica before it: while all live, this costs no further statement. If that replica gives no sign for
 * longer than it may, all replicas are read until it is gone, and with it any others that have died.
 *
 * @param monotonic milliseconds on a clock that never jumps
 * @returns a function to call with each heartbeat's {@link Heartbeat.neighbour}; it has no result, and does not throw
 */
export function createRemover(
  register: ReplicaRegister,
  monotonic: () => number,
): (neighbour: Neighbour | null) => void {
  const watch = watchReplicas(register, monotonic);
  let last: { readonly sign: string | undefined; readonly since: number } | undefined;
  let readAt = Number.NEGATIVE_INFINITY;

  return (neighbour) => {
    const now = monotonic();
    if (last === undefined || last.sign !== neighbour?.sign) last = { sign: neighbour?.sign, since: now };
    if (neighbour === null || now - readAt < READING_MS) return;
    if (now - last.since < neighbour.leaseMs + LEASE_MARGIN_MS) return;
    readAt = now;
    watch(0).catch(() => {
      // The next beat reads again, and so does a caller that waits for a confirmation.
    });
  };
}
