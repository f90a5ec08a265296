import { expect, test } from "vitest";
import { LostUses } from "../../../server/usage/lost-uses.ts";
import { readKnownUsage } from "../../../store/keys/usage.ts";
import { describeOnEachEngine } from "../../env/database/engines.ts";

describeOnEachEngine("That uses of keys were lost", (store) => {
  test("b172: is recorded once, as soon as the database is there", async () => {
    let isAway = true;
    const db = new Proxy(store().db, {
      get: (target, name) => {
        if (isAway) throw new Error("the database is away");
        const value: unknown = Reflect.get(target, name);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
    const lost = new LostUses({ ...store(), db });
    const lostUntil = async () => (await readKnownUsage(store().db, "key_none")).lostUntil;
    const before = await lostUntil();
    lost.note();
    await expect(lost.write()).rejects.toThrow("away");
    expect([lost.isUnsaid, await lostUntil()]).toEqual([true, before]);
    isAway = false;
    await lost.write();
    const until = await lostUntil();
    expect([lost.isUnsaid, until]).toEqual([false, expect.any(Number)]);
    await lost.write();
    expect(await lostUntil()).toBe(until);
  });
});
