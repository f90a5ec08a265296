import type { KeyRecord } from "../../domain/access/key-record.ts";
import { LEASE_MS, LEASE_RANGE_MS } from "../../domain/protocol.ts";
import type { Clock } from "../../runtime/clock.ts";
import { answerWithin, firstAnswer, pause } from "../../runtime/deadline.ts";
import type { FeedPosition } from "../../store/replicas/replicas.ts";
import type { StreamRegistry } from "../calls/open-streams.ts";
import { ChangeListener } from "./change-listener.ts";
import { createRemover } from "./dead-replicas.ts";
import type { Feed } from "./feed.ts";
import { FeedReader, SNAPSHOT_MS } from "./feed-reader.ts";
import type { VersionUse } from "./key-index.ts";
import type { KeyIndexView } from "./key-index-view.ts";
import { Lease } from "./lease.ts";
import type { IndexFigures, IndexMetrics } from "./metrics.ts";
import { ServedState, type ServedStateDeps } from "./served-state.ts";
import { type SharedCells, sharedCells } from "./shared-cells.ts";
import { REVALIDATION_INTERVAL_MS, revalidateStreams } from "./stream-revalidation.ts";

/** Times in a lease that the head is asked for when nothing hints at a change. */
const BEATS_PER_LEASE = 5;
/**
 * Milliseconds until the next beat if something was applied that is not acknowledged: under a flood, one beat for many
 * changes.
 */
const ACKNOWLEDGE_MS = 25;
/**
 * Milliseconds between two reads that follow hints, which grow with the number of replicas. In a flood, a read returns
 * many changes, which costs little more than one, and all replicas together read about a thousand times a second.
 */
const SPACING_MS = 10;
const SPACING_PER_REPLICA_MS = 1;
const MAX_SPACING_MS = 250;
/** Share of a lease after which a question for the head that has had no answer is given up. */
const ANSWER_SHARE = 0.4;
/** Milliseconds after which a question to be registered, or deregistered, is given up. */
const ANSWER_MS = 2_000;
/** Milliseconds after which the head is asked for again, by another connection, if there is no answer. */
const AGAIN_MS = 500;
/** Milliseconds that an answer to a read after a hint may take. If it fails, a beat asks for the head at once. */
const HINTED_MS = 1_000;
/** Milliseconds until the next beat after a beat that failed, for as long as the lease may still be saved. */
const RETRY_MS = 250;
/**
 * Milliseconds between two rounds at most, however far away the next beat is: in each, a lease that has ended, also by
 * a clock that was set, is asked for anew, and the connection that listens is looked after.
 */
const ROUND_MS = 1_000;
/** Share of the queue from which on the schema's record_change() notifies of no change, and an operator has to look. */
const FULL_QUEUE = 0.5;

type ReplicaDeps = ServedStateDeps & {
  /** Name of this process among the replicas; never used twice. */
  readonly id: string;
  readonly feed: Feed;
  /** Milliseconds that it decides without having asked for the head. */
  readonly leaseMs: number;
  readonly clock: Clock;
  readonly metrics: IndexMetrics;
  readonly streams: StreamRegistry;
  /** Memory that other threads of this server read; with `broadcast`, if there are any. */
  readonly cells?: SharedCells;
};

/**
 * Keeps this process's index at the head of the change feed (architecture §3): registers, listens, takes a snapshot,
 * then applies what comes after it. Every beat asks for the head and applies what was missed before the lease is
 * renewed, so that a notification is a hint and nothing more. Whatever fails, the lease runs out, and the next beat
 * tries again.
 *
 * A lease that is longer than the usual one begins when the registration that announces it is a minute old. Until then
 * a process that waits for confirmations may not have seen it, and a failover may lose it: such a process takes no
 * lease to be longer than the usual one.
 */
export class Replica {
  readonly #deps: ReplicaDeps;
  readonly #lease: Lease;
  readonly #cells: SharedCells;
  readonly #state: ServedState;
  readonly #reader: FeedReader;
  readonly #listener: ChangeListener;
  readonly #removeTheDead: ReturnType<typeof createRemover>;
  #registered = false;
  #registeredAt = Number.NEGATIVE_INFINITY;
  #databaseTimeAtBeat: number | undefined;
  #notificationQueue = 0;
  /** True if something may have changed since the changes were last read. */
  #hinted = false;
  /** Milliseconds from the last read of the changes until they are read for a hint. */
  #spacing = SPACING_MS;
  #readAt = Number.NEGATIVE_INFINITY;
  #beatAt = Number.NEGATIVE_INFINITY;
  /** Milliseconds from one beat to the next. */
  #pace = 0;
  #wake = Promise.withResolvers<void>();
  /**
   * State that was last reported: that the index follows the database, that it does not, or that requests are refused.
   */
  #reported: "follows" | "lags" | "refuses" = "follows";
  #stopped = false;
  #running: Promise<void> | undefined;
  #revalidation: NodeJS.Timeout | undefined;

