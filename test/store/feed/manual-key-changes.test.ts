import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { change } from "../../../store/database/change.ts";
import { manualKeyChanges } from "../../../store/feed/manual-key-changes.ts";
import { findSecrets, recordLeak } from "../../../store/keys/events/key-leaks.ts";
import { activateVersion } from "../../../store/keys/lifecycle/key-versions.ts";
import { releaseKey } from "../../../store/keys/lifecycle/release.ts";
import { revokeKey } from "../../../store/keys/lifecycle/revocation.ts";
import { requestRotation } from "../../../store/keys/lifecycle/rotation-request.ts";
import { findKey } from "../../../store/keys/rows/find-key.ts";
import type { FeedPosition } from "../../../store/replicas/replicas.ts";
import { pruneChanges } from "../../../store/retention.ts";
import { describeNightlyOnEachEngine } from "../../env/database/engines.ts";
import { makeTeam, reserveKey, run, unique } from "../fixtures.ts";
import { feedHead } from "../questions.ts";

describeNightlyOnEachEngine("What was changed by hand", (store) => {
  /** A declared and delivered key in a cluster of its own. */
  const makeKey = async (cluster = unique("cluster")) => {
    const { key } = await reserveKey(store(), await makeTeam(store(), { cluster }));
    await run(store(), (tx) => activateVersion(tx, { keyId: key.id, number: 1, overlapMs: 0 }));
    return key;
  };
  const place = async (seq: number): Promise<FeedPosition> => {
    const change = await store().db.selectFrom("changes").select("id").where("seq", "=", seq).executeTakeFirst();
    return { seq, id: change?.id ?? null };
  };
  const ask = async (cluster: string, seq: number) => manualKeyChanges(store().db, cluster, await place(seq));

  test("is a revocation", async () => {
    const key = await makeKey();
    const before = await feedHead(store());
    const { seq } = await change(store(), null, (tx) => revokeKey(tx, key.id, "ByHand"));
    const { namespace, name } = key;
    const [head, gap] = [await place(seq), false];
    expect(await ask(key.cluster, before)).toEqual({
      head,
      gap,
      keys: [{ keyId: key.id, kind: "PlatformKey", namespace, name }],
    });
    expect(await ask(key.cluster, seq)).toEqual({ head, gap, keys: [] });
  });

  test("is a rotation that is asked for, until it is fulfilled", async () => {
    const key = await makeKey();
    const before = await feedHead(store());
    await run(store(), (tx) => requestRotation(tx, key.id, false));
    expect((await ask(key.cluster, before)).keys).toMatchObject([{ keyId: key.id }]);
    await store().db.updateTable("keys").set({ rotation_requested_at: null }).where("id", "=", key.id).execute();
    expect((await ask(key.cluster, before)).keys).toEqual([]);
  });

  test("is a leak, once, and the revocation that it led to", async () => {
    const key = await makeKey();
    const [{ digest } = { digest: "" }] = (await findKey(store().db, key.id))?.versions ?? [];
    const [secret] = await findSecrets(store().db, [digest]);
    if (secret === undefined) throw new Error("the key is not found by its digest");
    const report = () => run(store(), (tx) => recordLeak(tx, secret, { reporter: "github", by: { actor: "github" } }));
    const before = await feedHead(store());
    expect(await report()).toBe(true);
    expect((await ask(key.cluster, before)).keys).toMatchObject([{ keyId: key.id }]);
    const after = await feedHead(store());
    expect([await report(), await feedHead(store())]).toEqual([false, after]);
    await run(store(), (tx) => revokeKey(tx, key.id, "Leaked"));
    expect((await ask(key.cluster, after)).keys).toMatchObject([{ keyId: key.id }]);
  });

  test("is none of what a declaration does, of another cluster, or of a key that nothing declares", async () => {
    const cluster = unique("cluster");
    const [declared, released] = [await makeKey(cluster), await makeKey(cluster)];
    const foreign = await makeKey();
    const before = await feedHead(store());
    await run(store(), (tx) => revokeKey(tx, declared.id, "Declared"));
    await run(store(), (tx) => releaseKey(tx, released.id));
    await run(store(), (tx) => revokeKey(tx, released.id, "ByHand"));
    await run(store(), (tx) => revokeKey(tx, foreign.id, "ByHand"));
    expect((await ask(cluster, before)).keys).toEqual([]);
  });

  test("is all that there is from the beginning, when the feed is pruned, and when the database was rolled back", async () => {
    const cluster = unique("cluster");
    const [revoked, asked] = [await makeKey(cluster), await makeKey(cluster)];
    await makeKey(cluster);
    const before = await feedHead(store());
    await run(store(), (tx) => revokeKey(tx, revoked.id, "ByHand"));
    await run(store(), (tx) => requestRotation(tx, asked.id, false));
    await makeKey();
    await pruneChanges(store(), 1);
    const head = await feedHead(store());
    for (const seq of [-1, before, head + 1_000]) {
      const { gap, keys } = await ask(cluster, seq);
      expect([seq, gap, keys.map(({ keyId }) => keyId)]).toEqual([seq, true, [revoked.id, asked.id].sort()]);
    }
    expect(await ask(cluster, head)).toMatchObject({ gap: false, keys: [] });
  });

  test("c26: is all that there is where the last change is another one by now", async () => {
    const key = await makeKey();
    await run(store(), (tx) => revokeKey(tx, key.id, "ByHand"));
    await makeKey();
    const lost = { seq: await feedHead(store()), id: randomUUID() };
    expect(await manualKeyChanges(store().db, key.cluster, lost)).toMatchObject({
      gap: true,
      keys: [{ keyId: key.id }],
    });
  });
});
