import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { sql } from "kysely";
import pg from "pg";
import { expect, type TestContext, test } from "vitest";
import { change, type Db } from "../../../../store/database/change.ts";
import { DatabaseUnavailableError } from "../../../../store/database/errors.ts";
import { migrate } from "../../../../store/database/migrate/migrate.ts";
import { openPostgres, type PostgresOptions } from "../../../../store/database/postgres/postgres.ts";
import { preparedName, preparedStatement } from "../../../../store/database/prepared-statement.ts";
import type { Store } from "../../../../store/database/store.ts";
import { snapshot } from "../../../../store/feed/change-feed.ts";
import { assertUsable } from "../../../../store/start-check.ts";
import { freshDatabase } from "../../../env/database/engines.ts";
import { startOwnPostgres } from "../../../env/database/postgres.ts";
import { startTcpProxy } from "../../../env/tcp-proxy.ts";
import { until } from "../../../env/until.ts";

/** A database, with a store on few connections: what one is given up for has to be seen on the next. */
async function open(context: TestContext, options: PostgresOptions = { maxConnections: 1 }) {
  const { url, drop } = await freshDatabase();
  const [store, admin] = [await openPostgres(url, options), await openPostgres(url)];
  context.onTestFinished(async () => {
    await Promise.all([store.close(), admin.close()]);
    await drop();
  });
  await sql`create table written (id integer)`.execute(admin.db);
  const name = sql.id(new URL(url).pathname.slice(1));
  return {
    url,
    store,
    admin,
    /** As an administrator or a failover leaves it: for every session that begins from now on. */
    readOnly: (isOn: boolean) =>
      sql`alter database ${name} ${sql.raw(isOn ? "set default_transaction_read_only = on" : "reset default_transaction_read_only")}`.execute(
        admin.db,
      ),
  };
}

const write = (db: Db) => sql`insert into written values (1)`.execute(db);
const pid = async (db: Db) => (await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(db)).rows[0]?.pid;
const inMemory = <T>(store: Store, body: (db: Db) => Promise<T>) =>
  store.memory.run({ teamId: "t", signal: new AbortController().signal }, body);
const error = (asked: Promise<unknown>) =>
  asked.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );

/** What a session answers that no write can be made by any more, each with what has it answer so. */
const ANSWERS: Readonly<Record<string, { spoil(db: Db): Promise<unknown>; ask(db: Db): Promise<unknown> }>> = {
  "that it is read-only to a write": {
    spoil: (db) => sql`set default_transaction_read_only = on`.execute(db),
    ask: write,
  },
  "that it is read-only to a row's lock": {
    spoil: (db) => sql`set default_transaction_read_only = on`.execute(db),
    ask: (db) => sql`select from written for update`.execute(db),
  },
  "that it is read-only within a transaction": {
    spoil: (db) => sql`set default_transaction_read_only = on`.execute(db),
    ask: (db) => (db.isTransaction ? write(db) : db.transaction().execute(write)),
  },
  "that it does not know a statement that was prepared": {
    async spoil(db) {
      await sql`${preparedStatement} select 1 as one`.execute(db);
      await sql`discard all`.execute(db);
    },
    ask: (db) => sql`${preparedStatement} select 1 as one`.execute(db),
  },
  "that it knows a statement by that name that another session has prepared": {
    async spoil(db) {
      const { sql: text } = sql`${preparedStatement} select 1 as one`.compile(db);
      await sql`prepare ${sql.id(preparedName(text) ?? "")} as select 1`.execute(db);
    },
    ask: (db) => sql`${preparedStatement} select 1 as one`.execute(db),
  },
};

for (const [answer, { spoil, ask }] of Object.entries(ANSWERS)) {
  test(`c92: a connection that answers ${answer} is given up, its session ends, and the next one is asked`, async (context) => {
    const { store, admin } = await open(context);
    const ways: ((body: (db: Db) => Promise<unknown>) => Promise<unknown>)[] = [
      (body) => body(store.db),
      (body) => inMemory(store, body),
      (body) => store.withConnection((db) => db.connection().execute(body)),
    ];
    for (const way of ways) {
      let before: number | undefined;
      const asked = way(async (db) => {
        before = await pid(db);
        await spoil(db);
        await ask(db);
      });
      expect(await error(asked)).toBeInstanceOf(DatabaseUnavailableError);
      await until("the session is gone", async () => {
        const { rows } = await sql`select from pg_stat_activity where pid = ${before}`.execute(admin.db);
        return rows.length === 0;
      });
      await way(async (db) => {
        await ask(db);
        expect(await pid(db)).not.toBe(before);
      });
    }
  });
}

