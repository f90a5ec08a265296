import { sql } from "kysely";
import { expect, test } from "vitest";
import { addRequestCounts, outcomeOf, readRequestCounts } from "../../../../store/keys/uses/request-counts.ts";
import { prune } from "../../../../store/retention.ts";
import { rollUp } from "../../../../store/usage/roll-up.ts";
import { describeNightlyOnEachEngine } from "../../../env/database/engines.ts";
import { HOUR, NOW, unique } from "../../fixtures.ts";

const SLOT = 5 * 60_000;
const ignore = () => {};

describeNightlyOnEachEngine("The requests of a key", (store) => {
  test("are added to those of the same scope and five minutes, and are read from a moment on", async () => {
    const keyId = unique("key");
    const add = (slot: number, scope: string, count: number) =>
      addRequestCounts(store(), [{ keyId, slot, scope, count }], ignore);
    await add(NOW, "memory:read", 2);
    await add(NOW, "memory:read", 3);
    await add(NOW, "memory:write", 1);
    await add(NOW - SLOT, "memory:read", 7);
    expect(await readRequestCounts(store().db, keyId, NOW)).toEqual([
      { keyId, slot: NOW, scope: "memory:read", count: 5 },
      { keyId, slot: NOW, scope: "memory:write", count: 1 },
    ]);
    expect(await readRequestCounts(store().db, keyId, NOW - SLOT)).toHaveLength(3);
  });

  test("are in the database or not, and it says which", async () => {
    const keyId = unique("key");
    const begun: string[] = [];
    const count = { keyId, slot: NOW, scope: "memory:read", count: 1 };
    await addRequestCounts(store(), [count], (id) => begun.push(id));
    const twice = addRequestCounts(store(), [count, count], (id) => begun.push(id));
    await expect(twice).rejects.toThrow();
    const [written = "", failed = ""] = begun;
    expect(await outcomeOf(store().db, written)).toBe("committed");
    expect(await outcomeOf(store().db, failed)).toBe("aborted");
    expect(await outcomeOf(store().db, String(2n ** 40n + 1_000n)), "after a restore").toBe("aborted");
    expect(await readRequestCounts(store().db, keyId, NOW)).toEqual([count]);
  });

  test("are kept for eight days", async () => {
    const keyId = unique("key");
    const now = Date.now();
    const days = [9, 7];
    for (const day of days) {
      const slot = now - day * 24 * HOUR;
      await addRequestCounts(store(), [{ keyId, slot, scope: "memory:read", count: day }], ignore);
    }
    await rollUp(store());
    expect((await prune(store(), 90 * 24 * HOUR)).requests).toBeGreaterThanOrEqual(1);
    expect((await readRequestCounts(store().db, keyId, 0)).map(({ count }) => count)).toEqual([7]);
  });

  test("are found without the table being read whole", async () => {
    await sql`insert into key_requests (key_id, slot, scope, count)
      select 'other' || n % 50, to_timestamp(n / 50 * 300), 'memory:read', 1 from generate_series(1, 20000) n`.execute(
      store().db,
    );
    await sql`analyze key_requests`.execute(store().db);
    const { rows } = await sql<{ "QUERY PLAN": string }>`explain select scope, slot, count from key_requests
      where key_id = 'other7' and slot >= to_timestamp(100000) order by slot, scope`.execute(store().db);
    expect(rows.map((row) => row["QUERY PLAN"]).join("\n")).not.toContain("Seq Scan");
  });
});
