import { Socket } from "node:net";
import { Kysely, PostgresDialect, type PostgresPoolClient } from "kysely";
import pg from "pg";
import { COLUMN_TYPES } from "../column-types.ts";
import { ManagementSlots } from "../management-slots.ts";
import { MAX_RUN_MS, memoryDatabase } from "../memory-database.ts";
import type { Database } from "../schema.ts";
import type { ListenConnection, Store } from "../store.ts";
import { connectionConfig, type DatabaseLocation } from "./connection-config.ts";
import { copyRows } from "./copy.ts";
import { type Connections, lendConnections } from "./postgres-memory.ts";
import { assertTakesWrites, prepareSession } from "./session.ts";
import { asUnavailable, asUnavailableOrRefused, TimeoutClient, type TimeoutClientOptions } from "./timeout-client.ts";
import { WriteVerdict } from "./write-verdict.ts";

export type PostgresOptions = {
  readonly maxConnections?: number;
  /** True to keep one connection open however long it is idle. Otherwise all are closed after 10 s. */
  readonly keepsOne?: boolean;
  /** Milliseconds after which a statement without an answer gives up its connection; 0 for never. */
  readonly answerTimeoutMs?: number;
  /** Milliseconds that a call of the memory may take once it has a slot. */
  readonly memoryRunMs?: number;
  /**
   * True to plan each kept statement ({@link preparedStatement}) once, for any arguments: for connections with few
   * statements. Otherwise PostgreSQL plans its first five uses anew.
   */
  readonly genericPlans?: boolean;
  /** Name shown in `pg_stat_activity`. */
  readonly applicationName?: string;
};

const CONNECT_TIMEOUT_MS = 5_000;
const ANSWER_TIMEOUT_MS = 10_000;
const DEFAULTS = { maxConnections: 10, answerTimeoutMs: ANSWER_TIMEOUT_MS, memoryRunMs: MAX_RUN_MS };
/** Part of the answer timeout that the database may take for the statement. */
const STATEMENT_SHARE = 0.75;
const PING_TIMEOUT_MS = 2_000;
const KEEPALIVE_MS = 10_000;

/** Limits of the memory's calls: as many run at a time as the memory has connections, and half of them for one team. */
const MEMORY = { running: 8, runningPerTeam: 4, waiting: 256, waitingPerTeam: 128 };

/** Part of the other connections for the management API, and half of it for one team; the rest is for decisions. */
const MANAGED_SHARE = 0.5;
/** Part of the connections for callers not authenticated yet, such as by a cookie that may belong to no session. */
const UNAUTHENTICATED_SHARE = 0.2;
const UNAUTHENTICATED_WAITING = { waiting: 1_024, waitingPerTeam: 128 };
const MANAGED_WAITING = { waiting: 512, waitingPerTeam: 128 };

/** Connections of a store: a pool for the memory's calls, a pool for all else, and the way to make further ones. */
export type Pools<Pool = Connections> = {
  readonly all: Pool;
  readonly memory: Pool;
  readonly way: ReturnType<typeof connectionTo>;
};

/** Opens the pools of a store. They connect with the first query. */
export function openPools(database: string | DatabaseLocation, options: PostgresOptions = {}): Pools<pg.Pool> {
  const { maxConnections, answerTimeoutMs, memoryRunMs } = { ...DEFAULTS, ...options };
  const together = leaveTogether();
  const way = connectionTo(database, options);
  const connection = { ...way, onFenced: together.leave };
  const settings = options.genericPlans === true ? ["plan_cache_mode = force_generic_plan"] : [];
  const kept = { ...connection, min: options.keepsOne === true ? 1 : 0 };
  const pools = {
    all: openPool(kept, maxConnections, answerTimeoutMs, settings),
    // Connects with the first call of the memory, so that a process without one has no more connections for it.
    memory: openPool({ ...connection, connectionTimeoutMillis: memoryRunMs }, MEMORY.running, memoryRunMs),
    way,
  };
  together.watch(pools.all);
  together.watch(pools.memory);
  return pools;
}

/**
 * Gives up all connections when one of them finds that its database takes no writes. The others lead to the same
 * database: reads on them would go on with old data, while new connections lead to the primary (threats c92).
 */
function leaveTogether() {
  const clients = new Set<pg.PoolClient>();
  const left = new WeakSet<pg.PoolClient>();
  return {
    leave() {
      for (const client of clients) {
        left.add(client);
        // The pool drops one that is idle; one that is lent ends as it is given back.
        client.emit("error", new Error("the database takes no writes"));
      }
    },
    watch(pool: pg.Pool) {
      pool.on("connect", (client) => void clients.add(client));
      pool.on("remove", (client) => void clients.delete(client));
      pool.on("release", (_error, client) => {
        if (left.has(client)) client.end().catch(() => {});
      });
    },
  };
}

/**
 * Opens a PostgreSQL by its URL or its location. It connects with the first query, so a server that is down is no error
 * here.
 *
 * @param pools closed with the store
 */