test("c92: a session that begins read-only is asked nothing: every question says so, until the database takes writes again", async (context) => {
  const { store, readOnly } = await open(context);
  await readOnly(true);
  const questions: (() => Promise<unknown>)[] = [
    () => write(store.db),
    () => pid(store.db),
    () => pid(store.unauthenticatedDb),
    () => inMemory(store, pid),
    () => store.withConnection(pid),
    () => migrate(store),
    () =>
      store.listen(
        "read_only",
        () => {},
        () => {},
      ),
  ];
  for (const question of questions) {
    const refusal = await error(question());
    expect(refusal).toBeInstanceOf(DatabaseUnavailableError);
    expect(String(refusal)).toMatch(/the database is read-only.*default_transaction_read_only/);
  }
  await readOnly(false);
  await until("writes are taken", () => write(store.db));
  await inMemory(store, write);
});

test("c94: while a database takes no writes, one connection in a quarter of a second finds that out for all questions, waiting ones too", async (context) => {
  const { url, readOnly } = await open(context);
  let connections = 0;
  const proxy = await startTcpProxy({ host: new URL(url).hostname, port: Number(new URL(url).port) }, () => {
    connections++;
    return (bytes) => bytes;
  });
  const store = await openPostgres(Object.assign(new URL(url), { hostname: "127.0.0.1", port: proxy.port }).href);
  context.onTestFinished(async () => {
    await store.close();
    await proxy.close();
  });
  const questions: (() => Promise<unknown>)[] = [
    () => pid(store.db),
    () => pid(store.unauthenticatedDb),
    () => inMemory(store, pid),
    () => store.withConnection(pid),
    () =>
      store.listen(
        "fenced",
        () => {},
        () => {},
      ),
  ];
  const askAll = async (times: number) => {
    const asked = Array.from({ length: times }, () => questions.map((question) => error(question()))).flat();
    for (const refusal of await Promise.all(asked)) {
      expect(refusal).toBeInstanceOf(DatabaseUnavailableError);
      expect(String(refusal)).toMatch(/the database is read-only.*default_transaction_read_only/);
    }
  };
  await readOnly(true);
  // More than connections, before anything is known: what waits for one is answered by what the first ones find.
  await Promise.all(Array.from({ length: 200 }, () => error(pid(store.unauthenticatedDb))));
  expect(connections).toBeLessThanOrEqual(10);
  await askAll(1);
  const [before, began] = [connections, performance.now()];
  for (let round = 0; round < 30; round++) {
    await askAll(4);
    await delay(20);
  }
  expect(connections - before).toBeLessThanOrEqual(1 + Math.ceil((performance.now() - began) / 250));
  expect(connections - before).toBeGreaterThan(0);
  await readOnly(false);
  await until("writes are taken", () => write(store.db));
  await Promise.all(questions.map((question) => question()));
});

test("c94: a database that is away after it took no writes is asked again as one that is away", async (context) => {
  const { url, readOnly } = await open(context);
  const proxy = await startTcpProxy({ host: new URL(url).hostname, port: Number(new URL(url).port) });
  const store = await openPostgres(Object.assign(new URL(url), { hostname: "127.0.0.1", port: proxy.port }).href);
  context.onTestFinished(async () => {
    await store.close();
    await proxy.close();
  });
  await readOnly(true);
  expect(String(await error(pid(store.db)))).toMatch(/read-only/);
  proxy.cut();
  await until("every question says that it is away", async () => {
    const said = await Promise.all(Array.from({ length: 4 }, () => error(pid(store.db))));
    return said.every((refusal) => !String(refusal).includes("read-only"));
  });
  await readOnly(false);
  proxy.thaw();
  await write(store.db);
});

test("c92: what only reads is asked by new connections, too, once a write has found the database read-only", async (context) => {
  const { store } = await open(context, { maxConnections: 3 });
  const held = Promise.withResolvers<void>();
  const lent = Promise.withResolvers<void>();
  const other = store.db.connection().execute(async (db) => {
    const before = await pid(db);
    lent.resolve();
    await held.promise;
    // What is under way goes on to its end.
    expect(await pid(db)).toBe(before);
    return before;
  });
  await lent.promise;
  const ofMemory = await inMemory(store, pid);
  const written = error(
    store.db.connection().execute(async (db) => {
      await sql`set default_transaction_read_only = on`.execute(db);
      await write(db);
    }),
  );
  expect(await written).toBeInstanceOf(DatabaseUnavailableError);
  expect(await inMemory(store, pid)).not.toBe(ofMemory);
  held.resolve();
  const before = await other;
  expect(await Promise.all([1, 2, 3].map(() => store.db.connection().execute(pid)))).not.toContain(before);
  await write(store.db);
});

test("c92: a snapshot is not read where nothing can be written", async (context) => {
  const { store, admin } = await open(context);
  await migrate(admin);
  await sql`set default_transaction_read_only = on`.execute(store.db);
  expect(await error(snapshot(store, () => {}))).toBeInstanceOf(DatabaseUnavailableError);
  expect((await snapshot(store, () => {})).head).toBe(0);
});

