import type { UpstreamRecord } from "../../../domain/access/key-record.ts";
import type { Logger } from "../../../runtime/log.ts";
import type { Store } from "../../../store/database/store.ts";
import { type NamedOutcome, recordOutcomes } from "../../../store/gateways/upstream-outcomes.ts";
import type { KeyIndexView } from "../../key-index/key-index-view.ts";
import { isSameUpstream } from "../resolve.ts";

/** Milliseconds between two writes of new outcomes. */
export const OUTCOMES_FLUSH_MS = 5_000;

type FlushDeps = {
  readonly store: Store;
  readonly log: Logger;
  readonly index: Pick<KeyIndexView, "findGateway" | "publicIdOf">;
};

type MutableOutcome = { -readonly [K in keyof NamedOutcome]: NamedOutcome[K] };

/**
 * Last outcomes of calls to each upstream on this thread, for people to look at: no call waits for them, and none is
 * decided by them. They cost a call three stores in memory.
 */
export class UpstreamOutcomes {
  readonly #now: () => number;
  /** Number of times that an upstream refused the credential that a gateway has for it. */
  credentialsRefused = 0;
  /** Number of times that a call was sent to the same upstream again, since that had failed. */
  retries = 0;
  /** Outcomes by the record that a call was resolved with, which never changes. */
  readonly #byRecord = new WeakMap<UpstreamRecord, MutableOutcome>();
  /** Outcomes that are not written yet, with the record of each. */
  #unwritten = new Map<MutableOutcome, UpstreamRecord>();

  /** @param now milliseconds since the epoch */
  constructor(now: () => number) {
    this.#now = now;
  }

  answered(gatewayId: string, upstream: UpstreamRecord, status: number): void {
    const outcome = this.#of(gatewayId, upstream);
    outcome.answeredAt = this.#now();
    outcome.status = status;
    if (status < 300) outcome.acceptedAt = outcome.answeredAt;
  }

  /** @param failure as it is shown to the caller: nothing of the error itself */
  failed(gatewayId: string, upstream: UpstreamRecord, failure: string): void {
    const outcome = this.#of(gatewayId, upstream);
    outcome.failedAt = this.#now();
    outcome.failure = failure;
  }

  /** Notes that the upstream does not take the credential that the gateway has for it. */
  refusedCredential(gatewayId: string, upstream: UpstreamRecord): void {
    this.credentialsRefused++;
    this.#of(gatewayId, upstream).refusedAt = this.#now();
  }

  #of(gatewayId: string, upstream: UpstreamRecord): MutableOutcome {
    let outcome = this.#byRecord.get(upstream);
    if (outcome === undefined || outcome.gatewayId !== gatewayId) {
      const heard = {
        answeredAt: null,
        status: null,
        failedAt: null,
        failure: null,
        acceptedAt: null,
        refusedAt: null,
      };
      outcome = { gatewayId, upstream: upstream.name, ...heard };
      this.#byRecord.set(upstream, outcome);
    }
    this.#unwritten.set(outcome, upstream);
    return outcome;
  }

  /**
   * Writes what is new of upstreams as they are served now: that a provider refused a credential says nothing of the
   * credential that has taken its place. Outcomes that cannot be written are left out: the next call reports them anew.
   */
  async flush({ store, log, index }: FlushDeps): Promise<void> {
    if (this.#unwritten.size === 0) return;
    const current = [...this.#unwritten].filter(([{ gatewayId }, upstream]) => isServed(index, gatewayId, upstream));
    // Two records of one upstream, before and after a change of its gateway: the later one is what is known.
    const latest = new Map(current.map(([one]) => [JSON.stringify([one.gatewayId, one.upstream]), one]));
    this.#unwritten = new Map();
    const outcomes = [...latest.values()];
    try {
      for (let from = 0; from < outcomes.length; from += store.backgroundRows) {
        await recordOutcomes(store.backgroundDb, outcomes.slice(from, from + store.backgroundRows));
      }
    } catch (error) {
      log.debug({ error }, "could not store the last outcomes of calls to upstreams");
    }
  }
}

function isServed(index: FlushDeps["index"], gatewayId: string, upstream: UpstreamRecord): boolean {
  const gateway = index.findGateway(index.publicIdOf(gatewayId) ?? "");
  return gateway?.upstreams.some((each) => each.name === upstream.name && isSameUpstream(each, upstream)) ?? false;
}
