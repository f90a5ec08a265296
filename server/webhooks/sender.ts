import { randomUUID } from "node:crypto";
import { rfc3339Millis } from "../../domain/rfc3339.ts";
import type { Logger } from "../../runtime/log.ts";
import { createIdleCheck } from "../../runtime/polling.ts";
import type { Store } from "../../store/database/store.ts";
import {
  addToDelivery,
  type ClaimedDelivery,
  claimDeliveries,
  releaseDeliveries,
  settleDelivery,
} from "../../store/webhooks/claims.ts";
import type { Receipts } from "../management/keys/shown/receipt.ts";
import { type Delivering, deliver } from "./deliver.ts";
import type { CountDelivery } from "./metrics.ts";
import { freeTries, SlowWebhooks } from "./slow-webhooks.ts";

type Sender = Delivering & {
  readonly store: Store;
  readonly receipts: Pick<Receipts, "read">;
  readonly log: Logger;
  readonly count: CountDelivery;
};

const POLL_MS = 1_000;
/**
 * Maximum numbers of attempts under way in a process: a receiver that never answers holds up at most its own team, and
 * slow receivers of however many teams leave capacity for the others (threats b341).
 */
const MAX_UNDER_WAY = { all: 16, team: 4, webhook: 2 };
/**
 * Milliseconds after which a revocation is delivered with an unconfirmed receipt, because a replica does not
 * acknowledge.
 */
const RECEIPT_PATIENCE_MS = 60_000;

/**
 * Notifies teams of what happened to their keys: claims due deliveries, some at a time, and attempts them. A delivery
 * that this process does not finish is retried by another process, under the same id.
 *
 * @returns ends it: deliveries under way are aborted, and released
 */
export function startWebhooks(sender: Sender, pollMs = POLL_MS): { close(): Promise<void> } {
  const { store, log, count } = sender;
  const underWay = new Map<ClaimedDelivery, { readonly since: number; readonly ended: Promise<void> }>();
  const slowWebhooks = new SlowWebhooks();
  const ending = new AbortController();
  let polling: Promise<void> | undefined;
  let isWanted = false;

  function poll(): void {
    isWanted = true;
    polling ??= pollWhileWanted().finally(() => {
      polling = undefined;
    });
  }

  async function pollWhileWanted(): Promise<void> {
    while (isWanted && !ending.signal.aborted) {
      isWanted = false;
      try {
        while (await claimSome());
      } catch (error) {
        log.warn({ error }, "could not claim webhook deliveries; it is tried again");
      }
    }
  }

  /** Claims due deliveries and begins their attempts. @returns true if there may be more */
  async function claimSome(): Promise<boolean> {
    const begun = [...underWay].map(([{ webhookId }, { since }]) => ({ webhookId, since }));
    const slow = slowWebhooks.at(performance.now(), begun);
    if (slow.size === 0) return claim(MAX_UNDER_WAY.all);
    const slowUnderWay = begun.filter(({ webhookId }) => slow.has(webhookId)).length;
    const free = freeTries(MAX_UNDER_WAY.all, underWay.size, slowUnderWay);
    const isAnyQuick = await claim(free.quick, slow);
    return (await claim(free.any)) || isAnyQuick;
  }

  /**
   * Claims due deliveries and begins their attempts.
   *
   * @param most maximum number of deliveries, further limited by the free capacity
   * @param but ids of webhooks to leave out
   */
  async function claim(most: number, but: Iterable<string> = []): Promise<boolean> {
    const limit = Math.min(most, MAX_UNDER_WAY.all - underWay.size);
    if (limit <= 0 || ending.signal.aborted) return false;
    const full = [...underWayBy(({ webhookId }) => webhookId)].filter(([, count]) => count >= MAX_UNDER_WAY.webhook);
    const claimed = await claimDeliveries(store, randomUUID(), {
      limit,
      ofTeam: MAX_UNDER_WAY.team,
      underWay: underWayBy(({ teamId }) => teamId),
      fullWebhooks: [...but, ...full.map(([id]) => id)],
    });
    for (const delivery of await withReceipts(sender, claimed)) {
      const since = performance.now();
      underWay.set(delivery, { since, ended: attempt(delivery, since) });
    }
    return claimed.length > 0;
  }

  function underWayBy(idOf: (delivery: ClaimedDelivery) => string): Map<string, number> {
    const counts = new Map<string, number>();
    for (const delivery of underWay.keys()) counts.set(idOf(delivery), (counts.get(idOf(delivery)) ?? 0) + 1);
    return counts;
  }

  async function attempt(delivery: ClaimedDelivery, since: number): Promise<void> {
    try {
      const settlement = await deliver(sender, delivery, ending.signal);
      slowWebhooks.end({ webhookId: delivery.webhookId, since }, performance.now());
      if (ending.signal.aborted && settlement.state !== "delivered")
        return await releaseDeliveries(store, [delivery], () => 0);
      await settleDelivery(store, delivery, settlement);
      count(settlement.state === "pending" ? "retried" : settlement.state);
    } catch (error) {
      log.warn(
        { error, teamId: delivery.teamId },
        "could not store the outcome of a webhook delivery; it is sent again",
      );
    } finally {
      underWay.delete(delivery);
      poll();
    }
  }

  const isIdle = createIdleCheck(store.writes);
  const timer = setInterval(() => isIdle() || poll(), pollMs);
  timer.unref();
  return {
    async close() {
      ending.abort();
      clearInterval(timer);
      await polling;
      await Promise.all([...underWay.values()].map(({ ended }) => ended));
    },
  };
}

/**
 * Returns the deliveries that can be sent now. A revocation waits until its receipt is confirmed, or for {@link
 * RECEIPT_PATIENCE_MS}.
 */
async function withReceipts(
  { store, receipts }: Sender,
  claimed: readonly ClaimedDelivery[],
): Promise<ClaimedDelivery[]> {
  const lacks = ({ event, data }: ClaimedDelivery) => event === "key.revoked" && data.receipt === undefined;
  if (!claimed.some(lacks)) return [...claimed];
  const receiptOf = await receipts.read();
  const ready: ClaimedDelivery[] = [];
  const waiting: ClaimedDelivery[] = [];
  for (const delivery of claimed) {
    const { id, at, now, revokedSeq, data } = delivery;
    const receipt = lacks(delivery) ? receiptOf(revokedSeq) : undefined;
    if (receipt === undefined) ready.push(delivery);
    else if (!receipt.confirmed && now - at < RECEIPT_PATIENCE_MS) waiting.push(delivery);
    else {
      const more = { receipt: { ...receipt, ...(receipt.confirmed && { confirmedAt: rfc3339Millis(now) }) } };
      await addToDelivery(store, id, more);
      ready.push({ ...delivery, data: { ...data, ...more } });
    }
  }
  await releaseDeliveries(store, waiting, pauseForReceipt);
  return ready;
}

/**
 * Returns how long a delivery that waits for its receipt is not claimed again: half as long as it has waited. If a
 * replica is stuck, thousands may wait, and each claim writes its row twice.
 *
 * @returns milliseconds
 */
function pauseForReceipt({ at, now }: ClaimedDelivery): number {
  const waited = now - at;
  return Math.max(POLL_MS, Math.min(waited / 2, RECEIPT_PATIENCE_MS - waited));
}
