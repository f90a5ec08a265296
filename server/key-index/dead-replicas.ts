import { LEASE_MARGIN_MS, LEASE_MS } from "../../domain/protocol.ts";
import { watchReplicas } from "../../store/feed/replica-watch.ts";
import type { ReplicaRegister } from "../../store/feed/replicas.ts";

/** Between two readings of all replicas. */
const READING_MS = 2_000;

/**
 * Makes what takes out replicas that have died. Replicas are a ring, and each one's heartbeat tells it the last sign of
 * life of the one before it: that all live costs no further statement. Where that one gives none for longer than it may,
 * all are read until it is gone, and with it whoever else has died.
 *
 * @param monotonic milliseconds on a clock that never jumps
 * @returns to be called with each heartbeat's {@link Heartbeat.neighbour}; what it does has no result, and does not throw
 */
export function createRemover(register: ReplicaRegister, monotonic: () => number): (neighbour: string | null) => void {
  const watch = watchReplicas(register, LEASE_MS, monotonic);
  let last: { readonly sign: string | null; readonly since: number } | undefined;
  let readAt = Number.NEGATIVE_INFINITY;

  return (sign) => {
    const now = monotonic();
    if (last?.sign !== sign) last = { sign, since: now };
    if (sign === null || now - last.since < LEASE_MS + LEASE_MARGIN_MS || now - readAt < READING_MS) return;
    readAt = now;
    watch(0).catch(() => {
      // The next beat asks again, and so does whoever waits for a confirmation.
    });
  };
}
