import { once } from "node:events";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { inspect } from "node:util";
import { sql } from "kysely";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { change, type Db } from "../../../../store/database/change.ts";
import {
  CallerLeftError,
  DatabaseUnavailableError,
  sqlState,
  violatedConstraint,
} from "../../../../store/database/errors.ts";
import { assertListenWorks } from "../../../../store/database/migrate/listen-check.ts";
import { openPGlite } from "../../../../store/database/pglite/pglite.ts";
import type { EmbeddedStore, Store } from "../../../../store/database/store.ts";
import { beginSave, endSave, findSave } from "../../../../store/memory/writes/repeatable-saves.ts";
import { findTeamOfNamespace, saveTeam } from "../../../../store/teams/teams.ts";
import { makeDatabaseFolder } from "../../../env/database/database-folder.ts";
import { copyEmbedded, openEmbedded } from "../../../env/database/embedded-database.ts";
import { addTeamsWithLibraries } from "../../../server/memory/libraries.ts";
import { digestOf, teamDraft } from "../../fixtures.ts";

describe("The embedded database", () => {
  let folder = "";
  beforeEach(() => {
    folder = makeDatabaseFolder("keyplane-pglite-");
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  test("b119: finds everything again when it is opened anew, the record of a save too", async () => {
    const save = { caller: "key_1", key: digestOf("once"), request: digestOf("request") };
    const path = join(folder, "db");
    await copyEmbedded(path);
    const store = await openPGlite(path);
    await change(store, null, (tx) => saveTeam(tx, teamDraft({ name: "t", namespaces: ["kept"] })));
    await addTeamsWithLibraries(store);
    await store.db.transaction().execute(async (tx) => {
      await beginSave(tx, save, "lib-diary");
      await endSave(tx, save, { atomIds: [null], beside: {} });
    });
    await store.close();
    const again = await openPGlite(path);
    expect(await findTeamOfNamespace(again.db, "c1", "kept")).toMatchObject({ name: "t" });
    expect(await findSave(again.db, save)).toMatchObject({ atomIds: [null], isSameRequest: true });
    await again.close();
  });

  test("fails whatever is asked once its thread is gone, notifies its listeners, and closes", async () => {
    await copyEmbedded(join(folder, "db"));
    const started = once(process, "worker");
    const store = await openPGlite(join(folder, "db"));
    const [thread] = await started;
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
    await store.close();
  });

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

  test("c62: ends where it breaks off a statement in itself, rather than take it for done and go on", async () => {
    await copyEmbedded(join(folder, "db"));
    const store = await openPGlite(join(folder, "db"));
    await sql`create table kept (content jsonb)`.execute(store.db);
    // More than the stack of its thread holds; PostgreSQL looks at its own alone.
    const deep = "[".repeat(1_000_000) + "]".repeat(1_000_000);
    await expect(sql`insert into kept values (${deep})`.execute(store.db)).rejects.toThrow("broke off a statement");
    expect(await store.failed).toMatchObject({ cause: { message: expect.stringContaining("broke off a statement") } });
    await store.close();
  });
});

describe("The embedded database in use", () => {
  let store: EmbeddedStore;
  beforeAll(async () => {
    store = await openEmbedded();
  });
  afterAll(() => store.close());

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
    let turns = 0;
    let isRunning = true;
    const turn = () => {
      turns++;
      if (isRunning) setImmediate(turn);
    };
    turn();
    await isLong;
    isRunning = false;
    expect(turns).toBeGreaterThan(100);
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
});
