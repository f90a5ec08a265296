import { extname } from "node:path";
import { Worker } from "node:worker_threads";
import { errorText } from "../../../domain/error-text.ts";
import { DatabaseUnavailableError } from "../errors.ts";
import type { Failure, FromThread, QueryResult, Question, ToThread } from "./pglite-protocol.ts";

/** Path of the thread's file: TypeScript in a checkout, JavaScript in an installed package, like this file. */
const THREAD = new URL(`./pglite-thread${extname(import.meta.url)}`, import.meta.url);

/** Megabytes of V8's young generation there: PGlite's own memory is WebAssembly's, and rows are short-lived. */
const MAX_YOUNG_MB = 8;

type QueryOutcome = { readonly answer: QueryResult } | { readonly failure: Failure };
type PendingQuery = { settle(outcome: QueryOutcome): void; fail(error: Error): void };

/**
 * PGlite in a thread of its own. It does not queue its callers: a caller must hold the one connection before it asks.
 * While no question is open, it does not keep the process alive.
 */
export class PGliteClient {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, PendingQuery>();
  readonly #listeners = new Map<string, Set<(payload: string) => void>>();
  readonly #failure = Promise.withResolvers<Error>();
  #questions = 0;
  #ended: Error | undefined;

  private constructor() {
    this.#worker = new Worker(THREAD, { execArgv: [], resourceLimits: { maxYoungGenerationSizeMb: MAX_YOUNG_MB } });
    this.#worker.unref();
    this.#worker.on("message", (message: FromThread) => this.#take(message));
    this.#worker.on("error", (cause) =>
      this.#end(new DatabaseUnavailableError(`the embedded database failed: ${errorText(cause)}`, { cause })),
    );
    this.#worker.on("exit", (code) =>
      this.#end(new DatabaseUnavailableError(`the embedded database's thread ended, with code ${code}`)),
    );
  }

  /** Opens the database in a folder, or in memory for `memory://`. Creates it if there is none. */
  static async open(folder: string): Promise<PGliteClient> {
    const client = new PGliteClient();
    try {
      await client.ask({ ask: "open", folder });
    } catch (error) {
      await client.#worker.terminate();
      throw error;
    }
    return client;
  }

  /** Resolves when the thread has ended by itself: nothing can be asked any more. */
  get failed(): Promise<Error> {
    return this.#failure.promise;
  }

  /**
   * Sends a question to the thread, and returns its answer.
   *
   * @throws Error with the SQLSTATE as `code` if the database refuses the question
   * @throws DatabaseUnavailableError once the thread is gone, whether or not the question was carried out there
   */
  async ask(question: Question): Promise<QueryResult> {
    const outcome = await this.#send(question);
    if ("answer" in outcome) return outcome.answer;
    // Made here, so that its stack leads to the caller.
    throw Object.assign(new Error(outcome.failure.message), outcome.failure.fields);
  }

  /** Runs a single statement without arguments. */
  run(statement: string): Promise<QueryResult> {
    return this.ask({ ask: "query", sql: statement, parameters: [], begins: false });
  }

  /** Adds a channel's listener. The caller must hold the connection to add the first listener or remove the last. */
  async listen(channel: string, onNotify: (payload: string) => void): Promise<void> {
    const listeners = this.#listeners.get(channel) ?? new Set();
    this.#listeners.set(channel, listeners.add(onNotify));
    if (listeners.size === 1) await this.run(`listen "${channel}"`);
  }

  async unlisten(channel: string, onNotify: (payload: string) => void): Promise<void> {
    const listeners = this.#listeners.get(channel);
    if (!listeners?.delete(onNotify) || listeners.size > 0) return;
    this.#listeners.delete(channel);
    await this.run(`unlisten "${channel}"`);
  }

  async close(): Promise<void> {
    if (this.#ended !== undefined) return;
    try {
      await this.ask({ ask: "close" });
    } finally {
      this.#ended = new DatabaseUnavailableError("the embedded database is closed");
      await this.#worker.terminate();
    }
  }

  #send(question: Question): Promise<QueryOutcome> {
    const { promise, resolve, reject } = Promise.withResolvers<QueryOutcome>();
    if (this.#ended !== undefined) {
      reject(this.#ended);
      return promise;
    }
    const id = ++this.#questions;
    this.#worker.postMessage({ ...question, id } satisfies ToThread);
    if (this.#waiting.size === 0) this.#worker.ref();
    this.#waiting.set(id, { settle: resolve, fail: reject });
    return promise;
  }

  #take(message: FromThread): void {
    if (message.type === "notification") {
      for (const onNotify of this.#listeners.get(message.channel) ?? []) onNotify(message.payload);
      return;
    }
    const waiting = this.#waiting.get(message.id);
    this.#waiting.delete(message.id);
    if (this.#waiting.size === 0) this.#worker.unref();
    waiting?.settle(message);
  }

  #end(error: DatabaseUnavailableError): void {
    if (this.#ended === undefined) this.#failure.resolve(error);
    this.#ended ??= error;
    for (const { fail } of this.#waiting.values()) fail(this.#ended);
    this.#waiting.clear();
  }
}
