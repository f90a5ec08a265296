import type { Scheduler } from "fast-check";
import { LEASE_MARGIN_MS, LEASE_RANGE_MS } from "../../../../domain/protocol.ts";
import { createConfirmer } from "../../../../store/replicas/confirmer.ts";
import type { ReplicaRegister } from "../../../../store/replicas/replicas.ts";
import { digestOfKey, SimDatabase } from "./database.ts";
import { type Hint, KEYS, LEASES_MS, type Move, OBSERVERS, REPLICAS } from "./moves.ts";
import { SimReplica } from "./replica.ts";
import { nextIteration, passTime, type TrueTime } from "./time.ts";

/** A violated promise: the message says which, of whom, and when. */
export class BrokenPromiseError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "BrokenPromiseError";
  }
}

/** Who waits for receipts. */
type Observer = {
  readonly ask: ReturnType<typeof createConfirmer>;
  asking: boolean;
  /** When it last had an answer. */
  answeredAt: number;
  /** A replica may serve until then whose registration was lost before this one had an answer that names it. */
  doubtfulUntil: number;
};

/** Writers, a database, replicas and those who wait for receipts, in an order that the scheduler chooses. */
export class World {
  readonly #scheduler: Scheduler;
  readonly #time: TrueTime = { now: 1_000_000 };
  readonly #database = new SimDatabase(this.#time);
  readonly #replicas: SimReplica[];
  readonly #observers: Observer[];
  /** The changes up to here were confirmed to a caller, and are still there. */
  #confirmed = 0;
  /** When the database last was rolled back. */
  #rolledBackAt = Number.NEGATIVE_INFINITY;
  #names = 0;
  #broken: BrokenPromiseError | undefined;
  /** How often a decision was looked at that let a key through, and how often something was confirmed. */
  readonly counts = { accepts: 0, confirmations: 0 };

