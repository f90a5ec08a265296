import { LEASE_MARGIN_MS } from "../../domain/protocol.ts";
import type { FeedPosition, ReplicaRegister, ReplicaRow } from "./replicas.ts";

type Acknowledgements = {
  readonly head: FeedPosition;
  /**
   * What every registered replica has applied; the head when there is none. 0 as long as a replica may still serve
   * whose registration the database has lost.
   */
  readonly acknowledged: number;
  /** The id that the change `seq` has now, for whoever remembers it; null where the feed has none. */
  readonly idOfSeq: string | null;
};

/**
 * Makes a question: how far have the replicas come? It takes out those that have died, and leaves them out: the ones
 * that gave no sign of life for a lease and a margin. That is this process's own observation, on its monotonic clock:
 * by the database's clock every replica would be dead at the moment at which somebody sets it (threats c39).
 *
 * Where another database answers than before, what replicas told the former one may be lost: that they live, and that
 * they are there at all. Who lives is observed anew then, and until the leases from before are over nothing is taken
 * for acknowledged by all (threats c26). A process that has begun since does not know of the former one.
 *
 * @param leaseMs how long a replica may serve without proof that its view is current
 * @param monotonic milliseconds on a clock that never jumps
 */
export function watchReplicas(
  register: ReplicaRegister,
  leaseMs: number,
  monotonic: () => number,
): (seq: number) => Promise<Acknowledgements> {
  /** The last sign of life of each replica, and when an answer first had it. */
  let known = new Map<string, { readonly seenAt: string; readonly since: number }>();
  let answering: string | undefined;
  /** When an answer was first another database's than the one before. */
  let replacedAt = Number.NEGATIVE_INFINITY;

  return async (seq) => {
    const askedAt = monotonic();
    const { incarnation, head, idOfSeq, replicas } = await register.read(seq);
    const now = monotonic();
    const isAnother = answering !== undefined && incarnation !== answering;
    if (isAnother) replacedAt = now;
    answering = incarnation;
    const before: typeof known = isAnother ? new Map() : known;
    known = new Map(
      replicas.map(({ id, seenAt }) => {
        const last = before.get(id);
        return [id, last?.seenAt === seenAt ? last : { seenAt, since: now }];
      }),
    );
    const isPast = (moment: number) => askedAt - moment >= leaseMs + LEASE_MARGIN_MS;
    const isDead = ({ id }: ReplicaRow) => isPast(known.get(id)?.since ?? now);
    const dead = replicas.filter(isDead);
    if (dead.length > 0) await register.remove(dead);
    const living = replicas.filter((replica) => !isDead(replica));
    const acknowledged = isPast(replacedAt) ? Math.min(head.seq, ...living.map(({ ackedSeq }) => ackedSeq)) : 0;
    return { head, idOfSeq, acknowledged };
  };
}
