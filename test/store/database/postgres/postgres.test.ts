import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { change, type Db } from "../../../../store/database/change.ts";
import { DatabaseUnavailableError, ListenError, ServerVersionError } from "../../../../store/database/errors.ts";
import { assertListenWorks } from "../../../../store/database/migrate/listen-check.ts";
import { migrate } from "../../../../store/database/migrate/migrate.ts";
import { openPostgres } from "../../../../store/database/postgres/postgres.ts";
import { assertUsable } from "../../../../store/start-check.ts";
import { freshDatabase } from "../../../env/database/engines.ts";
import { delayNotifications, dropNotifications } from "../../../env/notifications.ts";
import { startTcpProxy } from "../../../env/tcp-proxy.ts";
import { until } from "../../../env/until.ts";

describe("A PostgreSQL that fails", () => {
  let url = "";
  let drop = async () => {};
  beforeAll(async () => {
    ({ url, drop } = await freshDatabase());
    const store = await openPostgres(url);
    await migrate(store);
    await store.close();
  });
  afterAll(() => drop());

  /** The same database through a proxy. */
  const through = async (makeFilter?: () => (bytes: Buffer) => Buffer) => {
    const direct = new URL(url);
    const proxy = await startTcpProxy({ host: direct.hostname, port: Number(direct.port) }, makeFilter);
    direct.hostname = "127.0.0.1";
    direct.port = String(proxy.port);
    return { proxy, url: direct.href };
  };
  const endOthers = async () => {
    const admin = await openPostgres(url, { applicationName: "admin" });
    await sql`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()`.execute(admin.db);
    await admin.close();
  };

  test("whose connections are cut, idle or in a transaction, ends no process; the next question is answered", async () => {
    const store = await openPostgres(url);
    await Promise.all([1, 2, 3].map(() => sql`select pg_sleep(0.05)`.execute(store.db)));
    await endOthers();
    const { rows } = await until("a new connection answers", () => sql`select 1 as one`.execute(store.db));
    expect(rows).toEqual([{ one: 1 }]);

    const inside = Promise.withResolvers<void>();
    const cut = Promise.withResolvers<void>();
    const write = change(store, null, async () => {
      inside.resolve();
      await cut.promise;
    });
    write.catch(() => {});
    await inside.promise;
    await endOthers();
    cut.resolve();
    await expect(write).rejects.toThrow(DatabaseUnavailableError);
    await until("a new connection answers", () => change(store, null, async () => "fine"));
    await store.close();
  });

  test("c31: a listening connection that the server ends says so at once, and one that we close does not", async () => {
    const store = await openPostgres(url);
    let ends = 0;
    const listen = () =>
      store.listen(
        "ended",
        () => {},
        () => ends++,
      );
    await (await listen()).close();
    const connection = await listen();
    await endOthers();
    await until("the end is reported", () => ends > 0);
    await expect(connection.ping()).rejects.toThrow();
    expect(ends).toBe(1);
    await store.close();
  });

  test("c74: whose URL cannot be read is an error of each question that wants a connection, until it can be read again", async (context) => {
    const folder = await mkdtemp(join(tmpdir(), "keyplane-url-"));
    const file = join(folder, "url");
    const store = await openPostgres({ url: { file } }, { maxConnections: 1 });
    context.onTestFinished(async () => {
      await store.close();
      await rm(folder, { recursive: true });
    });
    const ask = () => sql`select 1 as one`.execute(store.db);
    const listen = () =>
      store.listen(
        "moved",
        () => {},
        () => {},
      );
    // The second waits for the first one's connection, so that the pool makes another by itself.
    const asked: Promise<unknown>[] = [ask(), ask(), listen()];
    for (const error of await Promise.all(asked.map((one) => one.catch((thrown: unknown) => thrown)))) {
      expect(error).toBeInstanceOf(DatabaseUnavailableError);
      expect(String(error)).toMatch(/ENOENT.*url'$/);
    }
    await writeFile(file, `${url}\n`);
    expect((await ask()).rows).toEqual([{ one: 1 }]);
    await (await listen()).close();
  });

  test("c74: whose URL changes is asked by the new one by every new connection: of questions, the memory, a listener, a copy and one that is lent", async (context) => {
    const folder = await mkdtemp(join(tmpdir(), "keyplane-url-"));
    const file = join(folder, "url");
    await writeFile(file, `${url}?application_name=before`);
    const store = await openPostgres({ url: { file } });
    context.onTestFinished(async () => {
      await store.close();
      await rm(folder, { recursive: true });
    });
    const ask = async (db: Db) => {
      const { rows } = await sql<{ name: string }>`select current_setting('application_name') as name`.execute(db);
      return rows[0]?.name;
    };
    const listening = async () => {
      const listener = await store.listen(
        "renamed",
        () => {},
        () => {},
      );
      const { rows } = await sql<{ name: string }>`select application_name as name from pg_stat_activity
        where datname = current_database() and query = 'listen "renamed"'`.execute(store.db);
      await listener.close();
      return rows[0]?.name;
    };
    const copied = () =>
      store.db.transaction().execute(async (tx) => {
        const { rows } = await sql<{ id: string }>`select pg_export_snapshot() as id`.execute(tx);
        const taken: Buffer[] = [];
        await store.copyRows?.(
          { snapshot: rows[0]?.id ?? "", select: "select current_setting('application_name')", settings: {} },
          (row) => taken.push(Buffer.from(row)),
        );
        // Behind the count of the fields and the length of the one that there is.
        return taken[0]?.subarray(6).toString();
      });
    const askedBy = async () => ({
      question: await ask(store.db),
      memory: await store.memory.run({ teamId: "t", signal: new AbortController().signal }, ask),
      listener: await listening(),
      copy: await copied(),
      lent: await store.withConnection(ask),
    });
    const all = (name: string) => ({ question: name, memory: name, listener: name, copy: name, lent: name });
    expect(await askedBy()).toEqual(all("before"));
    await writeFile(file, `${url}?application_name=after`);
    await endOthers();
    expect(await until("new connections answer", askedBy)).toEqual(all("after"));
  });

  test("c64: the version is the one that was asked for", async () => {
    const store = await openPostgres(url);
    const { rows } = await sql<{ version: string }>`select current_setting('server_version') as version`.execute(
      store.db,
    );
    expect(rows[0]?.version.startsWith(process.env.KEYPLANE_TEST_POSTGRES ?? "")).toBe(true);
    await store.close();
  });

  test("c64: a server older than 15 is refused by its version, at the start and by migrate", async (context) => {
    const { url: older, drop } = await freshDatabase();
    const store = await openPostgres(older);
    context.onTestFinished(async () => {
      await store.close();
      await drop();
    });
    // No PostgreSQL 14 comes for every platform: here only what it says of itself is its.
    await sql`create schema older`.execute(store.db);
    await sql`create function older.current_setting(name text) returns text language sql as
      'select case name when ''server_version'' then ''14.9'' else ''140009'' end'`.execute(store.db);
    await sql`do $$ begin execute format('alter database %I set search_path = older, pg_catalog, public',
      current_database()); end $$`.execute(store.db);
    const old = await openPostgres(older);
    context.onTestFinished(() => old.close());
    for (const attempt of [() => assertUsable(old, []), () => migrate(old)]) {
      const refusal = attempt();
      await expect(refusal).rejects.toThrow(ServerVersionError);
      await expect(refusal).rejects.toThrow("the database is PostgreSQL 14.9, and 15 or later is needed");
    }
  });

  test.concurrent("c31: a listening connection into a black hole is found dead by a ping, within its time", async () => {
    const { proxy, url } = await through();
    const store = await openPostgres(url);
    const ended: unknown[] = [];
    const connection = await store.listen(
      "silence",
      () => {},
      (error) => ended.push(error),
    );
    await connection.ping();
    proxy.freeze();
    await expect(connection.ping()).rejects.toThrow(/did not answer/);
    expect(ended).toHaveLength(1);
    await connection.close();
    expect(ended).toHaveLength(1);
    await store.close();
    await proxy.close();
  });

  test.concurrent("c40: a connection into a black hole is given up, and another takes its place when the network is back", async () => {
    const { proxy, url } = await through();
    const store = await openPostgres(url, { answerTimeoutMs: 500, maxConnections: 1 });
    await until("an answer", () => sql`select 1`.execute(store.db));
    proxy.freeze();
    const error = await sql`select 1`.execute(store.db).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(DatabaseUnavailableError);
    expect(String(error)).toMatch(/timeout/);
    proxy.thaw();
    const { rows } = await until("an answer", () => sql`select 2 as two`.execute(store.db));
    expect(rows).toEqual([{ two: 2 }]);
    await store.close();
    await proxy.close();
  });

  test.concurrent("c36: that is down when we start is an error of the first question, within its time", async () => {
    const store = await openPostgres("postgres://postgres@127.0.0.1:9/none");
    const error = await sql`select 1`.execute(store.db).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(DatabaseUnavailableError);
    expect(String(error)).toMatch(/ECONNREFUSED/);
    await expect(
      store.listen(
        "x",
        () => {},
        () => {},
      ),
    ).rejects.toThrow(/ECONNREFUSED/);
    await store.close();
  });

  test.concurrent("c32, c64: a transaction pooler, which lets no notification through, is refused with that reason", async () => {
    const direct = await openPostgres(url);
    await assertListenWorks(direct);
    await direct.close();
    const { proxy, url: pooled } = await through(() => dropNotifications());
    const store = await openPostgres(pooled);
    await sql`select 1`.execute(store.db);
    const refusal = assertListenWorks(store);
    await expect(refusal).rejects.toThrow(ListenError);
    await expect(refusal).rejects.toThrow(/transaction pooler/);
    await expect(migrate(store)).rejects.toThrow(/transaction pooler/);
    await store.close();
    await proxy.close();
  });

  test.concurrent("c32: an echo that is read only after its time proves no transaction pooler: the process was stopped meanwhile", async () => {
    const { proxy, url: late } = await through(delayNotifications);
    const store = await openPostgres(late);
    await assertListenWorks(store);
    await store.close();
    await proxy.close();
  });

  test.concurrent("c32: a connection that breaks before the echo proves no transaction pooler", async () => {
    const dropped = Promise.withResolvers<void>();
    const { proxy, url: broken } = await through(() =>
      dropNotifications(() => {
        dropped.resolve();
        return true;
      }),
    );
    const store = await openPostgres(broken);
    const refusal = assertListenWorks(store);
    await Promise.all([
      expect(refusal).rejects.not.toBeInstanceOf(ListenError),
      dropped.promise.then(() => proxy.reset()),
    ]);
    await store.close();
    await proxy.close();
  });
});

test("A time is the same to PostgreSQL wherever the process runs, and when a zone was some seconds off", async (context) => {
  const { TZ } = process.env;
  const { url, drop } = await freshDatabase();
  const store = await openPostgres(url);
  context.onTestFinished(async () => {
    if (TZ === undefined) delete process.env.TZ;
    else process.env.TZ = TZ;
    await store.close();
    await drop();
  });
  process.env.TZ = "Europe/Berlin";
  for (const time of ["0001-01-01T00:00:00.000Z", "1880-01-01T00:00:00.000Z", "9999-12-31T23:59:59.999Z"]) {
    const { rows } = await sql<{ ms: number }>`
      select extract(epoch from ${new Date(time)}::timestamptz)::float8 * 1000 as ms`.execute(store.db);
    expect(new Date(Math.round(rows[0]?.ms ?? Number.NaN)).toISOString()).toBe(time);
  }
});
