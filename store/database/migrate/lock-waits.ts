import { setTimeout as delay } from "node:timers/promises";
import { sql } from "kysely";
import type { Db } from "../change.ts";
import { LOCK_NOT_AVAILABLE, MigrationBlockedError, sqlState } from "../errors.ts";
import type { Store } from "../store.ts";
import { advisoryHolders, blockersOf, describeHolders, type LockHolder } from "./lock-holders.ts";

type LockWaitOptions = {
  /** Store that is asked, on another connection, which sessions hold the lock. */
  readonly store: Pick<Store, "db" | "engine">;
  /** The connection that migrates. */
  readonly db: Db;
  /** Milliseconds. */
  readonly lockTimeoutMs: number;
  /** Milliseconds that all waits may take together. */
  readonly timeoutMs: number;
  readonly onProgress: (line: string) => void;
};

/** SQLSTATEs for a lock that could not be had: nothing was changed, and a retry may succeed. */
const LOCKED: ReadonlySet<string> = new Set([LOCK_NOT_AVAILABLE, "40P01"]);
const MIN_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 10_000;
/** Interval at which the database checks its client: it ends the statement of a client that was killed meanwhile. */
const CLIENT_CHECK = "5s";

/** Makes a connection wait for locks of other sessions without blocking others for longer than the lock timeout. */
export function lockWaits({ store, db, lockTimeoutMs, timeoutMs, onProgress }: LockWaitOptions) {
  const deadline = performance.now() + timeoutMs;
  const set = (name: string, value: string) => sql`select set_config(${name}, ${value}, false)`.execute(db);
  let patienceMs = lockTimeoutMs;
  let pid = 0;
  let hasTime = false;
  let pauseMs = Math.min(MIN_PAUSE_MS, timeoutMs / 4);

  /**
   * Reports the sessions that hold a lock, and waits until the next attempt.
   *
   * @throws MigrationBlockedError once the time is over
   */
  async function pause(what: string, holders: readonly LockHolder[]): Promise<void> {
    const leftMs = deadline - performance.now();
    const held = `${what}, held by ${describeHolders(holders)}`;
    if (leftMs <= 0) {
      throw new MigrationBlockedError(
        `gave up after ${timeoutMs / 1_000} s: ${held}. Nothing waits in the database any more; let that end, or end it, and run keyplane migrate again.`,
      );
    }
    const ms = Math.min(pauseMs, leftMs);
    onProgress(`${held}: next attempt in ${(ms / 1_000).toFixed(1)} s`);
    await delay(ms);
    pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS);
  }

  return {
    async prepare(): Promise<void> {
      if (store.engine !== "postgres") return;
      await set("application_name", "keyplane migrate");
      await set("statement_timeout", "0");
      // Where a server waits for a lock of the migration while the migration waits for one of the server's, the migration
      // gives up before PostgreSQL looks for a deadlock, and would end the server's transaction.
      const { rows: limits } = await sql<{ ms: number }>`select setting::integer / 2 as ms from pg_settings
        where name = 'deadlock_timeout'`.execute(db);
      patienceMs = Math.min(lockTimeoutMs, limits[0]?.ms ?? lockTimeoutMs);
      await set("lock_timeout", `${patienceMs}ms`);
      // Not every system that PostgreSQL runs on supports this.
      await set("client_connection_check_interval", CLIENT_CHECK).catch(() => {});
      const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(db);
      pid = rows[0]?.pid ?? 0;
    },

    /**
     * Raises the lock timeout to all the time left: from now on no session queues behind a statement that waits for a
     * lock.
     */
    async takeTime(): Promise<void> {
      if (store.engine !== "postgres") return;
      const leftMs = Math.max(deadline - performance.now(), lockTimeoutMs);
      await set("lock_timeout", `${Math.ceil(leftMs)}ms`);
      hasTime = true;
    },

    /** Takes an advisory lock for as long as the connection lasts. */
    async holdAlone(lock: number): Promise<void> {
      if (store.engine !== "postgres") return;
      for (;;) {
        const { rows } = await sql<{ taken: boolean }>`select pg_try_advisory_lock(${lock}) as taken`.execute(db);
        if (rows[0]?.taken) return;
        await pause("another migration is under way", await advisoryHolders(store.db, lock));
      }
    },

    /** Runs a task that is one transaction or one query, and repeats it for as long as it cannot have its locks. */
    async retry<T>(title: string, task: () => Promise<T>): Promise<T> {
      if (store.engine !== "postgres") return task();
      // As last seen, also in an attempt before: a short one may end before the database has said who holds the lock.
      let holders: readonly LockHolder[] = [];
      for (;;) {
        const watch = setInterval(async () => {
          const now = await blockersOf(store.db, pid).catch(() => []);
          if (now.length === 0) return;
          if (hasTime && holders.length === 0) onProgress(`${title} waits, held by ${describeHolders(now)}`);
          holders = now;
        }, patienceMs / 4);
        try {
          return await task();
        } catch (error) {
          if (!LOCKED.has(sqlState(error) ?? "")) throw error;
        } finally {
          clearInterval(watch);
        }
        await pause(`${title} cannot have a lock`, holders);
      }
    },
  };
}
