import {
  AbortedTransactionError,
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
  type TransactionSettings,
} from "kysely";
import type { ManagementSlots } from "../management-slots.ts";
import { isUnanswered, UnansweredStatements } from "../unanswered.ts";
import type { ConnectionQueue, Priority } from "./connection-queue.ts";
import type { PGliteClient } from "./pglite-client.ts";

type PGliteAccess = {
  readonly client: PGliteClient;
  readonly queue: ConnectionQueue;
  readonly priority: Priority;
  /** Ends the wait for the connection, and a transaction at its next statement. A running statement cannot be ended. */
  readonly signal?: AbortSignal;
  /** Called after each statement that may have written rows that others look for. */
  readonly onWrite?: (() => void) | undefined;
  /** Slots that requests of the management API take. */
  readonly slots?: ManagementSlots;
};

/**
 * Kysely dialect over the one connection of PGlite. A transaction's queries go through its own handle, and everything
 * else waits until it is over, so isolation levels are neither set nor needed.
 */
export function pgliteDialect(access: PGliteAccess): Dialect {
  return {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new PGliteDriver(access),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  };
}

/**
 * Pattern of statements that may write what others look for, those among them that answer as a SELECT does. A lock of
 * rows writes nothing, and a replica notes its times on its own row alone.
 */
const MAY_WRITE = /\b(?:insert|delete|(?<!\bfor\s(?:no\skey\s)?)update(?!\sreplicas\b))\b/i;

class PGliteDriver implements Driver {
  readonly #access: PGliteAccess;
  readonly #connection: PGliteConnection;
  /** Gives back the slot of the caller that has the connection. */
  #releaseSlot: (() => void) | undefined;

  constructor(access: PGliteAccess) {
    this.#access = access;
    this.#connection = new PGliteConnection(access);
  }

  async init(): Promise<void> {
    // It is open.
  }

  async acquireConnection(): Promise<DatabaseConnection> {
    const { queue, priority, signal, slots } = this.#access;
    const releaseSlot = await slots?.take();
    try {
      await queue.acquire(priority, signal);
    } catch (error) {
      releaseSlot?.();
      throw error;
    }
    this.#releaseSlot = releaseSlot;
    return this.#connection;
  }

  async releaseConnection(): Promise<void> {
    const releaseSlot = this.#releaseSlot;
    this.#releaseSlot = undefined;
    this.#access.queue.release();
    releaseSlot?.();
  }

  async beginTransaction(_: DatabaseConnection, { accessMode }: TransactionSettings): Promise<void> {
    this.#connection.begin({ onlyReads: accessMode === "read only" });
  }

  commitTransaction(): Promise<void> {
    return this.#connection.end("commit");
  }

  rollbackTransaction(): Promise<void> {
    return this.#connection.end("rollback");
  }

  async destroy(): Promise<void> {
    // Others share the connection: the store closes it.
  }
}

/** Transaction that begins with its first statement: a round trip to the thread takes as long as many a statement. */
type Transaction = { readonly onlyReads: boolean; hasBegun: boolean };

class PGliteConnection implements DatabaseConnection {
  readonly #access: Pick<PGliteAccess, "client" | "signal" | "onWrite">;
  #transaction: Transaction | undefined;
  #unanswered = new UnansweredStatements();

  constructor(access: Pick<PGliteAccess, "client" | "signal" | "onWrite">) {
    this.#access = access;
  }

  begin({ onlyReads }: { readonly onlyReads: boolean }): void {
    this.#transaction = { onlyReads, hasBegun: false };
  }

  async end(how: "commit" | "rollback"): Promise<void> {
    const transaction = this.#transaction;
    this.#transaction = undefined;
    this.#unanswered = new UnansweredStatements();
    if (transaction === undefined || !transaction.hasBegun) return;
    const ended = this.#access.client.run(how);
    // The caller has what it read, and the next caller's statements come after the end: there is nothing to wait for.
    if (transaction.onlyReads) ended.catch(() => {});
    // Where the body has caught a statement's error, PostgreSQL answers COMMIT with a rollback, and not with an error.
    else if ((await ended).command === "ROLLBACK" && how === "commit") throw new AbortedTransactionError();
  }

  async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
    const { client, signal, onWrite } = this.#access;
    signal?.throwIfAborted();
    const begins = this.#transaction?.hasBegun === false;
    if (this.#transaction !== undefined) this.#transaction.hasBegun = true;
    const asked = client.ask({ ask: "query", sql, parameters, begins });
    if (isUnanswered(sql)) {
      this.#unanswered.add(asked);
      return { rows: [] };
    }
    const { rows, affectedRows = 0 } = await this.#unanswered.before(asked);
    if (affectedRows > 0 && MAY_WRITE.test(sql)) onWrite?.();
    return {
      // Kysely's types say what a statement's rows are.
      rows: rows as R[],
      numAffectedRows: BigInt(affectedRows),
    };
  }

  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    yield* [];
    throw new Error("PGlite does not stream");
  }
}