export async function openPostgres(
  database: string | DatabaseLocation,
  options: PostgresOptions = {},
  pools: Pools = openPools(database, options),
): Promise<Store> {
  const { verdict, ...connection } = pools.way;
  const located = (): pg.ClientConfig => ({ ...connection, ...connection.locate() });
  const { maxConnections, answerTimeoutMs, memoryRunMs } = { ...DEFAULTS, ...options };
  const shareOf = (part: number) => Math.max(1, Math.floor(maxConnections * part));
  const running = shareOf(MANAGED_SHARE);
  const runningPerTeam = Math.ceil(running / 2);
  const db = databaseOn(pools.all, new ManagementSlots({ running, runningPerTeam, ...MANAGED_WAITING }));
  const unauthenticated = ManagementSlots.ofUnauthenticated({
    running: shareOf(UNAUTHENTICATED_SHARE),
    ...UNAUTHENTICATED_WAITING,
  });
  return {
    db,
    unauthenticatedDb: databaseOn(pools.all, unauthenticated),
    backgroundDb: db,
    backgroundRows: 1_000,
    engine: "postgres",
    writes: undefined,
    memory: memoryDatabase(MEMORY, lendConnections(pools.memory), memoryRunMs),
    listen: async (channel, onNotify, onEnd) => listen(located(), verdict, channel, onNotify, onEnd),
    async copyRows(question, take) {
      try {
        await copyRows(located(), answerTimeoutMs || ANSWER_TIMEOUT_MS, question, take);
      } catch (error) {
        throw asUnavailable(error);
      }
    },
    async withConnection(body) {
      const own = databaseOn(openPool(pools.way, 1, 0));
      try {
        return await own.connection().execute(body);
      } finally {
        await own.destroy();
      }
    },
    close: async () => void (await Promise.all([db.destroy(), pools.memory.end()])),
  };
}

function connectionTo(database: string | DatabaseLocation, options: PostgresOptions) {
  const location = typeof database === "string" ? { url: database } : database;
  const verdict = new WriteVerdict();
  return {
    verdict,
    locate: () => {
      verdict.assertWorthConnecting();
      return connectionConfig(location);
    },
    application_name: options.applicationName ?? "keyplane",
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEPALIVE_MS,
    types: COLUMN_TYPES,
  };
}

/** @param slots slots that requests of the management API take; if left out, they take none */
function databaseOn(pool: Connections, slots?: ManagementSlots): Kysely<Database> {
  const connect = () =>
    pool.connect().catch((error: unknown) => {
      throw asUnavailableOrRefused(error);
    });
  const asking = { options: pool.options, connect: slots === undefined ? connect : withSlot(slots, connect) };
  return new Kysely<Database>({ dialect: new PostgresDialect({ pool: { ...asking, end: () => pool.end() } }) });
}

/** Takes a slot before it connects, and gives it back with the connection. */
function withSlot(slots: ManagementSlots, connect: () => Promise<pg.PoolClient>): () => Promise<PostgresPoolClient> {
  return async () => {
    const end = await slots.take();
    try {
      const client = await connect();
      const release = (destroy = false) => {
        client.release(destroy);
        end();
      };
      // Of pg's overloads Kysely uses the plain one.
      return { query: client.query.bind(client), release } as PostgresPoolClient;
    } catch (error) {
      end();
      throw error;
    }
  };
}

/**
 * Opens a pool of connections.
 *
 * @param answerTimeoutMs 0 for no limit
 * @param settings of each connection's session
 */
function openPool(
  { verdict, ...connection }: pg.PoolConfig & TimeoutClientOptions & { readonly verdict: WriteVerdict },
  max: number,
  answerTimeoutMs: number,
  settings: readonly string[] = [],
): pg.Pool {
  const limit = answerTimeoutMs > 0 ? [`statement_timeout = ${Math.ceil(answerTimeoutMs * STATEMENT_SHARE)}`] : [];
  const pool = new pg.Pool({
    ...connection,
    Client: TimeoutClient,
    // What needs no answer is not waited for: the next statement is on its way before.
    pipeline: true,
    max,
    // What is given up here has ended in the database by then, whatever it waited for (threats c47).
    ...(answerTimeoutMs > 0 ? { query_timeout: answerTimeoutMs } : {}),
    // By statements: a pooler in between may refuse them as parameters of the connection's start.
    onConnect: (client) => verdict.noted(prepareSession(client, [...limit, ...settings])),
  });
  pool.on("error", () => {
    // An idle client lost its server. The pool has dropped it; the next question opens another or says what is wrong.
  });
  return pool;
}

async function listen(
  config: pg.ClientConfig,
  verdict: WriteVerdict,
  channel: string,
  onNotify: (payload: string) => void,
  onEnd: (error?: Error) => void,
): Promise<ListenConnection> {
  const socket = new Socket();
  const client = new pg.Client({ ...config, stream: () => socket });
  let over = false;
  const end = (error?: Error) => {
    if (over) return;
    over = true;
    socket.destroy();
    onEnd(error);
  };
  client.on("notification", (message) => {
    if (!over) onNotify(message.payload ?? "");
  });
  client.on("error", end);
  client.on("end", () => end());
  try {
    await client.connect();
    await within(PING_TIMEOUT_MS, verdict.noted(prepareSession(client)));
    await within(PING_TIMEOUT_MS, client.query(`listen ${client.escapeIdentifier(channel)}`));
  } catch (error) {
    over = true;
    socket.destroy();
    throw error;
  }
  return {
    async ping() {
      try {
        await within(PING_TIMEOUT_MS, assertTakesWrites(client));
      } catch (error) {
        end(error instanceof Error ? error : undefined);
        throw error;
      }
    },
    async close() {
      if (over) return;
      over = true;
      // Not end(): on a dead connection that waits for ever.
      socket.destroy();
    },
  };
}

async function within<T>(ms: number, answer: Promise<T>): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`the database did not answer within ${ms} ms`)), ms);
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
    answer.catch(() => {});
  }
}
