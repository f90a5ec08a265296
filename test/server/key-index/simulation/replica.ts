import type { Scheduler } from "fast-check";
import { unusableBecause } from "../../../../domain/access/key-state.ts";
import { LEASE_MS } from "../../../../domain/protocol.ts";
import { createMetrics } from "../../../../processes/metrics.ts";
import { createLog } from "../../../../runtime/log.ts";
import { StreamRegistry } from "../../../../server/calls/open-streams.ts";
import type { Feed } from "../../../../server/key-index/feed.ts";
import { Replica } from "../../../../server/key-index/replica.ts";
import { keyring } from "../replica-fixtures.ts";
import { digestOfKey, type SimDatabase } from "./database.ts";
import type { LinkState } from "./moves.ts";
import { SimProcess, type TrueTime } from "./time.ts";

/** The log of a replica is not read here. */
const log = createLog("silent");
const metrics = createMetrics();

type Listener = { readonly onHint: () => void; readonly onEnd: () => void };

/** One server process of the simulation, with the real replica in it, and its way to the database. */
export class SimReplica {
  readonly process: SimProcess;
  readonly replica: Replica;
  readonly leaseMs: number;
  /** The keys that it has a stream open of. */
  readonly openStreams = new Set<string>();
  stoodStillSince = 0;
  readonly #scheduler: Pick<Scheduler, "schedule">;
  readonly #database: SimDatabase;
  readonly #streams = new StreamRegistry(() => {});
  #way: LinkState = "open";
  /** Resolves when the way is no hole any more. */
  #hole = Promise.withResolvers<void>();
  #listener: Listener | undefined;

  constructor(
    name: string,
    time: TrueTime,
    database: SimDatabase,
    scheduler: Pick<Scheduler, "schedule">,
    leaseMs = LEASE_MS,
  ) {
    this.leaseMs = leaseMs;
    this.#database = database;
    this.#scheduler = scheduler;
    this.process = new SimProcess(name, time);
    const { clock } = this.process;
    const [feed, streams, placeholders] = [this.#feed(), this.#streams, []];
    this.replica = new Replica({ id: name, feed, leaseMs, keyring, clock, log, metrics, streams, placeholders });
    this.process.run(() => this.replica.start());
  }

  /** Whether a request with this key would be let through now. */
  accepts(keyId: string): boolean {
    if (!this.process.runs || !this.replica.view.isCurrent()) return false;
    const record = this.replica.view.findKey(digestOfKey(keyId));
    return record !== undefined && unusableBecause(record, this.replica.now()) === undefined;
  }

  openStream(keyId: string): void {
    const record = this.replica.view.findKey(digestOfKey(keyId));
    if (record === undefined || !this.accepts(keyId) || this.openStreams.has(keyId)) return;
    this.openStreams.add(keyId);
    this.#streams.track(record, () => this.openStreams.delete(keyId));
  }

  /** Sends a notification to the listener that is there now. */
  hint(): void {
    const listener = this.#listener;
    if (listener === undefined || this.#way !== "open") return;
    void this.#scheduler.schedule(Promise.resolve(), `hint to ${this.process.name}`).then(async () => {
      await this.process.whenRunning();
      if (this.#listener === listener) listener.onHint();
    });
  }

  setWay(way: LinkState): void {
    if (this.#way === "hole" && way !== "hole") {
      this.#hole.resolve();
      this.#hole = Promise.withResolvers();
    }
    this.#way = way;
    if (way === "cut") this.endListener();
  }

  endListener(): void {
    const listener = this.#listener;
    this.#listener = undefined;
    void this.process.whenRunning().then(() => listener?.onEnd());
  }

  #feed(): Feed {
    const ask = <T>(what: string, answer: () => T) => this.#ask(what, answer);
    return {
      register: (id, leaseMs) => ask("register", () => this.#database.register(id, leaseMs)),
      deregister: (id) => ask("deregister", () => this.#database.deregister(id)),
      heartbeat: (id, last) => ask("heartbeat", () => this.#database.heartbeat(id, last)),
      changesAfter: (seq, limit) => ask("changes", () => this.#database.changesAfter(seq, limit)),
      snapshot: (receive) => ask("snapshot", () => this.#database.snapshot(receive)),
      makeGood: async () => {},
      replicas: {
        read: (seq) => ask("read replicas", () => this.#database.readReplicas(seq)),
        remove: (dead) => ask("remove replicas", () => this.#database.removeReplicas(dead)),
      },
      listen: (onHint, onEnd) =>
        ask("listen", () => {
          const listener = { onHint, onEnd };
          this.#listener = listener;
          return {
            ping: () =>
              ask("ping", () => {
                if (this.#listener !== listener) throw new Error("the connection is lost");
              }),
            close: async () => {
              if (this.#listener === listener) this.#listener = undefined;
            },
          };
        }),
    };
  }

  /** There and back, each as late as the scheduler will; the database may be rolled back in between. */
  async #ask<T>(what: string, answer: () => T): Promise<T> {
    const { history } = this.#database;
    await this.#travel(`${this.process.name} asks: ${what}`);
    if (history !== this.#database.history) throw new Error("the connection is lost");
    const given = answer();
    await this.#travel(`${this.process.name} is answered: ${what}`);
    if (history !== this.#database.history) throw new Error("the connection is lost");
    await this.process.whenRunning();
    return given;
  }

  async #travel(what: string): Promise<void> {
    await this.#scheduler.schedule(Promise.resolve(), what);
    while (this.#way === "hole") {
      await this.#hole.promise;
      await this.#scheduler.schedule(Promise.resolve(), `${what}, late`);
    }
    if (this.#way === "void") await new Promise<never>(() => {});
    if (this.#way !== "cut") return;
    await this.process.whenRunning();
    throw new Error("the connection is refused");
  }
}
