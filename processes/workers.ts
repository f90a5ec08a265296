import { extname } from "node:path";
import { MessageChannel, Worker } from "node:worker_threads";
import { answerWithin } from "../runtime/deadline.ts";
import type { ThreadMetric } from "../runtime/process-metrics.ts";
import type { ManagementToken } from "../server/auth/management/management-token.ts";
import type { SharedCalls } from "../server/calls/shared-calls.ts";
import type { ServerConfig } from "../server/context/config.ts";
import type { Broadcast } from "../server/key-index/index-messages.ts";
import type { SharedCells } from "../server/key-index/shared-cells.ts";
import type { UsageReport } from "../server/usage/use-notes.ts";
import type { DatabaseLocation } from "../store/database/postgres/connection-config.ts";
import type { Keyring } from "../store/encryption/keyring.ts";
import { type Ports, portsOf, type Reached } from "./listeners.ts";
import { plainConfig, type ToWorker, type WorkerReport, type WorkerStart } from "./worker-protocol.ts";

/** URL of the worker's file: TypeScript in a checkout, JavaScript in an installed package, as this file is. */
const WORKER = new URL(`./worker${extname(import.meta.url)}`, import.meta.url);
/** Milliseconds that all workers together get to report their metrics. */
const METRICS_MS = 2_000;
/** Milliseconds beyond the grace period of a drain after which a worker that has not ended is terminated. */
const LATE_MS = 5_000;

type WorkersDeps = {
  readonly count: number;
  readonly database: DatabaseLocation;
  readonly config: ServerConfig;
  readonly cells: SharedCells;
  readonly calls: SharedCalls;
  readonly replicaId: string;
  readonly managementToken: ManagementToken | null;
  readonly keyring: Keyring;
  /** Called with what a worker has noted and counted of the use of keys. */
  readonly onUsed: (report: UsageReport) => void;
};

/** Threads that serve one public port. If a thread ends by itself, `failed` resolves, and all are to end. */
export class Workers {
  readonly #deps: WorkersDeps;
  readonly #threads: Thread[] = [];
  readonly #failure = Promise.withResolvers<Error>();
  #stopping = false;

  constructor(deps: WorkersDeps) {
    this.#deps = deps;
  }

  /** Resolves if a worker has ended by itself, and not by a drain. */
  get failed(): Promise<Error> {
    return this.#failure.promise;
  }

  /** Sends a message of the index to every worker, and then counts it. */
  readonly broadcast: Broadcast = (message) => {
    for (const { messages: port } of this.#threads) port.postMessage(message);
    Atomics.add(this.#deps.cells.broadcasts, 0, 1);
  };

  /** Starts all workers, before the first message. */
  async open(): Promise<void> {
    await Promise.all(Array.from({ length: this.#deps.count }, () => this.#startOne()));
  }

  /**
   * Has all workers listen: the first takes the ports, which may be any free ones, and the others share them.
   *
   * @returns where they listen
   */
  async listen(): Promise<Reached> {
    const [first, ...others] = this.#threads;
    if (first === undefined) throw new Error("no worker was started");
    const reached = await first.listen(portsOf(this.#deps.config));
    await Promise.all(others.map((thread) => thread.listen(reached.ports)));
    return reached;
  }

  /** Returns the metrics of each worker. */
  async metrics(): Promise<readonly (readonly ThreadMetric[])[]> {
    return answerWithin(METRICS_MS, Promise.all(this.#threads.map((thread) => thread.metrics())));
  }

  /**
   * Drains all workers.
   *
   * @returns true if each has reported all that it had noted of keys
   */
  async drain(graceMs: number): Promise<boolean> {
    this.#stopping = true;
    const drained = await Promise.all(this.#threads.map((thread) => thread.drain(graceMs)));
    return drained.every((isWhole) => isWhole);
  }

  async #startOne(): Promise<void> {
    const { database, config, cells, calls, replicaId, managementToken, keyring } = this.#deps;
    const channel = new MessageChannel();
    const start: WorkerStart = {
      database,
      config: plainConfig(config),
      cells: cells.buffer,
      calls: calls.buffer,
      messages: channel.port2,
      replicaId,
      managementToken,
      keyring,
    };
    const worker = new Worker(WORKER, {
      workerData: start,
      transferList: [channel.port2],
    });
    const thread = new Thread(worker, channel.port1, this.#deps.onUsed);
    this.#threads.push(thread);
    thread.ended.then((error) => {
      if (!this.#stopping) this.#failure.resolve(error);
    });
    const failure = await Promise.race([thread.opened, thread.ended]);
    if (failure !== undefined) throw failure;
  }
}

/** Worker thread, with the requests to it. */
class Thread {
  readonly messages: MessageChannel["port1"];
  /** Resolves when the thread has ended, with the reason. */
  readonly ended: Promise<Error>;
  /** Resolves when the thread takes messages. */
  readonly opened: Promise<void>;
  readonly #listening = Promise.withResolvers<Reached>();
  readonly #worker: Worker;
  readonly #drained = Promise.withResolvers<void>();
  readonly #asked = new Map<number, (metrics: readonly ThreadMetric[]) => void>();
  #questions = 0;

  constructor(worker: Worker, messages: MessageChannel["port1"], onUsed: WorkersDeps["onUsed"]) {
    this.#worker = worker;
    this.messages = messages;
    const opened = Promise.withResolvers<void>();
    this.opened = opened.promise;
    const ended = Promise.withResolvers<Error>();
    this.ended = ended.promise;
    worker.on("error", (error) => ended.resolve(new Error("a worker thread failed", { cause: error })));
    worker.on("exit", (code) => ended.resolve(new Error(`a worker thread ended by itself, with code ${code}`)));
    worker.on("message", (message: WorkerReport) => {
      switch (message.kind) {
        case "open":
          opened.resolve();
          break;
        case "listening":
          this.#listening.resolve(message);
          break;
        case "metrics":
          this.#asked.get(message.id)?.(message.metrics);
          this.#asked.delete(message.id);
          break;
        case "used":
          onUsed(message.report);
          break;
        case "drained":
          this.#drained.resolve();
      }
    });
  }

  async listen(ports: Ports): Promise<Reached> {
    this.#ask({ ask: "listen", ports });
    const listening = await Promise.race([this.#listening.promise, this.ended]);
    if (listening instanceof Error) throw listening;
    return listening;
  }

  metrics(): Promise<readonly ThreadMetric[]> {
    const { promise, resolve } = Promise.withResolvers<readonly ThreadMetric[]>();
    const id = ++this.#questions;
    this.#asked.set(id, resolve);
    this.#ask({ ask: "metrics", id });
    return promise;
  }

  /**
   * Drains the worker.
   *
   * @returns true if it has reported all that it had noted of keys
   */
  async drain(graceMs: number): Promise<boolean> {
    this.#ask({ ask: "drain", graceMs });
    const over = Promise.race([this.#drained.promise.then(() => true), this.ended.then(() => false)]);
    // A worker that is late is terminated all the same.
    const isWhole = await answerWithin(graceMs + LATE_MS, over).catch(() => false);
    this.messages.close();
    await this.#worker.terminate();
    return isWhole;
  }

  #ask(message: ToWorker): void {
    this.#worker.postMessage(message);
  }
}
