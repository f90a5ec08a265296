import { once } from "node:events";
import { glob, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { inspect } from "node:util";
import type { Worker } from "node:worker_threads";
import { AbortedTransactionError, sql } from "kysely";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { beginSave, endSave, findSave } from "../../../../memory/store/writes/repeatable-saves.ts";
import { change, type Db, takeLeadership } from "../../../../store/database/change.ts";
import {
  CallerLeftError,
  DatabaseUnavailableError,
  StaleLeaderError,
  sqlState,
  violatedConstraint,
} from "../../../../store/database/errors.ts";
import { assertListenWorks } from "../../../../store/database/migrate/listen-check.ts";
import { migrate } from "../../../../store/database/migrate/migrate.ts";
import { hasVectorTable } from "../../../../store/database/migrate/vector-table.ts";
import { openPGlite } from "../../../../store/database/pglite/pglite.ts";
import type { EmbeddedStore, Store } from "../../../../store/database/store.ts";
import { maintainTables } from "../../../../store/database/table-upkeep.ts";
import { changesAfter } from "../../../../store/feed/change-feed.ts";
import { markUsageWritten } from "../../../../store/keys/uses/usage.ts";
import { findTeamOfNamespace, saveTeam } from "../../../../store/teams/teams.ts";
import { makeDatabaseFolder } from "../../../env/database/database-folder.ts";
import { copyEmbedded, keepCompiled } from "../../../env/database/embedded-database.ts";
import { until } from "../../../env/until.ts";
import { addTeamsWithLibraries } from "../../../memory/libraries.ts";
import { digestOf, teamDraft, unique } from "../../fixtures.ts";
import { feedHead } from "../../questions.ts";
import { unansweredStatements } from "../unanswered-statements.ts";

describe("The embedded database that breaks", () => {
  let folder = "";
  beforeEach(() => {
    folder = makeDatabaseFolder("keyplane-pglite-");
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  test("c62: ends after what ends a connection of a server, and says why: it would never answer again", async () => {
    await copyEmbedded(join(folder, "db"));
    const store = await openPGlite(join(folder, "db"));
    await rm(join(folder, "db/base/5/pg_filenode.map"));
    const fatal = sql`vacuum full pg_class`.execute(store.db);
    const why = /^the embedded database failed: .*No such file/;
    await expect(fatal).rejects.toThrow(why);
    expect(await store.failed).toMatchObject({
      message: expect.stringMatching(why),
      cause: { message: expect.stringContaining("No such file") },
    });
    await store.close();
  });
});

/** One after the other on one database: to open it takes more than what is tested. */
describe("The embedded database in use", () => {
  const save = { caller: "key_1", key: digestOf("once"), request: digestOf("request") };
  let folder = "";
  let store: EmbeddedStore;
  let thread: Worker;
  let broken: EmbeddedStore;
  let breaking: unknown;
  beforeAll(async () => {
    folder = makeDatabaseFolder("keyplane-pglite-");
    const path = join(folder, "db");
    await copyEmbedded(path);
    await keepCompiled();
    broken = await openPGlite(path);
    await change(broken, null, (tx) => saveTeam(tx, teamDraft({ name: "t", namespaces: ["kept"] })));
    await addTeamsWithLibraries(broken);
    await broken.db.transaction().execute(async (tx) => {
      await beginSave(tx, save, "lib-diary");
      await endSave(tx, save, { atomIds: [null], beside: {} });
    });
    await sql`create table kept (content jsonb)`.execute(broken.db);
    // More than the stack of its thread holds; PostgreSQL looks at its own alone.
    const deep = "[".repeat(1_000_000) + "]".repeat(1_000_000);
    breaking = await sql`insert into kept values (${deep})`.execute(broken.db).catch((error: unknown) => error);
    await broken.close();
    const started = once(process, "worker");
    store = await openPGlite(path);
    [thread] = await started;
  });
  afterAll(async () => {
    await store.close();
    await rm(folder, { recursive: true, force: true });
  });

  test("c62: ends where it breaks off a statement in itself, rather than take it for done and go on", async () => {
    expect(breaking).toMatchObject({ message: expect.stringContaining("broke off a statement") });
    expect(await broken.failed).toMatchObject({ cause: { message: expect.stringContaining("broke off a statement") } });
  });

  test("b119: finds everything again when it is opened anew, the record of a save too", async () => {
    expect(await findTeamOfNamespace(store.db, "c1", "kept")).toMatchObject({ name: "t" });
    expect(await findSave(store.db, save)).toMatchObject({ atomIds: [null], isSameRequest: true });
  });

  test("has its table of vectors after the first migration, and keeps it in the next", async () => {
    expect(await hasVectorTable(store.db)).toBe(true);
    const lines: string[] = [];
    await migrate(store, { onProgress: (line) => lines.push(line) });
    expect(lines).toEqual([]);
    expect(await hasVectorTable(store.db)).toBe(true);
  });

  test("keeps its write-ahead log below 128 MB, however much is written", async () => {
    const bytes = async () => {
      const files = await Array.fromAsync(glob(join(folder, "db/pg_wal/*")), async (path) => (await stat(path)).size);
      return files.reduce((sum, size) => sum + size, 0);
    };
    await sql`create table written (n integer)`.execute(store.db);
    let most = 0;
    for (let n = 0; n < 10; n++) {
      await sql`insert into written values (${n})`.execute(store.db);
      // Ends a segment of 16 MB, as that many rows do.
      await sql`select pg_switch_wal()`.execute(store.db);
      most = Math.max(most, await bytes());
    }
    expect(most).toBeGreaterThan(64 * 1_024 ** 2);
    await until("the log is small again", async () => {
      await sql`drop table if exists written`.execute(store.db);
      return (await bytes()) < 128 * 1_024 ** 2;
    });
  });

  test("counts what writes rows, in a transaction too, and neither questions, locks, a replica's times nor the feed", async () => {
    const written = async (run: () => Promise<unknown>) => {
      const before = store.writes?.() ?? Number.NaN;
      await run();
      return (store.writes?.() ?? Number.NaN) - before;
    };
    const change = sql`update teams set display_name = 'T'`;
    expect(await written(() => change.execute(store.db))).toBe(1);
    expect(await written(() => store.db.transaction().execute((tx) => change.execute(tx)))).toBe(1);
    expect(await written(() => change.execute(store.backgroundDb))).toBe(1);
    expect(await written(() => sql`with w as (${change} returning 1) select * from w`.execute(store.db))).toBe(1);
    expect(await written(() => sql`select from teams`.execute(store.db))).toBe(0);
    expect(await written(() => sql`update teams set display_name = 'T' where false`.execute(store.db))).toBe(0);
    for (const lock of ["for update", "for no key update"]) {
      expect(await written(() => sql`select from teams ${sql.raw(lock)}`.execute(store.db))).toBe(0);
    }
    await sql`insert into replicas (id, acked_seq, lease_ms) values ('a', 0, 5000)`.execute(store.db);
    expect(await written(() => markUsageWritten(store, "a", Date.now()))).toBe(0);
    expect(await written(() => change.execute(store.feedStore.db))).toBe(0);
  });

  test("notifies itself", async () => {
    await assertListenWorks(store);
  });

  test("lets other questions wait while a transaction runs, rather than run within it", async () => {
    const inside = Promise.withResolvers<void>();
    const letGo = Promise.withResolvers<void>();
    const write = store.db.transaction().execute(async (tx) => {
      await saveTeam(tx, teamDraft({ namespaces: ["mine"] }));
      inside.resolve();
      await letGo.promise;
      throw new Error("undone");
    });
    await inside.promise;
    const seen = findTeamOfNamespace(store.db, "c1", "mine");
    letGo.resolve();
    await expect(write).rejects.toThrow("undone");
    expect(await seen).toBeUndefined();
  });

  test("ends a transaction that only read before the next question, though no caller waits for its end", async () => {
    const setting = async (db: Db) =>
      (await sql<{ work_mem: string }>`select current_setting('work_mem') as work_mem`.execute(db)).rows;
    const before = await setting(store.db);
    for (const then of ["commits", "fails"]) {
      const read = store.db
        .transaction()
        .setAccessMode("read only")
        .execute(async (tx) => {
          await sql`select set_config('work_mem', '7MB', true)`.execute(tx);
          expect(await setting(tx)).toEqual([{ work_mem: "7MB" }]);
          if (then === "fails") await sql`select 1 / 0`.execute(tx);
        });
      const [, after] = await Promise.allSettled([read, setting(store.db)]);
      expect(after, then).toEqual({ status: "fulfilled", value: before });
    }
  });

  test("begins a transaction with its first statement, be that refused, and none that asks nothing", async () => {
    await store.db.transaction().execute(async () => {});
    const refused = store.db.transaction().execute((tx) => sql`select * from missing`.execute(tx));
    await expect(refused).rejects.toThrow(/"missing" does not exist/);
    await store.db.transaction().execute((tx) => saveTeam(tx, teamDraft({ namespaces: ["after"] })));
    expect(await findTeamOfNamespace(store.db, "c1", "after")).toBeDefined();
  });

  test("b87: runs a long statement apart from the thread that decides, and lets the feed's question pass all that wait", async () => {
    const isLong = sql`select count(*) from generate_series(1, 200000)`.execute(store.db);
    const answered: string[] = [];
    const ask = async (name: string, { db }: Pick<typeof store, "db">) => {
      await sql`select 1`.execute(db);
      answered.push(name);
    };
    const waiting = [ask("first", store), ask("second", store), ask("feed", store.feedStore)];
    let iterations = 0;
    let isRunning = true;
    const iteration = () => {
      iterations++;
      if (isRunning) setImmediate(iteration);
    };
    iteration();
    await isLong;
    isRunning = false;
    expect(iterations).toBeGreaterThan(100);
    await Promise.all(waiting);
    expect(answered).toEqual(["feed", "first", "second"]);
  });

  test("b87: takes back a transaction of the memory, at its next statement, whose caller has left", async () => {
    const leave = new AbortController();
    const tables = () => sql`select from pg_class where relname = 'left_behind'`.execute(store.db);
    const call = store.memory.run({ teamId: "team", signal: leave.signal }, (db) =>
      db.transaction().execute(async (tx) => {
        await sql`create table left_behind (n integer)`.execute(tx);
        leave.abort();
        await sql`select 1`.execute(tx);
      }),
    );
    await expect(call).rejects.toThrow(CallerLeftError);
    // Its turn comes when the connection is free.
    expect((await tables()).rows).toEqual([]);
  });

  test("b87: lets all others pass unauthenticated queries, however many of them wait", async () => {
    const answered: string[] = [];
    const ask = async (name: string, db: Store["db"]) => {
      await sql`select 1`.execute(db);
      answered.push(name);
    };
    const isLong = sql`select count(*) from generate_series(1, 100000)`.execute(store.db);
    const unauthenticated = Array.from({ length: 3 }, () => ask("unauthenticated", store.unauthenticatedDb));
    const call = { teamId: "team", signal: new AbortController().signal };
    const others = [store.memory.run(call, (db) => ask("memory", db)), ask("general", store.db)];
    await Promise.all([isLong, ...unauthenticated, ...others]);
    expect(answered.slice(0, 2).sort()).toEqual(["general", "memory"]);
    expect(answered.slice(2)).toEqual(["unauthenticated", "unauthenticated", "unauthenticated"]);
  });

  test("reports an error by its SQLSTATE and constraint, and nothing of the statement's values", async () => {
    await sql`create table once (name text constraint once_name unique)`.execute(store.db);
    const insert = () => sql`insert into once values (${"secret-value"})`.execute(store.db);
    await insert();
    const error = await insert().catch((refused: unknown) => refused);
    expect(sqlState(error)).toBe("23505");
    expect(violatedConstraint(error)).toBe("once_name");
    expect(inspect(error)).not.toContain("secret-value");
  });

  test("b87: gathers statistics and frees space after enough changes, and rests without", async () => {
    await sql`create table numbers (n integer primary key)`.execute(store.db);
    await sql`insert into numbers select generate_series(1, 3000)`.execute(store.db);
    expect(await maintainTables(store)).toContainEqual({ table: "numbers", analyzed: true, vacuumed: true });
    const { rows } = await sql`select reltuples::integer as rows, relallvisible > 0 as vacuumed from pg_class
      where relname = 'numbers'`.execute(store.db);
    expect(rows).toEqual([{ rows: 3_000, vacuumed: true }]);
    expect(await maintainTables(store)).toEqual([]);

    await sql`delete from numbers where n <= 1500`.execute(store.db);
    expect(await maintainTables(store)).toContainEqual({ table: "numbers", analyzed: true, vacuumed: true });
  });

  test("takes no transaction in which a statement failed for committed, though its caller went on", async () => {
    const write = store.db.transaction().execute(async (tx) => {
      await saveTeam(tx, teamDraft({ name: "undone" }));
      await sql`select 1 / 0`.execute(tx).catch(() => {});
    });
    await expect(write).rejects.toThrow(AbortedTransactionError);
    expect(await store.db.selectFrom("teams").where("name", "=", "undone").selectAll().execute()).toEqual([]);
  });

  test("puts what is changed into the feed within its transaction, and lets no leader write whom another has succeeded", async () => {
    const cluster = unique("cluster");
    const old = await takeLeadership(store, cluster);
    const before = await feedHead(store);
    const draft = teamDraft({ namespaces: [unique("ns")] });
    const { result, seq } = await change(store, old, (tx) => saveTeam(tx, draft));
    expect((await changesAfter(store, before, 10)).changes).toMatchObject([{ seq, kind: "team", ref: result.teamId }]);
    const present = await takeLeadership(store, cluster);
    const again = { ...draft, displayName: "renamed", generation: 2 };
    await expect(change(store, old, (tx) => saveTeam(tx, again))).rejects.toThrow(StaleLeaderError);
    await change(store, present, (tx) => saveTeam(tx, again));
  });

  describe("asked a statement that nothing waits for", () => unansweredStatements(() => store));

  test("fails whatever is asked once its thread is gone, notifies its listeners, and closes", async () => {
    const deaf = Promise.withResolvers<Error | undefined>();
    await store.listen("news", () => {}, deaf.resolve);
    const running = sql`select count(*) from generate_series(1, 3000000)`.execute(store.db);
    const waiting = sql`select 1`.execute(store.db);
    const failures = Promise.allSettled([running, waiting]);
    await thread.terminate();
    for (const outcome of await failures) {
      expect(outcome).toMatchObject({ status: "rejected", reason: expect.any(DatabaseUnavailableError) });
    }
    expect(await deaf.promise).toBeInstanceOf(DatabaseUnavailableError);
    expect(await store.failed).toBeInstanceOf(DatabaseUnavailableError);
  });
});
