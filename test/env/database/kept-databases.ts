import pg from "pg";
import { openPools, openPostgres, type PostgresOptions } from "../../../store/database/postgres/postgres.ts";
import type { Connections } from "../../../store/database/postgres/postgres-memory.ts";
import type { Store } from "../../../store/database/store.ts";
import type { CreatedDatabase } from "./databases.ts";

/** Of each process; further ones are dropped. */
const MAX_IDLE = 2;

/** Connections of a pool that stay open while they are idle: the server takes 200 of all processes. */
const FEW = 3;

/** Bytes: PostgreSQL plans a smaller table that was never analyzed as one of ten pages. */
const LIKE_EMPTY = 10 * 8_192;

type KeptDatabase = CreatedDatabase & {
  readonly pools: ReturnType<typeof openPools>;
  /** One connection that empties it: there every plan is dropped, and the others keep theirs. */
  readonly keeper: pg.Pool;
  /** Tells whether its schema, statistics and settings are those that it was made with. */
  catalogue: string;
  /** Brings the rows of these tables, which are those that have any, back to those that it was made with. */
  readonly emptying: (tables: ReadonlySet<string>) => string;
};

/**
 * Databases of the present schema that the test files of a process use one after the other, emptied in between: to make
 * one, and to connect to it for the first time, takes PostgreSQL longer than most files' tests do.
 */
export class KeptDatabases {
  readonly #idle: KeptDatabase[] = [];
  readonly #make: () => Promise<CreatedDatabase>;
  readonly #options: PostgresOptions;
  readonly #socketFolder: string | undefined;
  /** Of each of them: they are copies of one database. */
  #emptying: Promise<KeptDatabase["emptying"]> | undefined;

  /**
   * @param options of the connections, which are kept too
   * @param socketFolder of the Unix socket over which they ask, where there is one
   */
  constructor(make: () => Promise<CreatedDatabase>, options: PostgresOptions, socketFolder?: string) {
    this.#make = make;
    this.#options = options;
    this.#socketFolder = socketFolder;
  }

