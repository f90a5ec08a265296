import { sql } from "kysely";
import { expect, test } from "vitest";
import type { Tx } from "../../../store/database/change.ts";
import { withOrderedPlans } from "../../../store/database/ordered-plans.ts";
import type { Store } from "../../../store/database/store.ts";
import { unansweredStatement } from "../../../store/database/unanswered.ts";

/** What holds of a statement that nothing waits for, on either engine. */
export function unansweredStatements(store: () => Store): void {
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
}