  /** Name of this process among the replicas. */
  readonly id: string;

  constructor(deps: ReplicaDeps) {
    this.#deps = deps;
    this.id = deps.id;
    this.#cells = deps.cells ?? sharedCells();
    this.#lease = Lease.begin(deps.clock, this.#cells.lease);
    this.#state = new ServedState(deps, this.#lease, this.#cells);
    const { feed, log, metrics } = deps;
    const onApplied = () => this.#revalidateStreams();
    this.#reader = new FeedReader({ feed, log, metrics, state: this.#state, cells: this.#cells, onApplied });
    this.#removeTheDead = createRemover(deps.feed.replicas, deps.clock.monotonic);
    this.#listener = new ChangeListener(deps, () => {
      this.#hinted = true;
      this.#wake.resolve();
    });
  }

  /** Index that decisions read. */
  get view(): KeyIndexView {
    return this.#state;
  }

  /** Returns the milliseconds since the epoch by the database's clock, which expiry is decided by. */
  now(): number {
    return this.#lease.now();
  }

  /** Returns the database's time at the last beat, in milliseconds since the epoch; undefined before the first one. */
  databaseTimeAtBeat(): number | undefined {
    return this.#databaseTimeAtBeat;
  }

  /** Notes the use of a key: one store in memory. */
  noteUse(key: KeyRecord, at: number): void {
    this.#state.noteUse(key, at);
  }

  /** Takes all uses that were noted since the last time, and counts them. */
  drainUses(): VersionUse[] {
    const uses = this.#state.drainUses(this.now());
    for (const { keyId, requests } of uses) this.#deps.metrics.countKeyRequests(keyId, requests);
    return uses;
  }

  figures(): IndexFigures {
    return {
      keys: this.#state.keyCount,
      keyBytes: this.#state.keyBytes,
      gateways: this.#state.gatewayCount,
      unreadableGateways: this.#state.unreadableGateways,
      seq: this.#state.lastSeq(),
      age: this.#lease.age() / 1_000,
      lease: this.#leaseMs() / 1_000,
      current: this.#lease.holds(),
      notificationQueue: this.#notificationQueue,
    };
  }

  /** Begins to follow the feed, and goes on until {@link close}. */
  start(): void {
    this.#revalidation = setInterval(() => this.#revalidateStreams(), REVALIDATION_INTERVAL_MS);
    this.#running = this.#run();
  }

  /**
   * Stops. Nothing is decided from here on.
   *
   * @param isWritten true if what was noted of keys is in the database: then this replica is deregistered, so that no
   *   change waits for it. Else its row goes with its lease, as that of a replica that died
   */
  async close(isWritten = true): Promise<void> {
    this.#stopped = true;
    clearInterval(this.#revalidation);
    this.#wake.resolve();
    await this.#running;
    this.#lease.end();
    await this.#listener.close();
    if (!isWritten) return;
    const { feed, id } = this.#deps;
    await answerWithin(ANSWER_MS, feed.deregister(id)).catch(() => {
      // Its row goes with its lease.
    });
  }

  async #run(): Promise<void> {
    const { clock } = this.#deps;
    while (!this.#stopped) {
      this.#wake = Promise.withResolvers<void>();
      try {
        await this.#round();
        this.#reportSuccess();
      } catch (error) {
        this.#deps.metrics.countFeedFailure();
        this.#reportFailure(error);
        this.#beatAt = clock.monotonic();
        this.#pace = this.#lease.holds() ? RETRY_MS : ROUND_MS;
      }
      const untilBeat = Math.max(0, this.#beatAt + this.#pace - clock.monotonic());
      await pause(Math.min(untilBeat, ROUND_MS), this.#wake.promise);
    }
  }

  #reportSuccess(): void {
    if (this.#reported === "follows") return;
    this.#reported = "follows";
    this.#deps.log.info({ seq: this.#state.lastSeq() }, "the key index follows the database again");
  }

  /** Reports a failure: as an error once callers feel it, which they do not as long as the lease holds. */
  #reportFailure(error: unknown): void {
    if (!this.#lease.holds()) {
      if (this.#reported === "refuses") return;
      this.#reported = "refuses";
      this.#deps.log.error({ error }, "the key index cannot follow the database: requests are refused until it can");
    } else if (this.#reported === "follows") {
      this.#reported = "lags";
      this.#deps.log.warn({ error }, "the key index cannot follow the database");
    }
  }

  /** Applies what a hint announced, and beats when it is time; after a failure it beats in every round. */
  async #round(): Promise<void> {
    if (!this.#registered) await this.#register();
    this.#reader.makeGood();
    const listening = this.#listener.tend();
    // Before the first snapshot, so that nothing between the two is seen a beat late.
    if (this.#reader.last === null) await listening;
    let last = this.#reader.last ?? (await this.#reader.load());
    // A hint may announce a revocation: it is applied before anything else is asked.
    if (this.#hinted) last = await this.#followHint(last);
    const isDue = this.#deps.clock.monotonic() >= this.#beatAt + this.#pace;
    if (isDue || this.#reported !== "follows" || !this.#lease.holds()) await this.#beat(last);
  }

  async #followHint(last: FeedPosition): Promise<FeedPosition> {
    const { clock } = this.#deps;
    const early = this.#readAt + this.#spacing - clock.monotonic();
    if (early > 0) await pause(early);
    this.#pace = Math.max(ACKNOWLEDGE_MS, this.#spacing);
    return this.#catchUp(last, HINTED_MS).catch(() => {
      this.#pace = 0;
      return this.#reader.last ?? last;
    });
  }

  /**
   * Acknowledges `last` and asks for the head: everything up to it is applied and the lease renewed, or this throws.
   */
  async #beat(last: FeedPosition): Promise<void> {
    const { feed, id, clock } = this.#deps;
    this.#beatAt = clock.monotonic();
    const { moment, leaseMs, beat } = await firstAnswer(ANSWER_SHARE * this.#leaseMs(), AGAIN_MS, async () => {
      const [moment, leaseMs] = [this.#lease.moment(), this.#leaseMs()];
      return { moment, leaseMs, beat: await feed.heartbeat(id, last) };
    });
    this.#registered = beat.registered;
    this.#lease.setDatabaseTime(moment, beat.databaseNow);
    this.#databaseTimeAtBeat = beat.databaseNow;
    this.#noteQueue(beat.notificationQueue);
    this.#removeTheDead(beat.neighbour);
    this.#cells.replicas[0] = beat.replicas;
    this.#spacing = Math.min(Math.max(SPACING_MS, beat.replicas * SPACING_PER_REPLICA_MS), MAX_SPACING_MS);
    const isSameHistory = beat.idOfLastSeq === last.id && beat.head >= last.seq;
    if (isSameHistory && beat.registered) {
      if (beat.head > last.seq) await this.#catchUp(last, SNAPSHOT_MS);
      this.#lease.renew(moment, leaseMs);
    } else if (!isSameHistory) {
      const isPruned = beat.idOfLastSeq === null && beat.head > last.seq;
      if (!isPruned) this.#reader.reportRollback(last.seq, beat.head);
      await this.#reader.load();
    }
    const isAcknowledged = isSameHistory && beat.registered && beat.head === last.seq;
    this.#pace = isAcknowledged ? this.#beatMs() : Math.max(ACKNOWLEDGE_MS, this.#spacing);
  }

  async #register(): Promise<void> {
    const { feed, id, leaseMs, clock } = this.#deps;
    await answerWithin(ANSWER_MS, feed.register(id, leaseMs));
    this.#registered = true;
    this.#registeredAt = clock.monotonic();
  }

  /** Returns the length of a lease that is asked for now. */
  #leaseMs(): number {
    const { leaseMs, clock } = this.#deps;
    const isKnown = clock.monotonic() - this.#registeredAt >= LEASE_RANGE_MS.most;
    return isKnown ? leaseMs : Math.min(leaseMs, LEASE_MS);
  }

  #beatMs(): number {
    return this.#leaseMs() / BEATS_PER_LEASE;
  }

  #catchUp(from: FeedPosition, withinMs: number): Promise<FeedPosition> {
    this.#hinted = false;
    this.#readAt = this.#deps.clock.monotonic();
    return this.#reader.catchUp(from, withinMs);
  }

  /**
   * Notes how full the queue is. A queue that fills up fails others' transactions in the end, and ours lose their hints
   * before.
   */
  #noteQueue(usage: number): void {
    if (usage >= FULL_QUEUE && this.#notificationQueue < FULL_QUEUE) {
      this.#deps.log.error(
        {},
        "the database's queue of notifications fills up: a session listens and idles in a transaction",
      );
    }
    this.#notificationQueue = usage;
  }

  #revalidateStreams(): void {
    revalidateStreams(this.#deps.streams, this.#lease, (key) => this.#state.findPresent(key));
  }
}
