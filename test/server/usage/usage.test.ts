import { sql } from "kysely";
import { expect, test } from "vitest";
import type { KeyRecord } from "../../../domain/access/key-record.ts";
import { createLog } from "../../../runtime/log.ts";
import { KeyIndex } from "../../../server/key-index/key-index.ts";
import { UsageBuffer } from "../../../server/usage/usage.ts";
import type { Store } from "../../../store/database/store.ts";
import { readKnownUsage } from "../../../store/keys/uses/usage.ts";
import { deregisterReplica, registerReplica } from "../../../store/replicas/replicas.ts";
import { describeNightlyOnEachEngine } from "../../env/database/engines.ts";
import { makeTeam, NOW, reserveKey } from "../../store/fixtures.ts";
import { indexedKey, keyRecord } from "../harness.ts";

const log = createLog("silent");
const consumer = { ip: "192.0.2.7", headers: { "user-agent": `agent/1 ${"x".repeat(400)}` } };

/** An index with one version of each of these keys, for uses to be noted in. */
function notedIn(keys: readonly KeyRecord[], databaseTimeAtBeat: () => number | undefined = () => NOW) {
  const index = new KeyIndex();
  for (const key of keys) index.applyKey(key.keyId, [indexedKey(key.keyId, key)]);
  return {
    id: "replica",
    databaseTimeAtBeat,
    noteUse: (key: KeyRecord, at: number) => index.noteUse(key, at),
    drainUses: () => index.drainUses(NOW),
  };
}

async function lastUse(store: Store, keyId: string) {
  const { rows } = await sql<{ at: Date; address: string | null; agent: string | null }>`
    select last_used_at as at, last_address as address, last_user_agent as agent
    from key_usage where key_id = ${keyId}`.execute(store.db);
  return rows[0] && { ...rows[0], at: rows[0].at.getTime() };
}

describeNightlyOnEachEngine("when a key was last used", (store) => {
  test("is the latest of its uses, written in one batch", async () => {
    const { key } = await reserveKey(store(), await makeTeam(store()));
    const record = keyRecord({ keyId: key.id });
    const usage = new UsageBuffer(store(), log, notedIn([record]), () => {});
    for (const at of [NOW, NOW + 1, NOW + 2]) usage.record(record, at, consumer);
    expect(await lastUse(store(), key.id)).toBeUndefined();
    await usage.flush();
    expect(await lastUse(store(), key.id)).toEqual({ at: NOW + 2, address: null, agent: null });
  });

  test("asks a request for its headers for a retiring version alone", async () => {
    const [active, retiring] = (["active", "retiring"] as const).map((versionState) => keyRecord({ versionState }));
    if (active === undefined || retiring === undefined) throw new Error("two records were asked for");
    const asked: string[] = [];
    const caller = {
      ip: consumer.ip,
      get headers() {
        asked.push("headers");
        return consumer.headers;
      },
    };
    const usage = new UsageBuffer(store(), log, notedIn([active]), () => {});
    usage.record(active, NOW, caller);
    expect(asked).toEqual([]);
    usage.record(retiring, NOW, caller);
    expect(asked).toEqual(["headers"]);
  });

  test("says of a retiring version from where and by what, in bounds", async () => {
    const { key } = await reserveKey(store(), await makeTeam(store()));
    const record = keyRecord({ keyId: key.id, versionState: "retiring" });
    const usage = new UsageBuffer(store(), log, notedIn([record]), () => {});
    usage.record(record, NOW, consumer);
    await usage.flush();
    const use = await lastUse(store(), key.id);
    expect(use).toMatchObject({ at: NOW, address: "192.0.2.7" });
    expect(use?.agent).toMatch(/^agent\/1 x+$/);
    expect(use?.agent).toHaveLength(200);
  });

  test("is not lost when the database does not answer", async () => {
    const { key } = await reserveKey(store(), await makeTeam(store()));
    let down = true;
    const db = new Proxy(store().db, {
      get: (target, name) => {
        if (down) throw new Error("the database is away");
        const value: unknown = Reflect.get(target, name);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
    const record = keyRecord({ keyId: key.id });
    const usage = new UsageBuffer({ ...store(), db }, log, notedIn([record]), () => {});
    usage.record(record, NOW, consumer);
    expect(await usage.close(), "b185: whether all is written").toBe(false);
    usage.record(record, NOW + 5, consumer);
    down = false;
    expect(await usage.close()).toBe(true);
    expect(await lastUse(store(), key.id)).toMatchObject({ at: NOW + 5 });
  });

  test("b78: is reported without a key or a control character of the User-Agent", async () => {
    const { key } = await reserveKey(store(), await makeTeam(store()));
    const record = keyRecord({ keyId: key.id, versionState: "retiring" });
    const usage = new UsageBuffer(store(), log, notedIn([record]), () => {});
    const secret = "a'b;c".repeat(12);
    const headers = { "user-agent": `curl/8 inf_${secret}, \u001b[31m\u009b0m` };
    usage.record(record, NOW, { ip: "192.0.2.7", headers });
    await usage.flush();
    expect((await lastUse(store(), key.id))?.agent).toBe("curl/8 inf_..., ?[31m?0m");
  });

  test("is known of a replica up to the database's time at its last heartbeat, also when it noted no use", async () => {
    let databaseTime: number | undefined;
    let down = false;
    const db = new Proxy(store().db, {
      get: (target, name) => {
        if (down) throw new Error("the database is away");
        const value: unknown = Reflect.get(target, name);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
    const { key } = await reserveKey(store(), await makeTeam(store()));
    const record = keyRecord({ keyId: key.id });
    const usage = new UsageBuffer(
      { ...store(), db },
      log,
      notedIn([record], () => databaseTime),
      () => {},
    );
    const known = async () => (await readKnownUsage(store().db, key.id)).knownUntil;
    await registerReplica(store(), "replica");
    await usage.flush();
    expect(await known()).toBeNull();
    databaseTime = NOW;
    await usage.flush();
    expect(await known()).toBe(NOW);
    down = true;
    databaseTime = NOW + 10_000;
    usage.record(record, NOW + 5_000, consumer);
    await usage.flush();
    expect(await known(), "a use that could not be written").toBe(NOW);
    down = false;
    databaseTime = NOW + 20_000;
    await usage.flush();
    expect(await readKnownUsage(store().db, key.id)).toMatchObject({
      knownUntil: NOW + 20_000,
      lastUses: [{ version: 1, at: NOW + 5_000 }],
    });
    await deregisterReplica(store(), "replica");
  });
});
