import type { Kysely } from "kysely";
import type { MemoryDatabase } from "./memory-database.ts";
import type { CopyQuestion } from "./postgres/copy.ts";
import type { Database } from "./schema.ts";

/** An open database. The caller that opens it closes it. */
export type Store = {
  readonly db: Kysely<Database>;
  /** For queries before the client is authenticated: on the one connection of PGlite, all other queries go first. */
  readonly unauthenticatedDb: Kysely<Database>;
  /** For what no request waits for, as counts of uses and upkeep: on the one connection of PGlite, all others go first. */
  readonly backgroundDb: Kysely<Database>;
  /** How many rows a statement of it writes at most: on PGlite, where nothing breaks one off, what takes some 5 ms. */
  readonly backgroundRows: number;
  readonly engine: "postgres" | "pglite";
  /** The memory service's handle. */
  readonly memory: MemoryDatabase;
  /**
   * Listens on a connection of its own. Never inside a transaction: PGlite has one connection, and it would wait for
   * itself.
   *
   * @param onEnd called once when the connection is known to be dead, not after `close()`
   */
  listen(
    channel: string,
    onNotify: (payload: string) => void,
    onEnd: (error?: Error) => void,
  ): Promise<ListenConnection>;
  /** Reads many rows at the least cost; undefined where the engine has no such way. */
  readonly copyRows: ((question: CopyQuestion, take: (row: Buffer) => void) => Promise<void>) | undefined;
  /**
   * Lends a connection of its own, on which no statement has a time limit of ours; on PGlite the one that all share.
   * What is set on it is gone with it.
   */
  withConnection<T>(body: (db: Kysely<Database>) => Promise<T>): Promise<T>;
  close(): Promise<void>;
};

/** The embedded database: one connection, which all of its handles share. Any `close` closes it. */
export type EmbeddedStore = Store & {
  /** For what keeps the key index current: passes all others that wait for the connection. */
  readonly feedStore: Store;
  /** Resolves when the database has ended by itself: nothing can be asked of it any more. */
  readonly failed: Promise<Error>;
};

export type ListenConnection = {
  /** Rejects when the connection does not answer within two seconds: it is dead then, and `onEnd` has been called. */
  ping(): Promise<void>;
  close(): Promise<void>;
};
