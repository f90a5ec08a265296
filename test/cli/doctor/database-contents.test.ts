import { randomBytes } from "node:crypto";
import { sql } from "kysely";
import { expect, test } from "vitest";
import { encryptionKeys } from "../../../cli/command/config.ts";
import {
  checkEncryptionKeys,
  checkLeaks,
  checkReplicas,
  checkSessions,
  findOtherClusters,
} from "../../../cli/doctor/database-contents.ts";
import { feedOf } from "../../../server/key-index/feed.ts";
import { databaseTime } from "../../../store/database/times.ts";
import { assertKeyring } from "../../../store/encryption/encryption-key.ts";
import { parseKeyring } from "../../../store/encryption/keyring.ts";
import { findSecrets, recordLeak } from "../../../store/keys/events/key-leaks.ts";
import { revokeKey } from "../../../store/keys/lifecycle/revocation.ts";
import { replicaHealth } from "../../../store/replicas/replica-health.ts";
import { heartbeat, registerReplica, removeAllReplicas } from "../../../store/replicas/replicas.ts";
import { beginSession } from "../../../store/sessions/sessions.ts";
import { describeNightlyOnEachEngine } from "../../env/database/engines.ts";
import { digestOf, makeTeam, reserveKey, run } from "../../store/fixtures.ts";

