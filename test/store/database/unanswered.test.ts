import { setTimeout as delay } from "node:timers/promises";
import { sql } from "kysely";
import { expect, type TestContext, test } from "vitest";
import type { Db } from "../../../store/database/change.ts";
import { DatabaseUnavailableError } from "../../../store/database/errors.ts";
import { withOrderedPlans } from "../../../store/database/ordered-plans.ts";
import { openPostgres, type PostgresOptions } from "../../../store/database/postgres/postgres.ts";
import { describeOnEitherEngine, freshDatabase } from "../../env/database/engines.ts";
import { startTcpProxy } from "../../env/tcp-proxy.ts";
import { unansweredStatements } from "./unanswered-statements.ts";

/** On its way to the database, and on its way back. Milliseconds. */
const LAG_MS = 250;
const ANSWER_TIMEOUT_MS = 500;

// On PGlite: test/store/database/pglite/pglite.test.ts
describeOnEitherEngine("A statement that nothing waits for", unansweredStatements);

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
