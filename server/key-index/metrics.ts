import { Counter, Gauge, type Registry } from "@prometheus-io/client";
import { registerCounted } from "../context/counted-metric.ts";

/** Values that the gauges read when they are scraped. */
export type IndexFigures = {
  readonly keys: number;
  /** Bytes that the tables of keys take. */
  readonly keyBytes: number;
  readonly gateways: number;
  /** Number of gateways whose credential none of this server's encryption keys opens. */
  readonly unreadableGateways: number;
  readonly seq: number;
  /** Seconds since the index last asked the database for changes. */
  readonly age: number;
  /** Seconds that this age may reach. */
  readonly lease: number;
  readonly current: boolean;
  /** Share of the database's queue of notifications that is full, from 0 to 1. */
  readonly notificationQueue: number;
};

export type IndexMetrics = {
  /** Counts requests that a key was let through with: by its id, or with others if too many keys are in use. */
  countKeyRequests(keyId: string, count: number): void;
  /** Counts times that the database was found to have been rolled back. */
  countRollback(): void;
  /** Counts rounds of following the change feed that failed. */
  countFeedFailure(): void;
};

/** Keys that have a time series of their own: beyond some thousands a Prometheus has more to do than it is worth. */
const NAMED_KEYS = 1_000;
/** The series of all others. No key has this id. */
const OTHER_KEYS = "other";

/** Registers the metrics of the use of keys, and of following the change feed. */
export function indexMetrics(registry: Registry): IndexMetrics {
  const keyRequests = new Map<string, number>();
  const registers = [registry];
  registerCounted(registry, {
    name: "keyplane_key_requests_total",
    help: `Requests let through, by key id; of the keys beyond the first ${NAMED_KEYS} that were used, under "${OTHER_KEYS}"`,
    labelNames: ["key_id"],
    read: () => [...keyRequests].map(([key_id, count]) => [{ key_id }, count]),
  });
  const feedFailures = new Counter({
    name: "keyplane_index_feed_failures_total",
    help: "Failed reads of the change feed: the database did not answer, or refused",
    registers,
  });
  const rollbacks = new Counter({
    name: "keyplane_index_database_rollbacks_total",
    help: "Times that the database was found rolled back, without the last applied change",
    registers,
  });
  return {
    countKeyRequests(keyId, count) {
      const name = keyRequests.has(keyId) || keyRequests.size < NAMED_KEYS ? keyId : OTHER_KEYS;
      keyRequests.set(name, (keyRequests.get(name) ?? 0) + count);
    },
    countFeedFailure: () => feedFailures.inc(),
    countRollback: () => rollbacks.inc(),
  };
}

/** Exports the state of the index, which one thread of the process keeps. */
export function observeIndex(registry: Registry, read: () => IndexFigures): void {
  for (const { name, help, value } of INDEX_GAUGES) {
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        this.set(value(read()));
      },
    });
  }
}

const INDEX_GAUGES: readonly { name: string; help: string; value: (figures: IndexFigures) => number }[] = [
  { name: "keyplane_index_keys", help: "Key versions in the index", value: ({ keys }) => keys },
  {
    name: "keyplane_index_key_bytes",
    help: "Bytes of the tables of key versions",
    value: ({ keyBytes }) => keyBytes,
  },
  { name: "keyplane_index_gateways", help: "Gateways in the index", value: ({ gateways }) => gateways },
  {
    name: "keyplane_index_unreadable_gateways",
    help: "Gateways whose credential no encryption key of this server decrypts",
    value: ({ unreadableGateways }) => unreadableGateways,
  },
  { name: "keyplane_index_seq", help: "The last change applied", value: ({ seq }) => seq },
  {
    name: "keyplane_index_age_seconds",
    help: "Seconds since the index last asked the database for changes",
    value: ({ age }) => age,
  },
  {
    name: "keyplane_index_lease_seconds",
    help: "Age of the index at which the replica answers 503: its lease",
    value: ({ lease }) => lease,
  },
  {
    name: "keyplane_index_current",
    help: "1 while the replica accepts keys, 0 while it answers 503",
    value: ({ current }) => (current ? 1 : 0),
  },
  {
    name: "keyplane_database_notification_queue_ratio",
    help: "How full the database's notification queue is; from 0.5, changes arrive late",
    value: ({ notificationQueue }) => notificationQueue,
  },
];
