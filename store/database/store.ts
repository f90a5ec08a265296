import type { Kysely } from "kysely";
import type { MemoryDatabase } from "./memory-database.ts";
import type { CopyQuestion } from "./postgres/copy.ts";
import type { Database } from "./schema.ts";

/** Open database. The caller that opens it closes it. */
export type Store = {
  readonly db: Kysely<Database>;
  /** Handle for queries before authentication. On PGlite's one connection only background queries come after them. */
  readonly unauthenticatedDb: Kysely<Database>;
  /** Handle for work that no request waits for, such as upkeep. On PGlite's one connection, all others go first. */
  readonly backgroundDb: Kysely<Database>;
  /** Maximum rows that a background statement writes. PGlite cannot interrupt a statement: there it takes some 5 ms. */
  readonly backgroundRows: number;
  readonly engine: "postgres" | "pglite";
  /** Handle of the memory service. */
  readonly memory: MemoryDatabase;
  /**
   * Listens on a connection of its own. Must not be called inside a transaction: PGlite has one connection, and the
   * call would wait for itself.
   *
   * @param onEnd called once when the connection is known to be dead, not after `close()`
   */
  listen(
    channel: string,
    onNotify: (payload: string) => void,
    onEnd: (error?: Error) => void,
  ): Promise<ListenConnection>;
  /** Counts the statements so far that wrote rows, but those of the feed; undefined if other processes write too. */
  readonly writes: (() => number) | undefined;
  /** Reads many rows at the least cost; undefined if the engine has no such way. */
  readonly copyRows: ((question: CopyQuestion, take: (row: Buffer) => void) => Promise<void>) | undefined;
  /**
   * Lends a connection of its own, on which statements have no time limit of ours; on PGlite, the connection that all
   * share. Settings on it are gone with it.
   */
  withConnection<T>(body: (db: Kysely<Database>) => Promise<T>): Promise<T>;
  close(): Promise<void>;
};

/** Embedded database: one connection, which all of its handles share. Any `close` closes it. */
export type EmbeddedStore = Store & {
  /** Store whose queries keep the key index current: they go before all others that wait for the connection. */
  readonly feedStore: Store;
  /** Resolves when the database has ended by itself: nothing can be asked of it any more. */
  readonly failed: Promise<Error>;
};

export type ListenConnection = {
  /** Rejects if the connection does not answer within two seconds: it is dead then, and `onEnd` has been called. */
  ping(): Promise<void>;
  close(): Promise<void>;
};
