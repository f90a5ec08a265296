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

/** The head as it was seen once, and when, on the monotonic clock, the leases of all who may not have it are over. */
type Sample = { readonly head: number; readonly ripeAt: number };

/**
 * Makes a question: how far are the changes confirmed? By acknowledgement, once every registered replica has one. Or by
 * time: a replica that asked for the head before a change could be seen serves for its lease, so that a lease after it
 * was seen here, whenever its commit began, none serves without it. What was seen is this process's own knowledge, on
 * its monotonic clock; ask now and then while somebody waits.
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
