import { LEASE_MARGIN_MS } from "../../domain/protocol.ts";
import { watchReplicas } from "./replica-watch.ts";
import type { FeedPosition, ReplicaRegister } from "./replicas.ts";

/** How far the changes are confirmed: every replica decides by them, or refuses everything (architecture §3). */
type Confirmed = {
  /** Every change up to here is confirmed. */
  readonly seq: number;
  /** The feed's head when it was asked for. */
  readonly head: number;
  /**
   * Another number each time that the database is found to have been rolled back: seqs from before mean nothing now.
   */
  readonly history: number;
};

/** A head that was seen, and when, on the monotonic clock, the leases of all replicas that may lack it are over. */
type Sample = { readonly head: number; readonly ripeAt: number };

/**
 * Makes a question: how far are the changes confirmed? A change is confirmed by acknowledgement, once every registered
 * replica has it. Or it is confirmed by time: a replica that asked for the head before the change could be seen serves
 * for its lease and no longer. So one lease after the change was seen here, no replica serves without it, whenever its
 * commit began. What was seen is this process's own knowledge, on its monotonic clock: a caller that waits asks now and
 * then.
 *
 * @param monotonic milliseconds on a clock that never jumps
 * @returns to be asked once at a time
 */
export function createConfirmer(register: ReplicaRegister, monotonic: () => number): () => Promise<Confirmed> {
  const readAcknowledgements = watchReplicas(register, monotonic);
  let last: FeedPosition | undefined;
  /** Oldest first, each with a higher head than the one before. */
  let samples: Sample[] = [];
  let seq = 0;
  let history = 0;

  return async () => {
    const { head, acknowledged, idOfSeq, longestLeaseMs } = await readAcknowledgements(last?.seq ?? 0);
    const now = monotonic();
    if (last !== undefined && (head.seq < last.seq || idOfSeq !== last.id)) {
      samples = [];
      seq = 0;
      history++;
    }
    last = head;
    if (head.seq > (samples.at(-1)?.head ?? -1)) {
      samples.push({ head: head.seq, ripeAt: now + longestLeaseMs + LEASE_MARGIN_MS });
    }
    const ripe = samples.findLastIndex(({ ripeAt }) => ripeAt <= now);
    seq = Math.max(seq, acknowledged, samples[ripe]?.head ?? 0);
    samples = samples.slice(Math.max(ripe, 0));
    return { seq, head: head.seq, history };
  };
}
