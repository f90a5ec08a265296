import { Kysely, PostgresDialect, type PostgresPoolClient } from "kysely";
import type pg from "pg";
import type { Database } from "../schema.ts";
import { asUnavailableOrRefused, TimeoutClient } from "./timeout-client.ts";

/** Part of pg's pools that a store uses. */
export type Connections = Pick<pg.Pool, "options"> & { connect(): Promise<pg.PoolClient>; end(): Promise<void> };

/**
 * Makes handles for single calls. Once a call's signal is aborted, the statement on its connection is ended, in the
 * server and here.
 */
export function lendConnections(pool: Connections): (signal: AbortSignal) => Kysely<Database> {
  async function connect(signal: AbortSignal): Promise<PostgresPoolClient> {
    signal.throwIfAborted();
    const client = await pool.connect().catch((error: unknown) => {
      throw asUnavailableOrRefused(error);
    });
    const abandon = () => {
      if (client instanceof TimeoutClient) client.abandon();
    };
    const release = (destroy = false) => {
      signal.removeEventListener("abort", abandon);
      client.release(destroy || signal.aborted);
    };
    signal.addEventListener("abort", abandon, { once: true });
    try {
      signal.throwIfAborted();
    } catch (error) {
      release(true);
      throw error;
    }
    // Of pg's overloads Kysely uses the plain one.
    return { query: client.query.bind(client), release } as PostgresPoolClient;
  }

  return (signal) =>
    new Kysely<Database>({
      // The store ends the pool.
      dialect: new PostgresDialect({
        pool: { options: pool.options, connect: () => connect(signal), end: async () => {} },
      }),
    });
}