test("c92: a role that is read-only is the same as a database that is", async (context) => {
  const { url, admin } = await open(context);
  const role = sql.id(`reader_${new URL(url).pathname.slice(1)}`);
  await sql`create role ${role} login superuser password 'p'`.execute(admin.db);
  await sql`alter role ${role} set default_transaction_read_only = on`.execute(admin.db);
  const own = Object.assign(new URL(url), { username: `reader_${new URL(url).pathname.slice(1)}`, password: "p" });
  const store = await openPostgres(own.href);
  context.onTestFinished(async () => {
    await store.close();
    await sql`drop role ${role}`.execute(admin.db);
  });
  expect(await error(pid(store.db))).toBeInstanceOf(DatabaseUnavailableError);
  await sql`alter role ${role} reset default_transaction_read_only`.execute(admin.db);
  await until("writes are taken", () => write(store.db));
});

test("c92: a standby is asked nothing until it is promoted; and a primary that is fenced is left, also by the connection that listens", async (context) => {
  const server = await startOwnPostgres({}, (folder) => writeFile(join(folder, "standby.signal"), ""));
  const admin = new pg.Client({ connectionString: server.url });
  await admin.connect();
  const store = await openPostgres(server.url, { maxConnections: 1 });
  context.onTestFinished(async () => {
    await Promise.all([store.close(), admin.end()]);
    await server.stop();
  });
  const ended: unknown[] = [];
  const listen = () =>
    store.listen(
      "promoted",
      () => {},
      (reason) => ended.push(reason),
    );
  for (const question of [() => pid(store.db), () => inMemory(store, pid), listen, () => assertUsable(store, [])]) {
    const refusal = await error(question());
    expect(refusal).toBeInstanceOf(DatabaseUnavailableError);
    expect(String(refusal)).toMatch(/the database is a standby/);
  }
  await admin.query("select pg_promote()");
  await until("writes are taken", () => sql`create table written (id integer)`.execute(store.db));
  const connection = await listen();
  await connection.ping();

  const fence = async (statement: string) => {
    await admin.query(statement);
    await admin.query("select pg_reload_conf()");
  };
  await fence("alter system set default_transaction_read_only = on");
  await until("writes are refused", async () => (await error(write(store.db))) instanceof DatabaseUnavailableError);
  await expect(connection.ping()).rejects.toThrow(/read-only/);
  expect(ended).toHaveLength(1);
  await fence("alter system reset default_transaction_read_only");
  await until("writes are taken", () => write(store.db));
  await (await listen()).close();
});

test("c93: a process that stood still for too long finds its session ended as by a database that is away", async (context) => {
  const { store } = await open(context);
  for (const limit of ["idle_in_transaction_session_timeout", "idle_session_timeout"]) {
    const stand = async (db: Db) => {
      await sql`select set_config(${limit}, '100ms', false)`.execute(db);
      // What the server says meanwhile is read with the answer to the next question.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 400);
      await sql`select 1`.execute(db);
    };
    const asked = limit.includes("transaction")
      ? store.db.transaction().execute(stand)
      : store.db.connection().execute(stand);
    expect(await error(asked)).toBeInstanceOf(DatabaseUnavailableError);
  }
});

test("c93: a transaction whose client is gone without a word ends, with its locks, in seconds: of a change, the memory, upkeep and others", async (context) => {
  const { url, admin } = await open(context);
  await migrate(admin);
  const proxy = await startTcpProxy({ host: new URL(url).hostname, port: Number(new URL(url).port) });
  const gone = await openPostgres(Object.assign(new URL(url), { hostname: "127.0.0.1", port: proxy.port }).href);
  context.onTestFinished(async () => {
    await gone.close();
    await proxy.close();
  });
  await sql`insert into written values (1), (2), (3), (4)`.execute(admin.db);
  const held: Promise<unknown>[] = [];
  const { promise: over, resolve: end } = Promise.withResolvers<void>();
  const hold = (row: number) => {
    const { promise: holds, resolve } = Promise.withResolvers<void>();
    held.push(holds);
    return async (tx: Db) => {
      await sql`select from written where id = ${row} for update`.execute(tx);
      resolve();
      await over;
    };
  };
  const transactions = [
    change(gone, null, hold(1)),
    inMemory(gone, (db) => db.transaction().execute(hold(2))),
    gone.backgroundDb.transaction().execute(hold(3)),
    gone.withConnection((db) => db.transaction().execute(hold(4))),
  ];
  for (const transaction of transactions) transaction.catch(() => {});
  await Promise.all(held);
  proxy.freeze();
  await sql`update written set id = id + 10`.execute(admin.db).finally(() => {
    proxy.cut();
    end();
  });
  await Promise.allSettled(transactions);
});
