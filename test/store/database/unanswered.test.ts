import { setTimeout as delay } from "node:timers/promises";
import { sql } from "kysely";
import { expect, type TestContext, test } from "vitest";
import type { Db, Tx } from "../../../store/database/change.ts";
import { DatabaseUnavailableError } from "../../../store/database/errors.ts";
import { withOrderedPlans } from "../../../store/database/ordered-plans.ts";
import { openPostgres, type PostgresOptions } from "../../../store/database/postgres/postgres.ts";
import { unansweredStatement } from "../../../store/database/unanswered.ts";
import { describeOnEachEngine, freshDatabase } from "../../env/database/engines.ts";
import { startTcpProxy } from "../../env/tcp-proxy.ts";

/** On its way to the database, and on its way back. Milliseconds. */
const LAG_MS = 250;
const ANSWER_TIMEOUT_MS = 500;

describeOnEachEngine("A statement that nothing waits for", (store) => {
  const sortsIn = async (tx: Tx) =>
    (await sql<{ sorts: string }>`select current_setting('enable_sort') as sorts`.execute(tx)).rows;

  test("is done before the next one of its transaction, and undone behind that", async () => {
    const { db } = store();
    expect(await withOrderedPlans(db, sortsIn)).toEqual([{ sorts: "off" }]);
    expect(await db.transaction().execute(sortsIn)).toEqual([{ sorts: "on" }]);
  });

  test.for(["read only", "read write"] as const)(
    "fails the next one by its own error where it fails, and no later question, %s",
    async (accessMode) => {
      const { db } = store();
      const asked = db
        .transaction()
        .setAccessMode(accessMode)
        .execute(async (tx) => {
          await sql`${unansweredStatement} select 1 / 0`.execute(tx);
          return sortsIn(tx);
        });
      await expect(asked).rejects.toThrow("division by zero");
      expect(await withOrderedPlans(db, sortsIn)).toEqual([{ sorts: "off" }]);
      expect(await db.transaction().execute(sortsIn)).toEqual([{ sorts: "on" }]);
    },
  );

  test("fails nothing behind its transaction, where that asks nothing else", async () => {
    const { db } = store();
    await withOrderedPlans(db, (tx) => sql`${unansweredStatement} select 1 / 0`.execute(tx));
    expect((await sql`select 1 as one`.execute(db)).rows).toEqual([{ one: 1 }]);
  });

  test("begins nothing that stays open where a transaction asks nothing else", async () => {
    const { db } = store();
    await withOrderedPlans(db, async () => {});
    expect(await db.transaction().execute(sortsIn)).toEqual([{ sorts: "on" }]);
  });
});

test("c90: an end that fails of a transaction that only read fails no other caller's transaction, and leaves none open", async (context) => {
  const { url, drop } = await freshDatabase();
  const [store, other] = [await openPostgres(url, { maxConnections: 1 }), await openPostgres(url)];
  context.onTestFinished(async () => {
    await Promise.all([store.close(), other.close()]);
    await drop();
  });
  const write = (db: Db, id: number) => sql`insert into written values (${id})`.execute(db);
  await sql`create table written (id integer)`.execute(store.db);
  await sql`create temp table own (id integer unique deferrable initially deferred)`.execute(store.db);
  // What is of the session alone may be written, and fails its end.
  await store.db
    .transaction()
    .setAccessMode("read only")
    .execute((tx) => sql`insert into own values (1), (1)`.execute(tx));
  const failure = await store.db
    .transaction()
    .execute((tx) => write(tx, 1))
    .then(
      () => undefined,
      (error: unknown) => error,
    );
  await write(store.db, 2);
  const { rows } = await sql<{ id: number }>`select id from written order by id`.execute(other.db);
  expect(rows.map(({ id }) => id)).toEqual(failure === undefined ? [1, 2] : [2]);
  if (failure !== undefined) expect(failure).toBeInstanceOf(DatabaseUnavailableError);
});

test("c91: a connection on which no answer came to the end of a transaction that only read is given to no other caller", async (context) => {
  const { store, proxy } = await openBehindProxy(context, { keepsOne: true, answerTimeoutMs: ANSWER_TIMEOUT_MS });
  await withOrderedPlans(store.db, async (tx) => {
    await sql`select 1`.execute(tx);
    proxy.freeze();
  });
  await delay(2 * ANSWER_TIMEOUT_MS);
  proxy.thaw();
  expect((await sql`select 1 as one`.execute(store.db)).rows).toEqual([{ one: 1 }]);
});

test("A question in an order takes one way to the database and back, with what begins and ends it", async (context) => {
  const { store, proxy } = await openBehindProxy(context, {});
  const question = () => withOrderedPlans(store.db, (tx) => sql`select 1`.execute(tx));
  await question();
  proxy.slow(LAG_MS);
  // What begins a transaction and ends it would be three more.
  for (const _ of [1, 2]) {
    const began = performance.now();
    await question();
    expect(performance.now() - began).toBeLessThan(2 * (2 * LAG_MS));
    // The way of its end is not measured with the next.
    await sql`select 1`.execute(store.db);
  }
});

async function openBehindProxy(context: TestContext, options: PostgresOptions) {
  const { url, drop } = await freshDatabase();
  const direct = new URL(url);
  const proxy = await startTcpProxy({ host: direct.hostname, port: Number(direct.port) });
  direct.hostname = "127.0.0.1";
  direct.port = String(proxy.port);
  const store = await openPostgres(direct.href, { maxConnections: 1, ...options });
  context.onTestFinished(async () => {
    await store.close();
    await proxy.close();
    await drop();
  });
  return { store, proxy };
}