  /** Opens a store on an empty database. Once it is closed, it answers nothing and the database is another's. */
  async open(): Promise<Store> {
    const kept = this.#idle.pop() ?? (await this.#makeOne());
    const all = lend(kept.pools.all);
    const memory = lend(kept.pools.memory);
    const store = await openPostgres(kept.url, this.#options, { ...kept.pools, all, memory });
    return {
      ...store,
      close: async () => {
        await Promise.all([store.close(), all.end(), memory.end()]);
        await this.#takeBack(kept);
      },
    };
  }

  async #makeOne(): Promise<KeptDatabase> {
    const database = await this.#make();
    const near = new URL(database.url);
    if (this.#socketFolder !== undefined) near.searchParams.set("host", this.#socketFolder);
    const pools = openPools(near.href, this.#options);
    // New connections in their place would read the catalogue and plan everything anew.
    if (pools.all.options.max <= FEW) pools.all.options.idleTimeoutMillis = 0;
    const keeper = new pg.Pool({ connectionString: near.href, max: 1, idleTimeoutMillis: 0, allowExitOnIdle: true });
    // Of an idle connection whose server is gone: the next question fails.
    keeper.on("error", () => {});
    this.#emptying ??= emptyingOf(keeper);
    return { ...database, pools, keeper, catalogue: await catalogueOf(keeper), emptying: await this.#emptying };
  }

  async #takeBack(kept: KeptDatabase): Promise<void> {
    if (this.#idle.length < MAX_IDLE && (await catalogueOf(kept.keeper)) === kept.catalogue) {
      await this.#empty(kept);
      this.#idle.push(kept);
      return;
    }
    await Promise.all([kept.pools.all.end(), kept.pools.memory.end(), kept.keeper.end()]);
    await kept.drop();
  }

  async #empty(kept: KeptDatabase): Promise<void> {
    const { rows } = await kept.keeper.query<{ name: string; size: string }>(
      `select oid::regclass::text as name, pg_relation_size(oid) as size from pg_class
        where relkind = 'r' and relnamespace = 'public'::regnamespace and pg_relation_size(oid) > 0`,
    );
    const large = rows.filter(({ size }) => Number(size) > LIKE_EMPTY).map(({ name }) => name);
    if (large.length > 0) await kept.keeper.query(`truncate ${large.join(", ")} cascade`);
    await kept.keeper.query(kept.emptying(new Set(rows.map(({ name }) => name))));
    if (large.length > 0) kept.catalogue = await catalogueOf(kept.keeper);
    await Promise.all([kept.keeper, kept.pools.all, kept.pools.memory].map(tellOfAll));
  }
}

/** Has each connection tell now what it has scanned so far: it would up to ten seconds later, in another's tests. */
async function tellOfAll(pool: pg.Pool): Promise<void> {
  const clients = await Promise.all(Array.from({ length: pool.totalCount }, () => pool.connect()));
  await Promise.all(clients.map((client) => client.query("select pg_stat_force_next_flush()")));
  for (const client of clients) client.release();
}

/** A pool's connections until this is ended, which waits for those that are out. */
function lend(pool: pg.Pool): Connections {
  const out = new Set<Promise<void>>();
  let isOver = false;
  async function connect(): Promise<pg.PoolClient> {
    if (isOver) throw new Error("the store is closed");
    const back = Promise.withResolvers<void>();
    out.add(back.promise);
    const giveBack = () => {
      out.delete(back.promise);
      back.resolve();
    };
    try {
      const client = await pool.connect();
      // The pool sets it anew whenever it lends a client.
      const release = client.release;
      client.release = (destroy) => {
        release(destroy);
        giveBack();
      };
      return client;
    } catch (error) {
      giveBack();
      throw error;
    }
  }
  return {
    options: pool.options,
    connect,
    async end() {
      isOver = true;
      while (out.size > 0) await Promise.all(out);
    },
  };
}

/** What a test may have changed besides rows: a row of the catalogue that is written has another `xmin`. */
async function catalogueOf(pool: pg.Pool): Promise<string> {
  const state = "count(*) || ' ' || max(xmin::text::bigint)";
  const { rows } = await pool.query(`select concat_ws(' ',
    (select ${state} from pg_class where relnamespace = 'public'::regnamespace),
    (select ${state} from pg_proc where pronamespace = 'public'::regnamespace),
    (select ${state} from pg_trigger),
    (select ${state} from pg_constraint),
    (select count(*) from pg_namespace), (select count(*) from pg_extension),
    (select count(*) from pg_statistic where starelid > 16383),
    (select count(*) from pg_db_role_setting)) as catalogue`);
  return rows[0].catalogue;
}

async function emptyingOf(pool: pg.Pool): Promise<KeptDatabase["emptying"]> {
  const tables = await namesOf(
    pool,
    "select oid::regclass::text as name from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace",
  );
  const counters = await namesOf(
    pool,
    `select format('setval(%L, %s, %L)', format('%I.%I', schemaname, sequencename), coalesce(last_value, start_value),
       last_value is not null) as name from pg_sequences where schemaname = 'public'`,
  );
  const rows = await Promise.all(
    tables.map((table) =>
      namesOf(pool, `select quote_literal(json_agg(t)::text) as name from ${table} t having count(*) > 0`),
    ),
  );
  const filled = new Map(tables.flatMap((table, i) => (rows[i] ?? []).map((json) => [table, json] as const)));
  const refilling = [...filled].map(
    ([table, json]) =>
      `insert into ${table} overriding system value select * from json_populate_recordset(null::${table}, ${json})`,
  );
  return (used) =>
    [
      "begin",
      // Neither triggers nor foreign keys.
      "set local session_replication_role = replica",
      ...tables.filter((table) => used.has(table) || filled.has(table)).map((table) => `delete from ${table}`),
      ...refilling,
      ...counters.map((counter) => `select ${counter}`),
      "commit",
    ].join(";\n");
}

async function namesOf(pool: pg.Pool, question: string): Promise<string[]> {
  const { rows } = await pool.query<{ name: string }>(question);
  return rows.map(({ name }) => name);
}
