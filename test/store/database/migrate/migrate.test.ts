import { setTimeout as delay } from "node:timers/promises";
import { sql } from "kysely";
import pg from "pg";
import { describe, expect, type TestContext, test } from "vitest";
import { searchAtoms } from "../../../../memory/store/search/atom-search.ts";
import { insertAtom } from "../../../../memory/store/writes/atom-writes.ts";
import { EncodingError, SchemaVersionError } from "../../../../store/database/errors.ts";
import {
  assertSchemaVersion,
  migrate,
  planMigration,
  SCHEMA_VERSION,
} from "../../../../store/database/migrate/migrate.ts";
import { openPostgres } from "../../../../store/database/postgres/postgres.ts";
import type { Store } from "../../../../store/database/store.ts";
import {
  databaseUrl,
  describeNightlyOnEachEngine,
  freshDatabase,
  migratedDatabase,
  openMigrated,
} from "../../../env/database/engines.ts";
import { migrateAsPrevious } from "../../../env/database/previous-version.ts";
import { until } from "../../../env/until.ts";
import { addTeamsWithLibraries } from "../../../memory/libraries.ts";
import { PLAIN } from "../../../memory/store/plain-atom.ts";
import { startReplica } from "../../../server/key-index/replica-fixtures.ts";
import { dumpSchema } from "../schema-dump.ts";

describeNightlyOnEachEngine("A schema", (store) => {
  const pretend = (version: number) =>
    sql`insert into schema_migrations (version, name) values (${version}, 'later')`.execute(store().db);
  const forget = () => sql`delete from schema_migrations where version > ${SCHEMA_VERSION}`.execute(store().db);

  test("of this build's version is accepted, and migrating it again changes nothing", async () => {
    await assertSchemaVersion(store());
    const before = await store().db.selectFrom("schema_migrations").selectAll().execute();
    await migrate(store());
    expect(await store().db.selectFrom("schema_migrations").selectAll().execute()).toEqual(before);
    expect(before.at(-1)).toMatchObject({ version: SCHEMA_VERSION });
  });

  test("c42: one version newer is accepted, for a rolling upgrade; two are refused, saying what to do", async () => {
    await pretend(SCHEMA_VERSION + 1);
    await assertSchemaVersion(store());
    await pretend(SCHEMA_VERSION + 2);
    await expect(assertSchemaVersion(store())).rejects.toThrow(/upgrade/);
    await forget();
  });

  test("c42: one version newer is left as it is by migrate, which who goes back runs first", async () => {
    await pretend(SCHEMA_VERSION + 1);
    const before = await dumpSchema(store().db);
    const indexes = [{ name: "that_the_newer_took_away", on: "teams (name)" }];
    const migrations = [{ version: SCHEMA_VERSION, name: "schema", script: "", indexes }];
    const nothing = { from: SCHEMA_VERSION + 1, to: SCHEMA_VERSION + 1, migrations: [] };
    expect(await migrate(store(), { migrations })).toEqual(nothing);
    expect(await planMigration(store())).toEqual(nothing);
    expect(await dumpSchema(store().db)).toBe(before);
    await forget();
  });

  test("c47: two versions newer is refused by migrate, which changes nothing", async () => {
    await pretend(SCHEMA_VERSION + 2);
    await expect(migrate(store())).rejects.toThrow(SchemaVersionError);
    await expect(planMigration(store())).rejects.toThrow(/use the newer keyplane/);
    await forget();
  });

  test("older than needed is refused, saying what to run", async () => {
    await sql`delete from schema_migrations`.execute(store().db);
    await pretend(SCHEMA_VERSION - 1);
    await expect(assertSchemaVersion(store())).rejects.toThrow(/run keyplane migrate/);
  });
});

describe("A database without a schema", () => {
  test("is refused, saying what to run", async () => {
    const { url, drop } = await freshDatabase();
    const store = await openPostgres(url);
    await expect(assertSchemaVersion(store)).rejects.toThrow(SchemaVersionError);
    await store.close();
    await drop();
  });
});

