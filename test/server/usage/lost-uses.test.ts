import { expect, test } from "vitest";
import { LostUses } from "../../../server/usage/lost-uses.ts";
import { readKnownUsage } from "../../../store/keys/uses/usage.ts";
import { describeNightlyOnEachEngine } from "../../env/database/engines.ts";
import { awayStore } from "./away-store.ts";

describeNightlyOnEachEngine("That uses of keys were lost", (store) => {
  test("b172: is recorded once, as soon as the database is there", async () => {
    const away = awayStore(store());
    const lost = new LostUses(away.store);
    const lostUntil = async () => (await readKnownUsage(store().db, "key_none")).lostUntil;
    const before = await lostUntil();
    lost.note();
    await expect(lost.write()).rejects.toThrow("away");
    expect([lost.isUnsaid, await lostUntil()]).toEqual([true, before]);
    away.database.isAway = false;
    await lost.write();
    const until = await lostUntil();
    expect([lost.isUnsaid, until]).toEqual([false, expect.any(Number)]);
    await lost.write();
    expect(await lostUntil()).toBe(until);
  });
});
