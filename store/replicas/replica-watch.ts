import { LEASE_MARGIN_MS, LEASE_MS } from "../../domain/protocol.ts";
import type { FeedPosition, ReplicaRegister, ReplicaRow } from "./replicas.ts";

type Acknowledgements = {
  readonly head: FeedPosition;
  /**
   * Seq up to which every registered replica has applied the changes; the head if there is no replica. 0 as long as a
   * replica may still serve whose registration the database has lost.
   */
  readonly acknowledged: number;
  /** Present id of the change `seq`, to be compared with a remembered id; null if the feed has no such change. */
  readonly idOfSeq: string | null;
  /** Longest lease of the replicas that serve now. A replica that registers later has read the present changes. */
  readonly longestLeaseMs: number;
};

/**
 * Makes a function that returns how far the replicas have applied the changes. It removes dead replicas and leaves them
 * out: those without a sign of life for their lease and a margin. This process observes that itself, on its monotonic
 * clock: by the database's clock every replica would be dead at the moment when that clock is set (threats c39).
 *
 * If another database answers than before, what replicas wrote to the former database may be lost: their signs of life,
 * and their registrations too. Then this process observes anew which replicas live, and until the leases from before
 * are over it counts no change as acknowledged by all (threats c26). A process that has begun since does not know of
 * the former database, and a process that has not asked for long may not know of a lease longer than the usual one: see
 * {@link Replica} for those.
 *
 * @param monotonic milliseconds on a clock that never jumps
 */
export function watchReplicas(
  register: ReplicaRegister,
  monotonic: () => number,
): (seq: number) => Promise<Acknowledgements> {
  /** Last sign of life of each replica, and the time at which an answer first had it. */
  let known = new Map<string, { readonly seenAt: string; readonly since: number }>();
  let answering: string | undefined;
  /** Time until which a replica may serve without being registered in the database that answers now. */
  let doubtfulUntil = Number.NEGATIVE_INFINITY;
  let longestLeaseMs = LEASE_MS;

  return async (seq) => {
    const askedAt = monotonic();
    const { incarnation, head, idOfSeq, replicas } = await register.read(seq);
    const now = monotonic();
    const isAnother = answering !== undefined && incarnation !== answering;
    answering = incarnation;
    const isDoubtful = isAnother || askedAt < doubtfulUntil;
    const leases = replicas.map(({ leaseMs }) => leaseMs);
    longestLeaseMs = Math.max(LEASE_MS, isDoubtful ? longestLeaseMs : 0, ...leases);
    if (isAnother) doubtfulUntil = now + longestLeaseMs + LEASE_MARGIN_MS;
    const before: typeof known = isAnother ? new Map() : known;
    known = new Map(
      replicas.map(({ id, seenAt }) => {
        const last = before.get(id);
        return [id, last?.seenAt === seenAt ? last : { seenAt, since: now }];
      }),
    );
    const isDead = ({ id, leaseMs }: ReplicaRow) =>
      askedAt - (known.get(id)?.since ?? now) >= leaseMs + LEASE_MARGIN_MS;
    const dead = replicas.filter(isDead);
    if (dead.length > 0) await register.remove(dead);
    const living = replicas.filter((replica) => !isDead(replica));
    const acknowledged = isDoubtful ? 0 : Math.min(head.seq, ...living.map(({ ackedSeq }) => ackedSeq));
    return { head, idOfSeq, acknowledged, longestLeaseMs };
  };
}