describe.concurrent("A database of another encoding", () => {
  /** A database that knows no Unicode, beside one that the test has. */
  async function databaseIn(encoding: string, context: TestContext): Promise<Store> {
    const { url, drop } = await freshDatabase();
    const name = `${new URL(url).pathname.slice(1)}_${encoding.toLowerCase()}`;
    const beside = await openPostgres(url);
    await sql`create database ${sql.id(name)} encoding ${sql.lit(encoding)} locale 'C' template template0`.execute(
      beside.db,
    );
    const other = new URL(url);
    other.pathname = `/${name}`;
    const store = await openPostgres(other.href);
    context.onTestFinished(async () => {
      await store.close();
      await sql`drop database ${sql.id(name)}`.execute(beside.db);
      await beside.close();
      await drop();
    });
    return store;
  }

  test("is refused by migrate, which makes nothing", async (context) => {
    const store = await databaseIn("LATIN1", context);
    const refusal = migrate(store);
    await expect(refusal).rejects.toThrow(EncodingError);
    await expect(refusal).rejects.toThrow("the database's encoding is LATIN1, and UTF8 is needed");
    const { rows } = await sql`select from pg_tables where schemaname = 'public'`.execute(store.db);
    expect(rows).toEqual([]);
  });

  test("that knows bytes alone is taken, and searched by the words as they are", async (context) => {
    const store = await databaseIn("SQL_ASCII", context);
    const lines: string[] = [];
    await migrate(store, { onProgress: (line) => lines.push(line) });
    expect(lines.at(-1)).toContain("the database's encoding is SQL_ASCII");
    await addTeamsWithLibraries(store);
    const content = "Die Schlüsselrotation läuft jede Nacht. 夜間に鍵を回転する";
    const reach = { teamId: "team-a", libraryIds: null };
    await insertAtom(store.db, reach, { ...PLAIN, content, libraryId: "lib-diary", at: Date.now() });
    for (const query of ["nacht", "Schlüsselrotation", "回転", "schlusselrotatoin"]) {
      const { items: found } = await searchAtoms(store.db, reach, { libraryId: "lib-diary", query, limit: 10 });
      if (query === "nacht") expect(found.map(({ atom }) => atom.content)).toEqual([content]);
    }
  });
});

describe.concurrent("Migrations at once", () => {
  test("by several processes are done once", async () => {
    const { url, drop } = await freshDatabase();
    const stores = await Promise.all([1, 2, 3, 4].map(() => openPostgres(url)));
    await Promise.all(stores.map((store) => migrate(store)));
    await Promise.all(stores.map((store) => assertSchemaVersion(store)));
    await Promise.all(stores.map((store) => store.close()));
    await drop();
  });

  test("that fail leave nothing of themselves, and those before them stand", async () => {
    const { url, drop } = await freshDatabase();
    const store = await openPostgres(url);
    await sql`create table replicas ()`.execute(store.db);
    const steps = [
      { version: 1, name: "first", script: "create table one ()" },
      { version: 2, name: "second", script: "create table two (); create table replicas ()" },
    ];
    await expect(migrate(store, { migrations: steps })).rejects.toThrow(/replicas/);
    const { rows } = await sql<{ name: string }>`
      select tablename as name from pg_tables where schemaname = 'public' order by 1`.execute(store.db);
    expect(rows.map(({ name }) => name)).toEqual(["one", "replicas", "schema_migrations"]);
    expect(await planMigration(store, steps)).toMatchObject({ from: 1, to: 2, migrations: [{ name: "second" }] });
    await store.close();
    await drop();
  });
});

