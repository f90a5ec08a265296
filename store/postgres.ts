import { hash } from "node:crypto";
import { Socket } from "node:net";
import { Kysely, PostgresDialect, sql } from "kysely";
import pg from "pg";
import { copyRows } from "./copy.ts";
import { DatabaseAwayError, sqlState } from "./errors.ts";
import type { ListenConnection, Store } from "./open.ts";
import type { Database } from "./schema.ts";

export type PostgresOptions = {
  readonly maxConnections?: number;
  /** Milliseconds after which a statement without an answer gives its connection up; 0 for never. */
  readonly answerTimeoutMs?: number;
  /** Shown in `pg_stat_activity`. */
  readonly applicationName?: string;
};

const CONNECT_TIMEOUT_MS = 5_000;
const ANSWER_TIMEOUT_MS = 10_000;
const PING_TIMEOUT_MS = 2_000;
const KEEPALIVE_MS = 10_000;

const INT8 = 20;

/** `bigint` as number: none of ours passes 2^53. */
const TYPES: pg.CustomTypesConfig = {
  getTypeParser: (oid: number, format?: "text" | "binary") =>
    oid === INT8 ? Number : pg.types.getTypeParser(oid, format),
};

const PLANNED_ONCE = "/* planned once */";
/**
 * Begins a statement that is asked all the time, and that takes longer to plan than to run: each connection plans it once.
 * It has to name its columns, since a plan that is kept can give no others after a migration.
 */
export const plannedOnce = sql.raw(PLANNED_ONCE);

/** What pg takes for a statement that it is to prepare under a name. */
function prepared(args: readonly unknown[]): readonly unknown[] {
  const [text, values] = args;
  if (typeof text !== "string" || !text.startsWith(PLANNED_ONCE)) return args;
  return [{ name: hash("md5", text), text, values }];
}

/**
 * A pool's client that gives its socket up when an answer does not come. Without this a connection into the void would
 * go back to the pool, and TCP alone takes a quarter of an hour to find out (threats c40).
 */
class ImpatientClient extends pg.Client {
  constructor(config: pg.ClientConfig = {}) {
    const socket = new Socket();
    super({ ...config, stream: () => socket });
    this.on("error", () => {
      // Whoever was asking gets the error; the pool drops the client. Unhandled, the event would end the process.
    });
    this.#giveUp = () => {
      // Tells the pool at once; the socket's own end comes only after the pool has taken the client back.
      this.end().catch(() => {});
      socket.destroy();
    };
  }

  readonly #giveUp: () => void;

  // pg's own signature is a set of overloads over callbacks, promises and cursors; all are passed through as they come.
  override query(...args: unknown[]): never {
    const asked: unknown = Reflect.apply(super.query, this, prepared(args));
    if (!(asked instanceof Promise)) return asked as never;
    return asked.catch((error: unknown) => {
      if (error instanceof Error && error.message === "Query read timeout") this.#giveUp();
      throw awayOr(error);
    }) as never;
  }
}

/** SQLSTATEs of a server that is going, coming or full; and their class of broken connections. */
const AWAY: ReadonlySet<string> = new Set(["57P01", "57P02", "57P03", "53300"]);
const BROKEN_CONNECTION = /^08/;

/** What the server itself says of a statement stays as it is; that nothing can be heard of it is one error. */
function awayOr(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof TypeError) return error;
  const state = error instanceof pg.DatabaseError ? (sqlState(error) ?? "") : undefined;
  if (state !== undefined && !AWAY.has(state) && !BROKEN_CONNECTION.test(state)) return error;
  return new DatabaseAwayError(`the database does not answer: ${error.message || sqlState(error)}`, { cause: error });
}

export async function openPostgresDatabase(url: string, options: PostgresOptions): Promise<Store> {
  const connection: pg.ClientConfig = {
    connectionString: url,
    application_name: options.applicationName ?? "keyplane",
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEPALIVE_MS,
    types: TYPES,
  };
  const answerTimeoutMs = options.answerTimeoutMs ?? ANSWER_TIMEOUT_MS;
  const pool = new pg.Pool({
    ...connection,
    Client: ImpatientClient,
    max: options.maxConnections ?? 10,
    ...(answerTimeoutMs > 0 ? { query_timeout: answerTimeoutMs } : {}),
  });
  pool.on("error", () => {
    // An idle client lost its server. The pool has dropped it; the next question opens another or says what is wrong.
  });
  const connect = () =>
    pool.connect().catch((error: unknown) => {
      throw awayOr(error);
    });
  const asking = { options: pool.options, connect, end: () => pool.end() };
  const db = new Kysely<Database>({ dialect: new PostgresDialect({ pool: asking }) });
  return {
    db,
    engine: "postgres",
    listen: (channel, onNotify, onEnd) => listen(connection, channel, onNotify, onEnd),
    copyRows: (question, take) =>
      copyRows(connection, answerTimeoutMs || ANSWER_TIMEOUT_MS, question, take).catch((error: unknown) => {
        throw awayOr(error);
      }),
    close: () => db.destroy(),
  };
}

async function listen(
  config: pg.ClientConfig,
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
    await within(PING_TIMEOUT_MS, client.query(`listen ${client.escapeIdentifier(channel)}`));
  } catch (error) {
    over = true;
    socket.destroy();
    throw error;
  }
  return {
    async ping() {
      try {
        await within(PING_TIMEOUT_MS, client.query("select 1"));
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
