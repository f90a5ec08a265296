import { LEASE_MARGIN_MS } from "../../domain/protocol.ts";
import { watchReplicas } from "./replica-watch.ts";
import type { FeedPosition, ReplicaRegister } from "./replicas.ts";

/**
 * Progress of confirmation. A change is confirmed when every replica decides by it, or refuses everything (architecture
 * §3).
 */
type Confirmed = {
  /** Seq up to which every change is confirmed. */
  readonly seq: number;
  /** Head of the feed at the time of the query. */
  readonly head: number;
  /**
   * Number that increases whenever the database is found to have been rolled back: earlier seqs are meaningless then.
   */
  readonly history: number;
};

/** Head that was seen, and the monotonic time at which the leases of all replicas that may lack it are over. */
type Sample = { readonly head: number; readonly ripeAt: number };

/**
 * Makes a function that returns up to which seq the changes are confirmed. A change is confirmed by acknowledgement,
 * once every registered replica has it. Or it is confirmed by time: a replica that asked for the head before the change
 * could be seen serves for its lease and no longer. So one lease after the change was seen here, no replica serves
 * without it, whenever its commit began. This process knows only what it has seen itself, on its monotonic clock: a
 * caller that waits has to ask now and then.
 *
 * @param monotonic milliseconds on a clock that never jumps
 * @returns function that may have only one call in progress
 */
export function createConfirmer(register: ReplicaRegister, monotonic: () => number): () => Promise<Confirmed> {
  const readAcknowledgements = watchReplicas(register, monotonic);
  let last: FeedPosition | undefined;
  /** Samples, oldest first, each with a higher head than the one before. */
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