describe.concurrent("c47: A migration beside others", () => {
  const steps = [
    { version: 1, name: "table", script: "create table busy (id integer); insert into busy values (1)" },
    { version: 2, name: "column", script: "alter table busy add column more text" },
  ];

  /** A database at the first step, and a reader whose transaction stays open, as pg_dump does. */
  async function withReader(context: TestContext) {
    const { url, drop } = await freshDatabase();
    const store = await openPostgres(url);
    await migrate(store, { migrations: steps.slice(0, 1) });
    const reader = new pg.Client({ connectionString: url, application_name: "pg_dump" });
    await reader.connect();
    context.onTestFinished(async () => {
      await store.close();
      await reader.end();
      await drop();
    });
    await reader.query("begin");
    await reader.query("select id, 'a secret' from busy");
    return { url, store, reader };
  }
  const queued = async (store: Store) => {
    const { rows } = await sql<{ n: number }>`select count(*)::int as n from pg_locks
      where not granted and database = (select oid from pg_database where datname = current_database())`.execute(
      store.db,
    );
    return rows[0]?.n;
  };

  test("gives way before a server that waits for it, and that it waits for, is ended by a deadlock", async (context) => {
    const { store, reader } = await withReader(context);
    await sql`create table other (id integer)`.execute(store.db);
    const crossing = {
      ...{ version: 2, name: "columns" },
      script: "alter table other add column more text; alter table busy add column more text",
    };
    const migrating = migrate(store, { migrations: [...steps.slice(0, 1), crossing] });
    await until("it waits for the server", async () => (await queued(store)) === 1, { longestPauseMs: 10 });
    // The migration has looked for a deadlock, and found none yet.
    await delay(150);
    expect((await reader.query("select id from other")).rows).toEqual([]);
    await reader.query("commit");
    expect((await migrating).to).toBe(2);
  });

  test("waits for a reader out of the way of everybody else, says for whom, and goes on when it has ended", async (context) => {
    const { store, reader } = await withReader(context);
    const lines: string[] = [];
    const migrating = migrate(store, { migrations: steps, lockTimeoutMs: 200, onProgress: (line) => lines.push(line) });
    const held = /^002-column cannot have a lock, held by pid \d+ \("pg_dump", idle in transaction, its query/;
    await until(
      "it has tried again, and said for whom it waits",
      () => lines.length >= 2 && lines.some((line) => held.test(line)),
    );
    const { rows } = await sql`select id from busy`.execute(store.db);
    expect(rows).toHaveLength(1);
    await reader.query("commit");
    expect(await migrating).toEqual({ from: 1, to: 2, migrations: [{ version: 2, name: "column" }] });
    expect(lines.at(-1)).toMatch(/^002-column applied in /);
  });

  test("gives up saying who is in its way, and leaves nothing that others queue behind", async (context) => {
    const { store } = await withReader(context);
    const failure = await migrate(store, { migrations: steps, lockTimeoutMs: 1_000, timeoutMs: 500 }).catch(String);
    expect(failure).toMatch(/gave up after 0.5 s: 002-column .* held by pid \d+ \("pg_dump"/);
    expect(failure).not.toContain("a secret");
    expect(await queued(store)).toBe(0);
    expect(await planMigration(store, steps)).toMatchObject({ from: 1, to: 2 });
  });

  test("keeps a replica current all the while, although its own table is to be altered", async (context) => {
    const made = await openMigrated();
    const { href: url } = await databaseUrl(made);
    const store = await openPostgres(url);
    const { view, replica } = startReplica(store);
    const backup = new pg.Client({ connectionString: url });
    await backup.connect();
    context.onTestFinished(async () => {
      await replica.close();
      await backup.end();
      await store.close();
      await made.close();
    });
    await until("the replica is current", () => view.isCurrent());
    await backup.query("begin");
    await backup.query("select * from replicas, feed, changes");
    const next = { version: SCHEMA_VERSION + 1, name: "next", script: "alter table replicas add column more text" };
    let waits = 0;
    let lapses = 0;
    const watch = setInterval(() => {
      if (!view.isCurrent()) lapses++;
    }, 5);
    const migrating = migrate(store, { migrations: [next], onProgress: () => waits++ });
    await until("it has tried three times", () => waits >= 3);
    await backup.query("commit");
    expect(await migrating).toMatchObject({ to: SCHEMA_VERSION + 1 });
    clearInterval(watch);
    expect(lapses).toBe(0);
  });

  test("lets atoms be read and saved while an index of them is made, however many there are", async (context) => {
    const { url, drop } = await migratedDatabase();
    const store = await openPostgres(url);
    const other = new pg.Client({ connectionString: url, statement_timeout: 1_000 });
    const writer = new pg.Client({ connectionString: url });
    await writer.connect();
    await other.connect();
    context.onTestFinished(async () => {
      await store.close();
      await writer.end();
      await other.end();
      await drop();
    });
    const save = (tag: string) =>
      other.query(`insert into atoms (library_id, team_id, content, tags, importance, created_at, updated_at)
        values ('lib_a', 'team_a', 'remembered', '{${tag}}', 0.5, now(), now())`);
    await other.query(`insert into teams (id, cluster, name, display_name, state, generation)
      values ('team_a', 'local', 'agents', 'Agents', 'active', 1);
      insert into libraries (id, cluster, namespace, name, team_id, display_name, description, deletion_policy, state)
      values ('lib_a', 'local', 'dev', 'notes', 'team_a', 'Notes', '', 'Retain', 'active')`);
    await save("first");
    const indexes = [{ name: "atoms_by_source", on: "atoms (library_id, source)" }];
    const next = { version: SCHEMA_VERSION + 1, name: "next", script: "", indexes };
    // Stands for an index that takes long: it is not made before the transactions that write its table have ended.
    await writer.query(`begin; update atoms set importance = 1`);
    const migrating = migrate(store, { migrations: [next] });
    await until("an index of atoms is under way", async () => {
      const { rows } = await other.query(`select from pg_stat_activity
        where datname = current_database() and application_name = 'keyplane migrate' and query like '%create index% on atoms %'`);
      return rows.length === 1;
    });
    await save("quick");
    expect((await other.query("select id from atoms")).rows).toHaveLength(2);
    await writer.query("commit");
    expect(await migrating).toMatchObject({ to: SCHEMA_VERSION + 1 });
  });

  test("makes an index anew whose making was broken off, and says for whom it waits", async (context) => {
    const { store, reader } = await withReader(context);
    const indexes = [{ name: "busy_by_id", on: "busy (id)" }];
    const indexed = [{ version: 1, name: "table", script: "", indexes }];
    await reader.query("commit");
    const isUsable = async () => {
      const { rows } = await sql<{ usable: boolean }>`select indisvalid as usable from pg_index
        where indexrelid = to_regclass('busy_by_id')`.execute(store.db);
      return rows[0]?.usable;
    };
    await migrate(store, { migrations: indexed });
    expect(await isUsable()).toBe(true);
    await sql`update pg_index set indisvalid = false where indexrelid = 'busy_by_id'::regclass`.execute(store.db);
    await reader.query("begin; select id from busy");
    const lines: string[] = [];
    const migrating = migrate(store, {
      migrations: indexed,
      lockTimeoutMs: 200,
      onProgress: (line) => lines.push(line),
    });
    await until("it says for whom it waits", () => lines.length > 0);
    expect(lines[0]).toMatch(/^the index busy_by_id waits, held by pid \d+ \("pg_dump", idle in transaction/);
    await reader.query("commit");
    await migrating;
    expect(lines.at(-1)).toMatch(/^the index busy_by_id made in /);
    expect(await isUsable()).toBe(true);
  });

  test("c129: drops the index that another one replaces, also once that was made and it was broken off", async (context) => {
    const { store, reader } = await withReader(context);
    await reader.query("commit");
    await sql`create index busy_by_id_before on busy (id)`.execute(store.db);
    const indexes = [{ name: "busy_by_id", on: "busy (id)" }];
    await migrate(store, { migrations: [{ version: 1, name: "table", script: "", indexes }] });
    const replacing = indexes.map((index) => ({ ...index, replaces: "busy_by_id_before" }));
    await migrate(store, { migrations: [{ version: 1, name: "table", script: "", indexes: replacing }] });
    const { rows } = await sql<{ name: string }>`select relname as name from pg_class
      where relname like 'busy_by_id%'`.execute(store.db);
    expect(rows).toEqual([{ name: "busy_by_id" }]);
  });

  test("of this build waits for a controller's write without holding what that still needs", async (context) => {
    const { url, drop } = await freshDatabase();
    const store = await openPostgres(url);
    const controller = new pg.Client({ connectionString: url });
    await controller.connect();
    context.onTestFinished(async () => {
      await store.close();
      await controller.end();
      await drop();
    });
    await migrateAsPrevious(store);
    await sql`insert into leaders (cluster, epoch) values ('local', 1)`.execute(store.db);
    await controller.query("begin; select from leaders for share");
    const migrating = migrate(store);
    type Lock = { granted: boolean; relation: string | null; mode: string };
    const locks = await until("the migration waits for it", async () => {
      const { rows } = await sql<Lock>`select granted, relation::regclass::text, mode from pg_locks where pid in
        (select pid from pg_stat_activity where datname = current_database() and application_name = 'keyplane migrate')
        `.execute(store.db);
      return rows.some(({ granted }) => !granted) ? rows : undefined;
    });
    await controller.query("commit");
    expect(await migrating).toMatchObject({ to: SCHEMA_VERSION });
    // Where it held another table, each write of a controller that needs it would wait for the migration, and it for that.
    const held = locks.filter(({ granted, mode }) => granted && mode === "AccessExclusiveLock");
    expect(held.map(({ relation }) => relation)).toEqual([]);
  });

  test("waits for another migration, and says so", async (context) => {
    const { url, store, reader } = await withReader(context);
    const first = migrate(store, { migrations: steps, lockTimeoutMs: 200 });
    await until("the first is at work", async () => {
      const { rows } = await sql`select from pg_stat_activity
        where application_name = 'keyplane migrate' and query like 'alter%'
        and datname = current_database()`.execute(store.db);
      return rows.length === 1;
    });
    const other = await openPostgres(url);
    context.onTestFinished(() => other.close());
    const lines: string[] = [];
    const second = migrate(other, { migrations: steps, onProgress: (line) => lines.push(line) });
    await until("the second waits", () => lines.length > 0);
    expect(lines[0]).toMatch(/^another migration is under way, held by pid \d+ \("keyplane migrate"/);
    await reader.query("commit");
    expect(await first).toMatchObject({ from: 1, migrations: [{ version: 2 }] });
    expect(await second).toMatchObject({ from: 2, to: 2, migrations: [] });
  });

  test("has no time limit on its statements, whatever the pools have", async () => {
    const { url, drop } = await freshDatabase();
    const store = await openPostgres(url, { answerTimeoutMs: 300 });
    await migrate(store, { migrations: [{ version: 1, name: "long", script: "select pg_sleep(1)" }] });
    expect(await planMigration(store, steps)).toMatchObject({ from: 1 });
    await store.close();
    await drop();
  });

  test("what a pool's client gives up has ended in the database before", async (context) => {
    const { url, reader, store } = await withReader(context);
    await reader.query("commit; begin; lock table busy in access exclusive mode");
    const impatient = await openPostgres(url, { answerTimeoutMs: 1_000, applicationName: "impatient" });
    context.onTestFinished(() => impatient.close());
    await expect(sql`select id from busy`.execute(impatient.db)).rejects.toThrow(/statement timeout/);
    expect(await queued(store)).toBe(0);
  });
});
