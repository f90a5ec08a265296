import { extname } from "node:path";
import { Worker } from "node:worker_threads";
import { errorText } from "../../../domain/error-text.ts";
import { DatabaseUnavailableError } from "../errors.ts";
import type { Failure, FromThread, QueryResult, Question, ToThread } from "./pglite-protocol.ts";

/** TypeScript in a checkout, JavaScript where the package is installed: as this file is. */
const THREAD = new URL(`./pglite-thread${extname(import.meta.url)}`, import.meta.url);

type Outcome = { readonly answer: QueryResult } | { readonly failure: Failure };
type Waiting = { settle(outcome: Outcome): void; fail(error: Error): void };

/**
 * A PGlite in a thread of its own. It does not queue its callers: a caller holds the one connection before it asks.
 * While nothing is asked, it does not keep the process alive.
 */
export class PGliteClient {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, Waiting>();
  readonly #listeners = new Map<string, Set<(payload: string) => void>>();
  readonly #failure = Promise.withResolvers<Error>();
  #questions = 0;
  #ended: Error | undefined;

  private constructor() {
    this.#worker = new Worker(THREAD, { execArgv: [] });
    this.#worker.unref();
    this.#worker.on("message", (message: FromThread) => this.#take(message));
    this.#worker.on("error", (cause) =>
      this.#end(new DatabaseUnavailableError(`the embedded database failed: ${errorText(cause)}`, { cause })),
    );
    this.#worker.on("exit", (code) =>
      this.#end(new DatabaseUnavailableError(`the embedded database's thread ended, with code ${code}`)),
    );
  }

  /** Opens, and creates where there is none, the database in a folder, or in memory for `memory://`. */
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
   * @throws Error with the SQLSTATE as `code` for what the database refuses
   * @throws DatabaseUnavailableError once the thread is gone, whether or not the question was answered there
   */
  async ask(question: Question): Promise<QueryResult> {
    const outcome = await this.#send(question);
    if ("answer" in outcome) return outcome.answer;
    // Made here, so that its stack leads to who asked.
    throw Object.assign(new Error(outcome.failure.message), outcome.failure.fields);
  }

  /** A statement without arguments, of its own. */
  run(statement: string): Promise<QueryResult> {
    return this.ask({ ask: "query", sql: statement, parameters: [], begins: false });
  }

  /** The caller holds the connection when it adds the first listener of a channel, or removes the last. */
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

  #send(question: Question): Promise<Outcome> {
    const { promise, resolve, reject } = Promise.withResolvers<Outcome>();
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
