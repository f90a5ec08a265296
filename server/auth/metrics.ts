import type { Registry } from "@prometheus-io/client";
import { registerCounted } from "../context/counted-metric.ts";

/**
 * Reasons that are exposed as 0 from the start: to Prometheus, a series that first appears as a 1 has not increased.
 */
const LOST_AUDIT = ["sampled", "limited", "unwritten"] as const;

/** Reason why a refusal was dropped: beyond what the process keeps or the installation writes, or the write failed. */
export type LostAudit = (typeof LOST_AUDIT)[number];

export type AuthMetrics = {
  /** Counts a refusal by its cause, which is not shown to the caller. */
  countRefusal(cause: string): void;
  /** Counts a look-up in the index: a malformed key must never cause one. */
  countLookUp(): void;
  /** Counts refusals dropped from the audit log. */
  countLostAudit(reason: LostAudit, count: number): void;
};

/** Registers the metrics of decisions and of refusals. */
export function authMetrics(registry: Registry): AuthMetrics {
  const refusals = new Map<string, number>();
  const lostAudit = new Map<LostAudit, number>(LOST_AUDIT.map((reason) => [reason, 0]));
  let lookUps = 0;
  registerCounted(registry, {
    name: "keyplane_refusals_total",
    help: "Refused requests by cause",
    labelNames: ["cause"],
    read: () => [...refusals].map(([cause, count]) => [{ cause }, count]),
  });
  registerCounted(registry, {
    name: "keyplane_key_lookups_total",
    help: "Look-ups in the key index",
    labelNames: [],
    read: () => [[{}, lookUps]],
  });
  registerCounted(registry, {
    name: "keyplane_audit_events_lost_total",
    help: "Refusals dropped from the audit log",
    labelNames: ["reason"],
    read: () => [...lostAudit].map(([reason, count]) => [{ reason }, count]),
  });
  return {
    countRefusal(cause) {
      refusals.set(cause, (refusals.get(cause) ?? 0) + 1);
    },
    countLookUp() {
      lookUps++;
    },
    countLostAudit(reason, count) {
      lostAudit.set(reason, (lostAudit.get(reason) ?? 0) + count);
    },
  };
}