  constructor(scheduler: Scheduler) {
    this.#scheduler = scheduler;
    for (let key = 0; key < KEYS; key++) this.#commit(key, [], false);
    this.#replicas = Array.from({ length: REPLICAS }, (_, i) => this.#startReplica(LEASES_MS[i]));
    this.#observers = Array.from({ length: OBSERVERS }, () => ({
      ask: createConfirmer(this.#register(), () => this.#time.now),
      asking: false,
      answeredAt: Number.NEGATIVE_INFINITY,
      doubtfulUntil: Number.NEGATIVE_INFINITY,
    }));
  }

  /** Plays all of it, and then as long as anything is under way. @throws BrokenPromiseError */
  async play(moves: readonly Move[]): Promise<void> {
    this.#scheduler.scheduleSequence(
      moves.map((move) => ({ builder: () => this.#make(move), label: JSON.stringify(move) })),
    );
    await this.#scheduler.waitIdle();
    if (this.#broken !== undefined) throw this.#broken;
  }

  end(): void {
    for (const { process } of this.#replicas) process.end();
  }

  /** To be run after each step of the scheduler. */
  async settle(): Promise<void> {
    await nextIteration();
    this.#check();
  }

  async #make(move: Move): Promise<void> {
    if (this.#broken !== undefined) return;
    switch (move.do) {
      case "pass":
        return passTime(
          this.#time,
          this.#replicas.map(({ process }) => process),
          move.ms,
          () => this.#check(),
        );
      case "change":
      case "revoke":
        return this.#commit(move.key, move.hints, move.do === "revoke");
      case "hint out of nothing":
        return this.#at(move.replica).hint();
      case "way":
        return this.#at(move.replica).setWay(move.way);
      case "stand still": {
        const { process } = this.#at(move.replica);
        if (process.runs) this.#at(move.replica).stoodStillSince = this.#time.now;
        return process.standStill();
      }
      case "go on": {
        const { process, stoodStillSince } = this.#at(move.replica);
        if (!process.runs) process.goOn(move.wasSuspended ? this.#time.now - stoodStillSince : 0);
        // What it decides first, it decides before any of its timers fires.
        return this.#check();
      }
      case "end listener":
        return this.#at(move.replica).endListener();
      case "restart":
        return this.#restart(move.replica, move.leaseMs);
      case "set wall clock":
        return this.#at(move.replica).process.setWallClock(move.ms);
      case "set database clock":
        return this.#database.setClock(move.ms);
      case "roll back":
        return this.#rollBack(move.commits);
      case "count replicas":
        this.#database.countedReplicas = move.counted;
        return;
      case "prune":
        return this.#database.prune(move.keep);
      case "ask for receipts":
        return this.#askForReceipts(move.from);
      case "open stream":
        return this.#at(move.replica).openStream(`key-${move.key}`);
    }
  }

  #at(replica: number): SimReplica {
    const found = this.#replicas[replica];
    if (found === undefined) throw new Error(`there is no replica ${replica}`);
    return found;
  }

  #commit(key: number, hints: readonly Hint[], revokes: boolean): void {
    this.#database.commit(`key-${key}`, (old) => ({
      revision: (old?.revision ?? 0) + 1,
      revoked: revokes || (old?.revoked ?? false),
    }));
    hints.forEach((hint, i) => {
      const times = { once: 1, twice: 2, lost: 0 }[hint];
      for (let n = 0; n < times; n++) this.#at(i).hint();
    });
  }

  #restart(i: number, leaseMs: number): void {
    this.#at(i).process.end();
    this.#replicas[i] = this.#startReplica(leaseMs);
  }

  #rollBack(commits: number): void {
    this.#database.rollBack(commits);
    this.#confirmed = Math.min(this.#confirmed, this.#database.head);
    const { now } = this.#time;
    this.#rolledBackAt = now;
    for (const observer of this.#observers) {
      // Whatever has registered since has no lease yet that is longer than the usual one.
      const isIdle = now - observer.answeredAt >= LEASE_RANGE_MS.most;
      if (isIdle) observer.doubtfulUntil = now + LEASE_RANGE_MS.most;
    }
    for (const replica of this.#replicas) replica.endListener();
  }

  #askForReceipts(from: number): void {
    const observer = this.#observers[from];
    if (observer === undefined || observer.asking) return;
    observer.asking = true;
    const { history } = this.#database;
    observer
      .ask()
      .then(({ seq }) => {
        if (history !== this.#database.history) return;
        observer.answeredAt = this.#time.now;
        if (this.#time.now < observer.doubtfulUntil) return;
        this.#confirmed = Math.max(this.#confirmed, seq);
        this.counts.confirmations++;
      })
      .finally(() => {
        observer.asking = false;
      })
      .catch(() => {});
  }

  #startReplica(leaseMs: number | undefined): SimReplica {
    return new SimReplica(`replica-${++this.#names}`, this.#time, this.#database, this.#scheduler, leaseMs);
  }

  #register(): ReplicaRegister {
    const ask = async <T>(what: string, answer: () => T): Promise<T> => {
      const { history } = this.#database;
      const lost = () => new Error("the connection is lost");
      await this.#scheduler.schedule(Promise.resolve(), `an observer asks: ${what}`);
      if (history !== this.#database.history) throw lost();
      const given = answer();
      await this.#scheduler.schedule(Promise.resolve(), `it is answered: ${what}`);
      if (history !== this.#database.history) throw lost();
      return given;
    };
    return {
      read: (seq) => ask("read replicas", () => this.#database.readReplicas(seq)),
      remove: (dead) => ask("remove replicas", () => this.#database.removeReplicas(dead)),
    };
  }

  /** What must hold at every moment (architecture §2, I5 and I9, and §3). */
  #check(): void {
    try {
      for (const replica of this.#replicas) this.#checkReplica(replica);
    } catch (error) {
      if (!(error instanceof BrokenPromiseError)) throw error;
      this.#broken ??= error;
    }
  }

  #checkReplica(self: SimReplica): void {
    const { process, replica } = self;
    if (!process.runs || !replica.view.isCurrent()) return;
    const { now } = this.#time;
    // A machine that was suspended for less than the wall clock may jump by serves that much longer.
    const bound = self.leaseMs + Math.min(process.suspendedMs, LEASE_MARGIN_MS);
    const broken = (what: string) => new BrokenPromiseError(`${process.name} at ${now}: ${what}`);
    for (const { seq, keyId, key, at } of this.#database.commits) {
      const why = `change ${seq}, ${seq <= this.#confirmed ? "confirmed" : "made"} ${now - at} ms ago`;
      const record = replica.view.findKey(digestOfKey(keyId));
      const isConfirmed = seq <= this.#confirmed;
      const isDue = isConfirmed || now - at >= bound;
      // Until its lease ends, one may know more than the database has now: a revocation that was lost.
      const mayKnowMore = now - this.#rolledBackAt < bound;
      if (isDue && !mayKnowMore && this.#database.key(keyId)?.revoked !== true) {
        if (record === undefined) throw broken(`does not know ${keyId} after ${why}`);
        if (record.scopes < key.revision) throw broken(`has revision ${record.scopes} of ${keyId} after ${why}`);
      }
      if (!self.accepts(keyId)) continue;
      this.counts.accepts++;
      if (isDue && key.revoked) throw broken(`accepts ${keyId} after its revocation by ${why}`);
    }
    for (const keyId of self.openStreams) {
      const revoked = this.#database.commits.find((commit) => commit.keyId === keyId && commit.key.revoked);
      if (revoked !== undefined && revoked.seq <= this.#confirmed) {
        throw broken(`has a stream of ${keyId} open after its confirmed revocation`);
      }
    }
  }
}
