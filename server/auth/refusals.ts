import { appendAudit } from "../../store/audit.ts";
import type { Store } from "../../store/open.ts";
import type { RefusalEvent, RefusalRecorder } from "../deps.ts";
import type { Logger } from "../log.ts";
import type { ServerMetrics } from "../metrics.ts";

/** How often refusals are written to the audit log. */
export const AUDIT_FLUSH_MS = 1_000;
/** Refusals of one cause that are kept between two writes: a flood of one kind must not hide the others. */
const SAMPLE = 20;

/**
 * Samples refusals for the audit log, off the request's path. What is beyond the sample is dropped and so is a batch
 * that cannot be written: both are counted, and requests are decided all the same (threats c44).
 */
export class RefusalSampler implements RefusalRecorder {
  readonly #store: Store;
  readonly #metrics: ServerMetrics;
  readonly #log: Logger;
  readonly #replica: string;
  #batches = new Map<string, RefusalEvent[]>();
  #flushing: Promise<void> | undefined;

  constructor(store: Store, metrics: ServerMetrics, log: Logger, replica: string) {
    this.#store = store;
    this.#metrics = metrics;
    this.#log = log;
    this.#replica = replica;
  }

  record(refusal: RefusalEvent): void {
    const batch = this.#batches.get(refusal.cause);
    if (batch === undefined) this.#batches.set(refusal.cause, [refusal]);
    else if (batch.length < SAMPLE) batch.push(refusal);
    else this.#metrics.countLostAudit("sampled", 1);
  }

  /** Writes what was kept. */
  flush(): Promise<void> {
    this.#flushing ??= this.#write().finally(() => {
      this.#flushing = undefined;
    });
    return this.#flushing;
  }

  async #write(): Promise<void> {
    const refusals = [...this.#batches.values()].flat();
    if (refusals.length === 0) return;
    this.#batches = new Map();
    try {
      await appendAudit(
        this.#store.db,
        refusals.map(({ at, cause, code, route, seq, keyId, teamId }) => ({
          at,
          kind: "request.refused",
          keyId,
          teamId,
          by: { actor: `replica:${this.#replica}` },
          detail: { decision: code, reason: cause, route: route ?? null, seq, replica: this.#replica },
        })),
      );
    } catch (error) {
      this.#metrics.countLostAudit("unwritten", refusals.length);
      this.#log.warn({ error, count: refusals.length }, "could not write refusals to the audit log; they are dropped");
    }
  }
}
