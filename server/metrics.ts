import { Counter, Gauge, Histogram, Registry } from "@prometheus-io/client";

/** What the gauges read when they are scraped. */
export type IndexFigures = {
  readonly keys: number;
  /** What the tables of keys take. */
  readonly keyBytes: number;
  readonly gateways: number;
  /** Those whose credential none of this server's encryption keys opens. */
  readonly unreadableGateways: number;
  readonly seq: number;
  /** Seconds since the head was last asked for. */
  readonly age: number;
  /** How old that may be. Seconds. */
  readonly lease: number;
  readonly current: boolean;
  /** How full the database's queue of notifications is, from 0 to 1. */
  readonly notificationQueue: number;
};

export type ServerMetrics = {
  /** For the metrics of a product; each registers its own here. */
  readonly registry: Registry;
  /** Counts an answered request, which took so many milliseconds from its head to the end of its answer. */
  countRequest(operation: string, status: number, tookMs: number): void;
  /** Counts requests that a key was let through with: by its id, or with others where too many keys are in use. */
  countKeyRequests(keyId: string, count: number): void;
  /** Counts a refusal by its cause, which is not shown to the caller. */
  countRefusal(cause: string): void;
  /** Counts a look-up in the index: a malformed key must never cause one. */
  countLookUp(): void;
  /** Counts refusals dropped from the audit log. */
  countLostAudit(reason: LostAudit, count: number): void;
  /** Counts a webhook delivery attempt by its outcome. */
  countDelivery(outcome: DeliveryOutcome): void;
  /** Counts atoms by the outcome of an attempt to embed them. */
  countEmbedded(outcome: EmbeddedAtoms, atoms: number): void;
  /** Counts times that the database was found to have been rolled back. */
  countRollback(): void;
  /** Counts rounds of following the change feed that failed. */
  countFeedFailure(): void;
  /** Counts streams that were cut because their key had ended. */
  countCutStream(): void;
  observeIndex(read: () => IndexFigures): void;
};

/*
 * Rare counts that matter are exposed as 0 from the start: to Prometheus, a series that first appears as a 1 has not
 * increased.
 */
const DELIVERY_OUTCOMES = ["delivered", "retried", "failed"] as const;
const EMBEDDED_ATOMS = ["embedded", "refused", "failed"] as const;
const LOST_AUDIT = ["sampled", "limited", "unwritten"] as const;

/** The outcome of a delivery attempt: delivered, to be retried, or failed for good. */
export type DeliveryOutcome = (typeof DELIVERY_OUTCOMES)[number];

/** Embedded; refused by the upstream, to be tried alone and set aside; or failed as a whole, and to be tried again. */
export type EmbeddedAtoms = (typeof EMBEDDED_ATOMS)[number];

/** Why a refusal was dropped: beyond what the process keeps or the installation writes, or the write failed. */
export type LostAudit = (typeof LOST_AUDIT)[number];

/** Keys that have a time series of their own: beyond some thousands a Prometheus has more to do than it is worth. */
const NAMED_KEYS = 1_000;
/** The series of all others. No key has this id. */
const OTHER_KEYS = "other";

/** Seconds: from a read of the memory to a streamed answer of a model. */
const DURATION_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/**
 * Makes the server's metrics on a registry of their own. What is counted for each request is counted in plain maps and
 * read at the scrape: a labelled counter costs more than the decision itself.
 */
