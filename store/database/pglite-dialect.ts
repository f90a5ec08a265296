import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
} from "kysely";
import type { ConnectionQueue, Priority } from "./connection-queue.ts";
import type { PGliteClient } from "./pglite-client.ts";

type PGliteAccess = {
  readonly client: PGliteClient;
  readonly queue: ConnectionQueue;
  readonly priority: Priority;
  /** Ends what waits for the connection, and a transaction at its next statement; one that runs cannot be ended. */
  readonly signal?: AbortSignal;
};

/**
 * Kysely over the one connection of PGlite. A transaction's queries go through its own handle, and everything else
 * waits until it is over: isolation levels are therefore not asked for, nor needed.
 */
export function pgliteDialect(access: PGliteAccess): Dialect {
  return {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new PGliteDriver(access),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  };
}

class PGliteDriver implements Driver {
  readonly #access: PGliteAccess;
  readonly #connection: DatabaseConnection;

  constructor(access: PGliteAccess) {
    this.#access = access;
    this.#connection = new PGliteConnection(access);
  }

  async init(): Promise<void> {
    // It is open.
  }

  async acquireConnection(): Promise<DatabaseConnection> {
    const { queue, priority, signal } = this.#access;
    await queue.acquire(priority, signal);
    return this.#connection;
  }

  async releaseConnection(): Promise<void> {
    this.#access.queue.release();
  }

  async beginTransaction(): Promise<void> {
    await this.#access.client.ask({ ask: "begin" });
  }

  async commitTransaction(): Promise<void> {
    await this.#access.client.ask({ ask: "commit" });
  }

  async rollbackTransaction(): Promise<void> {
    await this.#access.client.ask({ ask: "rollback" });
  }

  async destroy(): Promise<void> {
    // Others share the connection: the store closes it.
  }
}

class PGliteConnection implements DatabaseConnection {
  readonly #access: Pick<PGliteAccess, "client" | "signal">;

  constructor(access: Pick<PGliteAccess, "client" | "signal">) {
    this.#access = access;
  }

  async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
    const { client, signal } = this.#access;
    signal?.throwIfAborted();
    const { rows, affectedRows } = await client.ask({ ask: "query", sql, parameters });
    return {
      // Kysely's types say what a statement's rows are.
      rows: rows as R[],
      ...(affectedRows === undefined ? {} : { numAffectedRows: BigInt(affectedRows) }),
    };
  }

  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    yield* [];
    throw new Error("PGlite does not stream");
  }
}
