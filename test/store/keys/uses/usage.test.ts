import { sql } from "kysely";
import { afterEach, expect, test } from "vitest";
import type { Store } from "../../../../store/database/store.ts";
import { markUsageWritten, readKnownUsage, recordUsage } from "../../../../store/keys/uses/usage.ts";
import {
  deregisterReplica,
  heartbeat,
  readReplicas,
  registerReplica,
  removeAllReplicas,
  removeReplicas,
} from "../../../../store/replicas/replicas.ts";
import { describeNightlyOnEachEngine } from "../../../env/database/engines.ts";
import { makeTeam, NOW, reserveKey } from "../../fixtures.ts";

async function databaseNow(store: Store): Promise<number> {
  const { rows } = await sql<{ now: number }>`
    select (extract(epoch from clock_timestamp()) * 1000)::float8 as now`.execute(store.db);
  return rows[0]?.now ?? 0;
}

describeNightlyOnEachEngine("The use of a key is known", (store) => {
  afterEach(async () => {
    await store().db.deleteFrom("replicas").execute();
    await store().db.updateTable("usage_lost").set({ until: null }).execute();
  });
  /** Has a replica registered that may let requests in. */
  async function serve(id: string): Promise<void> {
    await registerReplica(store(), id);
    await heartbeat(store(), id, { seq: 0, id: null }, NOW);
  }
  const known = async (keyId = "key_none") => readKnownUsage(store().db, keyId);

  test("up to now where no replica serves", async () => {
    const before = await databaseNow(store());
    const { now, knownUntil, lostUntil, lastUses } = await known();
    expect(knownUntil).toBeGreaterThanOrEqual(before);
    expect(now).toBeGreaterThanOrEqual(before);
    expect([lostUntil, lastUses]).toEqual([null, []]);
  });

  test("up to what the last of the replicas has written, and not at all while one has not said so", async () => {
    for (const id of ["a", "b"]) await registerReplica(store(), id);
    await markUsageWritten(store(), "a", NOW + 5);
    expect((await known()).knownUntil).toBeNull();
    await markUsageWritten(store(), "b", NOW);
    expect((await known()).knownUntil).toBe(NOW);
    await registerReplica(store(), "new");
    expect((await known()).knownUntil).toBeNull();
    await deregisterReplica(store(), "new");
    await deregisterReplica(store(), "b");
    expect((await known()).knownUntil).toBe(NOW + 5);
    expect((await known()).lostUntil).toBeNull();
  });

  test("no more of the time in which a replica died: what it had not written is lost", async () => {
    for (const id of ["alive", "dead"]) await serve(id);
    await markUsageWritten(store(), "alive", NOW);
    await removeReplicas(store(), []);
    expect((await known()).lostUntil).toBeNull();
    const before = await databaseNow(store());
    const dead = (await readReplicas(store(), 0)).replicas.filter(({ id }) => id === "dead");
    await removeReplicas(store(), dead);
    const { lostUntil, knownUntil } = await known();
    expect(lostUntil).toBeGreaterThanOrEqual(before);
    expect(knownUntil).toBe(NOW);
    await removeReplicas(store(), dead);
    expect((await known()).lostUntil, "no replica died since").toBe(lostUntil);
    await removeAllReplicas(store());
    expect((await known()).lostUntil).toBeGreaterThan(lostUntil ?? 0);
  });

  test("b218: as well as before where a replica died that never had a lease", async () => {
    await registerReplica(store(), "starting");
    await removeAllReplicas(store());
    expect((await known()).lostUntil).toBeNull();
  });

  test("version by version, with who used it", async () => {
    const { key } = await reserveKey(store(), await makeTeam(store()));
    const other = await reserveKey(store(), await makeTeam(store()));
    await recordUsage(store(), [
      { keyId: key.id, version: 1, at: NOW, address: "192.0.2.7", userAgent: "curl/8" },
      { keyId: key.id, version: 2, at: NOW + 0.5 },
      { keyId: other.key.id, version: 1, at: NOW + 9 },
    ]);
    expect((await known(key.id)).lastUses).toEqual([
      { version: 2, at: NOW + 0.5, address: null, userAgent: null },
      { version: 1, at: NOW, address: "192.0.2.7", userAgent: "curl/8" },
    ]);
  });
});