export function createMetrics(): ServerMetrics {
  const registry = new Registry();
  const requests = new Map<string, Answered>();
  const refusals = new Map<string, number>();
  const keyRequests = new Map<string, number>();
  const lostAudit = new Map<LostAudit, number>(LOST_AUDIT.map((reason) => [reason, 0]));
  const deliveries = new Map<DeliveryOutcome, number>(DELIVERY_OUTCOMES.map((outcome) => [outcome, 0]));
  const embedded = new Map<EmbeddedAtoms, number>(EMBEDDED_ATOMS.map((outcome) => [outcome, 0]));
  let lookUps = 0;
  const registers = [registry];

  const counted: readonly Counted[] = [
    {
      name: "keyplane_requests_total",
      help: "Answered requests by operation and status",
      labelNames: ["operation", "status"],
      read: () =>
        [...requests].flatMap(([operation, { byStatus }]) =>
          [...byStatus].map(([status, count]) => [{ operation, status }, count] as const),
        ),
    },
    {
      name: "keyplane_refusals_total",
      help: "Refused requests by cause",
      labelNames: ["cause"],
      read: () => [...refusals].map(([cause, count]) => [{ cause }, count]),
    },
    {
      name: "keyplane_key_requests_total",
      help: `Requests let through, by key id; of the keys beyond the first ${NAMED_KEYS} that were used, under "${OTHER_KEYS}"`,
      labelNames: ["key_id"],
      read: () => [...keyRequests].map(([key_id, count]) => [{ key_id }, count]),
    },
    {
      name: "keyplane_key_lookups_total",
      help: "Look-ups in the key index",
      labelNames: [],
      read: () => [[{}, lookUps]],
    },
    {
      name: "keyplane_webhook_deliveries_total",
      help: "Tries to tell a webhook, by what came of them; one that is retried is counted with each",
      labelNames: ["outcome"],
      read: () => [...deliveries].map(([outcome, count]) => [{ outcome }, count]),
    },
    {
      name: "keyplane_embedded_atoms_total",
      help: "Atoms by what came of a try to embed them; one that is tried again is counted with each",
      labelNames: ["outcome"],
      read: () => [...embedded].map(([outcome, count]) => [{ outcome }, count]),
    },
    {
      name: "keyplane_audit_events_lost_total",
      help: "Refusals that the audit log does not have",
      labelNames: ["reason"],
      read: () => [...lostAudit].map(([reason, count]) => [{ reason }, count]),
    },
  ];
  for (const counter of counted) registerCounted(registers, counter);
  const durations = new Histogram({
    name: "keyplane_request_duration_seconds",
    help: "How long a request took from its head to the end of its answer, a stream's included",
    labelNames: ["operation"],
    buckets: DURATION_BUCKETS,
    registers,
  });
  const feedFailures = new Counter({
    name: "keyplane_index_feed_failures_total",
    help: "Rounds of following the change feed that failed, since the database did not answer or refused",
    registers,
  });
  const rollbacks = new Counter({
    name: "keyplane_index_database_rollbacks_total",
    help: "Times that the change last applied was no longer the one that the database has under its number",
    registers,
  });
  const cutStreams = new Counter({
    name: "keyplane_streams_cut_total",
    help: "Open streams that were cut because their key stopped being usable",
    registers,
  });

  return {
    registry,
    countRequest(operation, status, tookMs) {
      let answered = requests.get(operation);
      if (answered === undefined) {
        answered = { byStatus: new Map(), durations: durations.labels(operation) };
        requests.set(operation, answered);
      }
      answered.byStatus.set(status, (answered.byStatus.get(status) ?? 0) + 1);
      answered.durations.observe(tookMs / 1_000);
    },
    countKeyRequests(keyId, count) {
      const name = keyRequests.has(keyId) || keyRequests.size < NAMED_KEYS ? keyId : OTHER_KEYS;
      keyRequests.set(name, (keyRequests.get(name) ?? 0) + count);
    },
    countRefusal(cause) {
      refusals.set(cause, (refusals.get(cause) ?? 0) + 1);
    },
    countLookUp() {
      lookUps++;
    },
    countLostAudit(reason, count) {
      lostAudit.set(reason, (lostAudit.get(reason) ?? 0) + count);
    },
    countDelivery(outcome) {
      deliveries.set(outcome, (deliveries.get(outcome) ?? 0) + 1);
    },
    countEmbedded(outcome, atoms) {
      embedded.set(outcome, (embedded.get(outcome) ?? 0) + atoms);
    },
    countFeedFailure: () => feedFailures.inc(),
    countRollback: () => rollbacks.inc(),
    countCutStream: () => cutStreams.inc(),
    observeIndex(read) {
      for (const { name, help, value } of INDEX_GAUGES) {
        new Gauge({
          name,
          help,
          registers,
          collect() {
            this.set(value(read()));
          },
        });
      }
    },
  };
}

/** What is known of an operation's answers. */
type Answered = {
  readonly byStatus: Map<number, number>;
  readonly durations: { observe(seconds: number): void };
};

/** What is counted in plain maps, and read when it is scraped. */
type Counted = {
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly string[];
  /** Each series by its labels. */
  read(): readonly (readonly [Readonly<Record<string, string | number>>, number])[];
};

function registerCounted(registers: Registry[], { name, help, labelNames, read }: Counted): void {
  new Counter({
    name,
    help,
    labelNames: [...labelNames],
    registers,
    collect() {
      this.reset();
      for (const [labels, count] of read()) this.inc(labels, count);
    },
  });
}

const INDEX_GAUGES: readonly { name: string; help: string; value: (figures: IndexFigures) => number }[] = [
  { name: "keyplane_index_keys", help: "Key versions in the index", value: ({ keys }) => keys },
  {
    name: "keyplane_index_key_bytes",
    help: "Bytes that the tables of key versions take",
    value: ({ keyBytes }) => keyBytes,
  },
  { name: "keyplane_index_gateways", help: "Gateways in the index", value: ({ gateways }) => gateways },
  {
    name: "keyplane_index_unreadable_gateways",
    help: "Gateways whose credential none of this server's encryption keys opens",
    value: ({ unreadableGateways }) => unreadableGateways,
  },
  { name: "keyplane_index_seq", help: "The last change applied", value: ({ seq }) => seq },
  { name: "keyplane_index_age_seconds", help: "Seconds since the head was last asked for", value: ({ age }) => age },
  {
    name: "keyplane_index_lease_seconds",
    help: "Age of the index at which the replica answers 503: its lease",
    value: ({ lease }) => lease,
  },
  {
    name: "keyplane_index_current",
    help: "1 while the replica may decide, 0 while it answers 503",
    value: ({ current }) => (current ? 1 : 0),
  },
  {
    name: "keyplane_database_notification_queue_ratio",
    help: "How full the database's queue of notifications is; from a half on changes are seen a beat late",
    value: ({ notificationQueue }) => notificationQueue,
  },
];
