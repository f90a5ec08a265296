import { sql } from "kysely";
import { expect, test } from "vitest";
import type { Tx } from "../../../store/database/change.ts";
import { withOrderedPlans } from "../../../store/database/ordered-plans.ts";
import { openPostgres } from "../../../store/database/postgres/postgres.ts";
import { unansweredStatement } from "../../../store/database/unanswered.ts";
import { describeOnEachEngine, freshDatabase } from "../../env/database/engines.ts";
import { startTcpProxy } from "../../env/tcp-proxy.ts";

/** On its way to the database, and on its way back. Milliseconds. */
const LAG_MS = 250;

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

  test("begins nothing that stays open where a transaction asks nothing else", async () => {
    const { db } = store();
    await withOrderedPlans(db, async () => {});
    expect(await db.transaction().execute(sortsIn)).toEqual([{ sorts: "on" }]);
  });
});

test("A question in an order takes one way to the database and back, with what begins and ends it", async (context) => {
  const { url, drop } = await freshDatabase();
  const direct = new URL(url);
  const proxy = await startTcpProxy({ host: direct.hostname, port: Number(direct.port) });
  direct.hostname = "127.0.0.1";
  direct.port = String(proxy.port);
  const store = await openPostgres(direct.href, { maxConnections: 1 });
  context.onTestFinished(async () => {
    await store.close();
    await proxy.close();
    await drop();
  });
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