describeNightlyOnEachEngine("keyplane doctor", (store) => {
  test("c53: says that the database is another cluster's, where it has nothing of this one", async () => {
    const { db } = store();
    expect(await findOtherClusters({ uid: "here" }, db)).toEqual([]);
    await reserveKey(store(), await makeTeam(store(), { cluster: "there" }));
    const [finding, ...others] = await findOtherClusters({ uid: "here" }, db);
    expect(finding).toMatchObject({
      ...{ name: "other-clusters", severity: "error" },
      message: "the database has 1 keys of the cluster there, and nothing of this one, here",
    });
    expect(others).toEqual([]);
    await makeTeam(store(), { cluster: "here" });
    expect(await findOtherClusters({ uid: "here" }, db)).toMatchObject([{ severity: "note" }]);
  });

  test("c54: says that the encryption keys are not the database's", async () => {
    const { db } = store();
    const [own, other] = [randomBytes(32), randomBytes(32)].map((key) => key.toString("base64"));
    await assertKeyring(db, parseKeyring(String(own)));
    const check = (text: string | undefined) =>
      checkEncryptionKeys({ db, encryptionKeys: () => encryptionKeys({ KEYPLANE_ENCRYPTION_KEY: text }, undefined) });
    expect(await check(own)).toMatchObject([{ severity: "ok" }]);
    expect(await check(undefined)).toEqual([]);
    const [finding] = await check(other);
    expect(finding).toMatchObject({
      ...{ name: "encryption-key", severity: "error" },
      message: expect.stringMatching(/stored under the encryption key/),
    });
    expect(await check("nonsense")).toMatchObject([{ name: "encryption-key", severity: "error" }]);
  });

  test("names servers that are silent or lack the encryption key, and says that none runs", async () => {
    const { db } = store();
    await db.deleteFrom("encryption_key").execute();
    expect(await checkReplicas({ db })).toMatchObject([
      { name: "replicas", severity: "error", message: "no server runs on this database" },
    ]);
    const [own, other] = [randomBytes(32), randomBytes(32)].map((key) => parseKeyring(key.toString("base64")));
    await assertKeyring(db, own ?? []);
    await registerReplica(store(), "well", { keyring: own ?? [] });
    expect(await checkReplicas({ db })).toMatchObject([{ name: "replicas", severity: "ok" }]);
    await registerReplica(store(), "without", { keyring: other ?? [] });
    await registerReplica(store(), "dead", { keyring: other ?? [] });
    await sql`update replicas set seen_at = clock_timestamp() - interval '1 minute' where id = 'dead'`.execute(db);
    // It gives a sign of life each 12 s.
    await registerReplica(store(), "patient", { keyring: own ?? [], leaseMs: 60_000 });
    await sql`update replicas set seen_at = clock_timestamp() - interval '40 seconds',
      acked_seq = (select head from feed) where id = 'patient'`.execute(db);
    expect(await checkReplicas({ db })).toMatchObject([
      { name: "replicas", severity: "error", message: expect.stringMatching(/^the server dead gave no sign of life/) },
      {
        ...{ name: "encryption-key", severity: "error" },
        message: `the server without does not have the encryption key ${own?.[0]?.fingerprint}, and cannot read what is stored under it`,
      },
    ]);
  });

  test("says for which server changes wait, and for how long at most", async () => {
    const { db } = store();
    await removeAllReplicas(store());
    await registerReplica(store(), "well");
    await registerReplica(store(), "crashed", { leaseMs: 30_000 });
    await sql`update replicas set acked_seq = (select head from feed)`.execute(db);
    await sql`update replicas set seen_at = clock_timestamp() - interval '20 seconds' where id = 'crashed'`.execute(db);
    const found = async () =>
      (await checkReplicas({ db })).filter(({ name, severity }) => name === "replicas" && severity !== "ok");
    expect(await found()).toEqual([]);
    await reserveKey(store(), await makeTeam(store()));
    expect(await found()).toEqual([
      {
        ...{ name: "replicas", severity: "note", action: null },
        message: expect.stringMatching(
          /^changes wait for the server crashed, which gave no sign of life for 2\d s: until it does, or its lease of 30 s is over$/,
        ),
      },
    ]);
    await removeAllReplicas(store());
  });

  test("names servers whose clock is off the database's, by how much", async () => {
    const { db } = store();
    await removeAllReplicas(store());
    const start = { seq: 0, id: null };
    const well = feedOf(store(), store(), []);
    await well.register("well", 5_000);
    await well.heartbeat("well", start);
    expect(await replicaHealth(db)).toMatchObject([{ id: "well", clockAheadMs: expect.any(Number) }]);
    for (const [id, ahead] of Object.entries({ early: 3_600_000, late: -3_600_000, slow: -5_000 })) {
      await registerReplica(store(), id);
      await heartbeat(store(), id, start, (await databaseTime(db)) + ahead);
    }
    // What one that is silent has said of its clock is past.
    await registerReplica(store(), "gone");
    await sql`update replicas set seen_at = clock_timestamp() - interval '1 minute', own_time = clock_timestamp()
      where id = 'gone'`.execute(db);
    const clocks = (await checkReplicas({ db })).filter(({ name }) => name === "clock");
    expect(clocks.map(({ severity, message }) => `${severity}: ${message}`).toSorted()).toEqual([
      expect.stringMatching(/^error: the server early's clock is 3(600|59\d) s ahead of the database's$/),
      expect.stringMatching(/^error: the server late's clock is 360\d s behind the database's$/),
      expect.stringMatching(/^note: the server slow's clock is [5-9] s behind the database's$/),
    ]);
    await removeAllReplicas(store());
  });

  test("names keys that were reported as leaked and work still, until they are revoked", async () => {
    const { db } = store();
    expect(await checkLeaks({ db })).toMatchObject([{ name: "leaked-keys", severity: "ok" }]);
    const secret = "a secret that leaks";
    const { key } = await reserveKey(store(), await makeTeam(store()), { digest: digestOf(secret) });
    const [found] = await findSecrets(db, [digestOf(secret)]);
    if (found === undefined) throw new Error("the key is not found by its digest");
    await run(store(), (tx) => recordLeak(tx, found, { reporter: "github", by: { actor: "github" } }));
    expect(await checkLeaks({ db })).toMatchObject([
      { name: "leaked-keys", severity: "error", action: `keyplane rotate --revoke-old ${key.id}` },
    ]);
    const suspend = (state: string) => db.updateTable("keys").set({ state }).where("id", "=", key.id).execute();
    await suspend("suspended");
    expect(await checkLeaks({ db }), "no caller can use it meanwhile").toMatchObject([{ severity: "ok" }]);
    await suspend("active");
    await run(store(), (tx) => revokeKey(tx, key.id, "Leaked"));
    expect(await checkLeaks({ db })).toMatchObject([{ severity: "ok" }]);
  });

  test("counts sessions that a restored backup has brought", async () => {
    const { db } = store();
    const signedIn = { person: null, sid: null, displayName: "Ann" };
    await db.transaction().execute((tx) => beginSession(tx, randomBytes(32).toString("latin1"), signedIn, 3_600_000));
    expect(await checkSessions({ db })).toEqual([]);
    await db.updateTable("sessions").set({ made_in: 1 }).execute();
    expect(await checkSessions({ db })).toMatchObject([
      { name: "restored-sessions", severity: "note", message: expect.stringMatching(/^1 sessions are another/) },
    ]);
  });
});
