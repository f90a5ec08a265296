import { sql } from "kysely";
import { expect, test } from "vitest";
import { eachFact } from "../../../../domain/key/declaration/facts.ts";
import type { KeyPolicy } from "../../../../domain/key/declaration/key-policy.ts";
import { change } from "../../../../store/database/change.ts";
import {
  DigestTakenError,
  KeyRevokedError,
  OwnerTakenError,
  StaleDeclarationError,
  TooManyVersionsError,
  UnknownKeyError,
  VersionEndedError,
  VersionTakenError,
} from "../../../../store/database/errors.ts";
import { newId } from "../../../../store/database/ids.ts";
import type { Store } from "../../../../store/database/store.ts";
import { reserveVersion } from "../../../../store/keys/lifecycle/key-reservations.ts";
import {
  activateVersion,
  endRetiring,
  markMayBeRead,
  retireVersions,
  unmarkMayBeRead,
} from "../../../../store/keys/lifecycle/key-versions.ts";
import { updateKeyPolicies, updateKeyPolicy } from "../../../../store/keys/lifecycle/policy-update.ts";
import { releaseKey } from "../../../../store/keys/lifecycle/release.ts";
import { revokeKey, revokeKeys } from "../../../../store/keys/lifecycle/revocation.ts";
import { requestRotation } from "../../../../store/keys/lifecycle/rotation-request.ts";
import { findKey } from "../../../../store/keys/rows/find-key.ts";
import type { LoadedKey } from "../../../../store/keys/rows/key-rows.ts";
import { listKeys } from "../../../../store/keys/search/key-lists.ts";
import { recordUsage } from "../../../../store/keys/uses/usage.ts";
import { findOrphans } from "../../../../store/orphans.ts";
import { describeNightlyOnEachEngine, describeOnPostgres } from "../../../env/database/engines.ts";
import {
  digestOf,
  HOUR,
  makeTeam,
  NOW,
  nextVersion,
  policyOf,
  reservationOf,
  reserveKey,
  run,
  unique,
} from "../../fixtures.ts";
import { auditOfKey, feedHead, findKeyByOwner } from "../../questions.ts";

async function read(store: Store, keyId: string): Promise<LoadedKey> {
  const key = await findKey(store.db, keyId);
  if (key === undefined) throw new Error(`no key ${keyId}`);
  return key;
}

function statesOf(key: LoadedKey): Record<number, string> {
  return Object.fromEntries(key.versions.map(({ number, state }) => [number, state]));
}

describeNightlyOnEachEngine("A key", (store) => {
  const activate = (keyId: string, number: number, overlapMs = HOUR, at = NOW) =>
    run(store(), (tx) => activateVersion(tx, { keyId, number, overlapMs }), at);
  /** A key whose version `last` is active, each having succeeded the one before with an hour's overlap. */
  const keyWithVersions = async (last: number) => {
    const first = await reserveKey(store(), await makeTeam(store()));
    await activate(first.key.id, 1);
    for (let number = 2; number <= last; number++) {
      await run(store(), (tx) => reserveVersion(tx, nextVersion(first, number)));
      await activate(first.key.id, number, number * HOUR);
    }
    return first;
  };

  /** The same with versions reserved after it, of which the `lost` may have been read, and one more, which is not. */
  const keyWithLost = async (last: number, lost: readonly number[], unread: readonly number[] = []) => {
    const first = await keyWithVersions(last);
    const next = last + lost.length + unread.length + 1;
    for (let number = last + 1; number <= next; number++)
      await run(store(), (tx) => reserveVersion(tx, nextVersion(first, number)));
    for (const number of lost) await run(store(), (tx) => markMayBeRead(tx, first.key.id, number));
    return first.key;
  };

  test("an activation returns which old versions it has ended, also where its version is active already", async () => {
    const { key } = await keyWithVersions(2);
    expect(await activate(key.id, 2, HOUR, NOW + 2 * HOUR)).toEqual([1]);
    expect(statesOf(await read(store(), key.id))).toEqual({ 1: "retired", 2: "active" });
  });

  test("is read back as it was stored, whatever its policy", async () => {
    const home = await makeTeam(store());
    const policy: KeyPolicy = {
      ...eachFact((name) => `Another ${name}`),
      displayName: "Docs agent",
      scopes: ["memory:read", "gateway:embed"],
      boundGatewayId: "",
      libraryIds: ["lib_b", "lib_a"],
      mcpDefaultLibraryId: "lib_a",
      allowedModels: ["m"],
      suspended: true,
      expiresAt: NOW + 3 * HOUR + 7,
      rateLimit: { requestsPerMinute: 10, burst: 2, scope: "Installation" },
      concurrent: 3,
      tokenLimit: { tokensPerMinute: 1000, scope: "Installation" },
      budgets: [{ tokens: 5, period: "Month", timeZone: "UTC", onExhausted: "Refuse" }],
      subject: { mode: "Bound", subject: "ada" },
      allowedCIDRs: ["2001:db8::/32", "10.0.0.0/8"],
    };
    const reservation = await reserveKey(store(), home, { policy, expiresAfter: 1, rotationTrigger: "2026-11" });
    const { key } = reservation;
    expect(await findKeyByOwner(store().db, key.cluster, key.ownerUid ?? "")).toMatchObject({
      id: key.id,
      cluster: key.cluster,
      namespace: home.namespace,
      name: key.name,
      ownerUid: key.ownerUid,
      teamId: home.teamId,
      source: "Generate",
      state: "suspended",
      policy: { ...policy, libraryIds: ["lib_a", "lib_b"] },
      generation: 1,
      revocation: null,
      rotationRequest: null,
      lastNumber: 1,
      versions: [
        {
          number: 1,
          digest: reservation.digest,
          prefix: reservation.prefix,
          state: "reserved",
          mintedAt: NOW,
          activatedAt: null,
          retireAt: null,
          expiresAt: NOW + 1,
          rotationTrigger: "2026-11",
          lastUsedAt: null,
          leakedAt: null,
        },
      ],
    });
    expect(await findKeyByOwner(store().db, "another cluster", key.ownerUid ?? "")).toBeUndefined();
  });

  test("c3: a reservation repeated after a lost reply makes no second version", async () => {
    const reservation = await reserveKey(store(), await makeTeam(store()));
    await run(store(), (tx) => reserveVersion(tx, reservation));
    await activate(reservation.key.id, 1);
    await run(store(), (tx) => reserveVersion(tx, reservation));
    const key = await read(store(), reservation.key.id);
    expect(statesOf(key)).toEqual({ 1: "active" });
    expect((await auditOfKey(store().db, key.id)).map(({ kind }) => kind)).toEqual(["key.reserved", "key.activated"]);
  });

  test("a version number is one secret's, and a secret one version's", async () => {
    const home = await makeTeam(store());
    const one = await reserveKey(store(), home);
    const other = { ...one, digest: digestOf("another") };
    await expect(run(store(), (tx) => reserveVersion(tx, other))).rejects.toThrow(VersionTakenError);
    await expect(run(store(), (tx) => reserveVersion(tx, { ...one, number: 2 }))).rejects.toThrow(DigestTakenError);
    const stolen = reservationOf(home, { digest: one.digest });
    await expect(run(store(), (tx) => reserveVersion(tx, stolen))).rejects.toThrow(DigestTakenError);
    expect(await findKey(store().db, stolen.key.id)).toBeUndefined();
  });

  test("a declaration owns one key that lives, and a new one once that is revoked", async () => {
    const home = await makeTeam(store());
    const one = await reserveKey(store(), home);
    const two = reservationOf(home, { key: { ...one.key, id: newId("key") } });
    await expect(run(store(), (tx) => reserveVersion(tx, two))).rejects.toThrow(OwnerTakenError);
    await run(store(), (tx) => revokeKey(tx, one.key.id, "Moved"));
    expect((await findKeyByOwner(store().db, one.key.cluster, one.key.ownerUid ?? ""))?.id).toBe(one.key.id);
    await run(store(), (tx) => reserveVersion(tx, two));
    expect((await findKeyByOwner(store().db, one.key.cluster, one.key.ownerUid ?? ""))?.id).toBe(two.key.id);
    await run(store(), (tx) => revokeKey(tx, two.key.id, "Moved"));
    expect((await findKeyByOwner(store().db, one.key.cluster, one.key.ownerUid ?? ""))?.id).toBe(two.key.id);
  });

  test("c2: an activation voids the other reserved versions, which can never be reserved or activated again", async () => {
    const lost = await reserveKey(store(), await makeTeam(store()));
    const keyId = lost.key.id;
    await run(store(), (tx) => reserveVersion(tx, nextVersion(lost, 2)));
    expect(statesOf(await read(store(), keyId))).toEqual({ 1: "reserved", 2: "reserved" });
    await activate(keyId, 2);
    const key = await read(store(), keyId);
    expect(statesOf(key)).toEqual({ 2: "active" });
    expect(key.lastNumber).toBe(2);
    await expect(activate(keyId, 1)).rejects.toThrow(VersionEndedError);
    await expect(run(store(), (tx) => reserveVersion(tx, lost))).rejects.toThrow(VersionEndedError);
  });

  test("c4: the lost version that turns out to be in the Secret is the one to be activated", async () => {
    const found = await reserveKey(store(), await makeTeam(store()));
    await run(store(), (tx) => reserveVersion(tx, nextVersion(found, 2)));
    await activate(found.key.id, 1);
    expect(statesOf(await read(store(), found.key.id))).toEqual({ 1: "active" });
    expect((await read(store(), found.key.id)).lastNumber).toBe(2);
  });

  test("an activation sets the old version retiring with its deadline; repeated, it changes nothing", async () => {
    const first = await keyWithVersions(2);
    const before = await read(store(), first.key.id);
    expect(before.versions).toMatchObject([
      { number: 2, state: "active", activatedAt: NOW },
      { number: 1, state: "retiring", retireAt: NOW + 2 * HOUR },
    ]);
    await activate(first.key.id, 2, 9 * HOUR, NOW + HOUR);
    expect(await read(store(), first.key.id)).toEqual(before);
  });

  test("c51: I1: a fifth retiring version is refused, and none ends before its time, until the oldest has ended", async () => {
    const first = await keyWithVersions(5);
    const { key } = first;
    const old = { 2: "retiring", 3: "retiring", 4: "retiring" };
    await run(store(), (tx) => reserveVersion(tx, nextVersion(first, 6)));
    await expect(activate(key.id, 6)).rejects.toThrow(TooManyVersionsError);
    expect(statesOf(await read(store(), key.id))).toEqual({ 1: "retiring", ...old, 5: "active", 6: "reserved" });

    const end = NOW + 2 * HOUR;
    await activate(key.id, 6, end + HOUR, end);
    expect(statesOf(await read(store(), key.id))).toEqual({ ...old, 5: "retiring", 6: "active" });
  });

  test("c51: an old version that has expired takes no room", async () => {
    const first = await keyWithVersions(5);
    const { key } = first;
    await sql`update key_versions set expires_at = ${new Date(NOW).toISOString()}::timestamptz
      where key_id = ${key.id} and number = 3`.execute(store().db);
    await run(store(), (tx) => reserveVersion(tx, nextVersion(first, 6)));
    await activate(key.id, 6, NOW + HOUR, NOW + 1);
    const { versions } = await read(store(), key.id);
    expect(versions.map(({ number, state }) => `${number} ${state}`)).toEqual([
      ...["6 active", "5 retiring", "4 retiring", "3 retired", "2 retiring", "1 retiring"],
    ]);
    expect(versions.find(({ number }) => number === 3)?.retireAt).toBe(NOW);
  });

  test("an activation without an overlap ends every earlier version at once", async () => {
    const first = await keyWithVersions(3);
    await run(store(), (tx) => reserveVersion(tx, nextVersion(first, 4)));
    await activate(first.key.id, 4, 0);
    expect(statesOf(await read(store(), first.key.id))).toEqual({
      1: "retired",
      2: "retired",
      3: "retired",
      4: "active",
    });
  });

  test("c66: an activation has each reserved version that may have been read go on for the overlap, and voids the others", async () => {
    const key = await keyWithLost(1, [2, 3], [4]);
    await activate(key.id, 5, HOUR);
    const { versions } = await read(store(), key.id);
    const living = versions.map(({ number, state, retireAt }) => [number, state, retireAt]);
    const until = NOW + HOUR;
    expect(living).toEqual([[5, "active", null], ...[3, 2, 1].map((number) => [number, "retiring", until])]);
  });

  test("c66: an activation is refused until each version that goes on has room, and nothing is changed", async () => {
    const key = await keyWithLost(3, [4, 5]);
    const before = await read(store(), key.id);
    await expect(activate(key.id, 6, HOUR)).rejects.toThrow(TooManyVersionsError);
    expect(await read(store(), key.id)).toEqual(before);
    await activate(key.id, 6, HOUR, NOW + 2 * HOUR);
    expect(statesOf(await read(store(), key.id))).toEqual({
      ...{ 2: "retiring", 3: "retiring", 4: "retiring", 5: "retiring", 6: "active" },
    });
  });

  test("c66: an activation without an overlap ends what may have been read, too, and says so", async () => {
    const key = await keyWithLost(1, [2]);
    expect((await activate(key.id, 3, 0)).sort()).toEqual([1, 2]);
    expect(statesOf(await read(store(), key.id))).toEqual({ 1: "retired", 2: "retired", 3: "active" });
  });

  test("c66: a reserved version that makes way for another is voided without an overlap, and goes on for one where there is room", async () => {
    const first = await keyWithVersions(4);
    for (const number of [5, 6]) await run(store(), (tx) => reserveVersion(tx, nextVersion(first, number)));
    const supersede = (version: number, number: number, overlapMs: number) =>
      run(store(), (tx) => reserveVersion(tx, { ...nextVersion(first, version), supersedes: { number, overlapMs } }));
    await supersede(7, 5, 0);
    await supersede(8, 6, HOUR);
    const key = await read(store(), first.key.id);
    expect(statesOf(key)).toEqual({
      ...{ 1: "retiring", 2: "retiring", 3: "retiring", 4: "active", 6: "retiring", 7: "reserved", 8: "reserved" },
    });
    expect(key.versions.find(({ number }) => number === 6)?.retireAt).toBe(NOW + HOUR);
    await expect(supersede(9, 7, HOUR)).rejects.toThrow(TooManyVersionsError);
    expect(await read(store(), first.key.id)).toEqual(key);
  });

  test("c66: a release voids what no Secret can have held, and no other version", async () => {
    const key = await keyWithLost(1, [2], [3]);
    await run(store(), (tx) => releaseKey(tx, key.id));
    expect(statesOf(await read(store(), key.id))).toEqual({ 1: "active", 2: "reserved" });
  });

  test("c66: that a version may be read is noted once, may be taken back, is in no feed, and is refused of one that is not reserved", async () => {
    const { key } = await reserveKey(store(), await makeTeam(store()));
    const head = await feedHead(store());
    const noted = async () => (await read(store(), key.id)).versions.map(({ mayBeRead }) => mayBeRead);
    const mark = () => run(store(), (tx) => markMayBeRead(tx, key.id, 1));
    expect(await noted()).toEqual([false]);
    expect([await mark(), await mark(), await noted()]).toEqual([true, false, [true]]);
    await run(store(), (tx) => unmarkMayBeRead(tx, key.id, 1));
    expect(await noted()).toEqual([false]);
    expect(await feedHead(store())).toBe(head);
    await run(store(), (tx) => revokeKey(tx, key.id, "ByHand"));
    await expect(mark()).rejects.toThrow(VersionEndedError);
  });

  test("c66: what an earlier build reserves counts as read: it does not say", async () => {
    const { key } = await reserveKey(store(), await makeTeam(store()));
    await sql`insert into key_versions (key_id, number, digest, prefix, state, source_kind, minted_at)
      values (${key.id}, 2, ${Buffer.alloc(32, 7)}, 'inf_', 'reserved', 'minted', now())`.execute(store().db);
    const versions = (await read(store(), key.id)).versions.map(({ number, mayBeRead }) => [number, mayBeRead]);
    expect(versions).toEqual([
      [2, true],
      [1, false],
    ]);
  });

  test("I1: the database refuses a second active version and a fifth retiring one, whatever writes", async () => {
    const first = await keyWithVersions(5);
    const become = (number: number, set: string) =>
      sql`update key_versions set ${sql.raw(set)} where key_id = ${first.key.id} and number = ${number}`.execute(
        store().db,
      );
    await expect(become(3, "state = 'active'")).rejects.toThrow(/key_versions_one_active/);
    await run(store(), (tx) => reserveVersion(tx, nextVersion(first, 6)));
    for (const slot of [1, 2, 3, 4]) {
      await expect(become(6, `state = 'retiring', retire_at = now(), retiring_slot = ${slot}`)).rejects.toThrow(
        /key_versions_four_retiring/,
      );
    }
    for (const slot of ["0", "5", "null"]) {
      await expect(become(6, `state = 'retiring', retire_at = now(), retiring_slot = ${slot}`)).rejects.toThrow(
        /key_versions_retiring/,
      );
    }
  });

  test("c10: a retiring version past its deadline is retired, one before it is not", async () => {
    const { key } = await keyWithVersions(3);
    await run(store(), (tx) => retireVersions(tx, key.id), NOW + 2 * HOUR);
    expect(statesOf(await read(store(), key.id))).toEqual({ 1: "retired", 2: "retiring", 3: "active" });
  });

  test("a retiring version can be ended before its deadline, and no other can", async () => {
    const { key } = await keyWithVersions(3);
    for (const number of [1, 3, 9]) await run(store(), (tx) => endRetiring(tx, key.id, number));
    expect(statesOf(await read(store(), key.id))).toEqual({ 1: "retired", 2: "retiring", 3: "active" });
  });

  test("I5: revoked is final: nothing that comes later revives the key or changes what was said of it", async () => {
    const first = await keyWithVersions(3);
    const keyId = first.key.id;
    await run(store(), (tx) => reserveVersion(tx, nextVersion(first, 4)));
    await run(store(), (tx) => revokeKey(tx, keyId, "ByHand", { actor: "user:eve" }));
    const revoked = await read(store(), keyId);
    expect(revoked).toMatchObject({ state: "revoked", revocation: { reason: "ByHand", at: NOW } });
    expect(statesOf(revoked)).toEqual({ 1: "revoked", 2: "revoked", 3: "revoked", 4: "revoked" });

    await expect(activate(keyId, 4)).rejects.toThrow(KeyRevokedError);
    await expect(run(store(), (tx) => reserveVersion(tx, nextVersion(first, 5)))).rejects.toThrow(KeyRevokedError);
    await run(store(), (tx) =>
      updateKeyPolicy(tx, { keyId, policy: policyOf({ scopes: [] }), expiresAfter: null, generation: 7 }),
    );
    await run(store(), (tx) => requestRotation(tx, keyId, true));
    await run(store(), (tx) => retireVersions(tx, keyId), NOW + 9 * HOUR);
    await run(store(), (tx) => endRetiring(tx, keyId, 2));
    await run(store(), (tx) => releaseKey(tx, keyId));
    await run(store(), (tx) => revokeKey(tx, keyId, "Deleted"), NOW + HOUR);
    expect(await read(store(), keyId)).toEqual(revoked);
    await expect(sql`update keys set state = 'active' where id = ${keyId}`.execute(store().db)).rejects.toThrow(
      /final/,
    );
    for (const state of ["active", "reserved", "retired"]) {
      await expect(
        sql`update key_versions set state = ${state} where key_id = ${keyId} and number = 4`.execute(store().db),
      ).rejects.toThrow(/final/);
    }
    expect((await auditOfKey(store().db, keyId)).at(-1)).toMatchObject({
      kind: "key.revoked",
      at: NOW,
      actor: "user:eve",
      detail: { reason: "ByHand" },
    });
  });

  test("c16: a declaration older than the one that was applied is refused, the same one again is not", async () => {
    const first = await reserveKey(store(), await makeTeam(store()));
    const keyId = first.key.id;
    const update = (generation: number, displayName: string) =>
      run(store(), (tx) =>
        updateKeyPolicy(tx, { keyId, policy: policyOf({ displayName }), expiresAfter: null, generation }),
      );
    await update(5, "five");
    await expect(update(4, "four")).rejects.toThrow(StaleDeclarationError);
    await expect(run(store(), (tx) => reserveVersion(tx, nextVersion(first, 2)))).rejects.toThrow(
      StaleDeclarationError,
    );
    await update(5, "five again");
    expect(await read(store(), keyId)).toMatchObject({ generation: 5, policy: { displayName: "five again" } });
  });

  test("a policy can be changed in every part without a new secret", async () => {
    const { key } = await keyWithVersions(1);
    const before = await read(store(), key.id);
    const policy = policyOf({
      displayName: "new",
      scopes: ["gateway:routes"],
      boundGatewayId: "gw_x",
      libraryIds: ["lib_x"],
      mcpDefaultLibraryId: "lib_x",
      allowedModels: [],
      suspended: true,
      expiresAt: NOW,
      rateLimit: { requestsPerMinute: 1, burst: 1, scope: "Replica" },
      concurrent: 3,
    });
    await run(store(), (tx) => updateKeyPolicy(tx, { keyId: key.id, policy, generation: 2, expiresAfter: null }));
    const after = await read(store(), key.id);
    expect(after).toMatchObject({ state: "suspended", policy, generation: 2 });
    expect(after.versions).toEqual(before.versions);
    await run(store(), (tx) =>
      updateKeyPolicy(tx, { keyId: key.id, policy: policyOf(), generation: 3, expiresAfter: null }),
    );
    expect(await read(store(), key.id)).toMatchObject({ state: "active", policy: policyOf() });
  });

  test("c71: many keys are revoked in one transaction: a reason and an audit row each, and the first one stands", async () => {
    const keys = await Promise.all([1, 2, 3].map((last) => keyWithVersions(last)));
    const [first = "", second = "", third = ""] = keys.map(({ key }) => key.id);
    await run(store(), (tx) => revokeKey(tx, first, "ByHand"));
    const { seq } = await change(store(), null, (tx) =>
      revokeKeys(tx, [
        { keyId: first, reason: "Deleted" },
        { keyId: second, reason: "Deleted" },
        { keyId: third, reason: "Declared" },
        { keyId: second, reason: "Deleted" },
        { keyId: "key_that_is_not_there", reason: "Deleted" },
      ]),
    );
    const revoked = await Promise.all([first, second, third].map((id) => read(store(), id)));
    expect(revoked.map(({ state, revocation }) => [state, revocation?.reason])).toEqual([
      ["revoked", "ByHand"],
      ["revoked", "Deleted"],
      ["revoked", "Declared"],
    ]);
    expect(statesOf(revoked[2] ?? expect.fail())).toEqual({ 1: "revoked", 2: "revoked", 3: "revoked" });
    const receipts = revoked.map(({ revocation }) => revocation?.seq ?? 0);
    expect(Math.max(...receipts), "the seq by which all of it is seen").toBe(seq);
    expect(new Set(receipts).size).toBe(3);
    for (const [keyId, reason] of [
      [first, "ByHand"],
      [second, "Deleted"],
      [third, "Declared"],
    ] as const) {
      const revocations = (await auditOfKey(store().db, keyId)).filter(({ kind }) => kind === "key.revoked");
      expect(revocations.map(({ detail }) => detail)).toEqual([{ reason }]);
    }
  });

  test("c71: many policies are applied in one transaction, each to its own key; a stale one undoes them all", async () => {
    const keys = await Promise.all([1, 2, 3].map((last) => keyWithVersions(last)));
    const ids = keys.map(({ key }) => key.id);
    await run(store(), (tx) => revokeKey(tx, ids[2] ?? "", "ByHand"));
    const policies = [
      policyOf({ suspended: true, libraryIds: ["lib_a", "lib_b"], expiresAt: NOW, allowedModels: ['a "model"'] }),
      policyOf({
        displayName: "it's {new}",
        libraryIds: [],
        rateLimit: { requestsPerMinute: 5, burst: 2, scope: "Replica" },
      }),
      policyOf({ displayName: "too late" }),
    ];
    const updates = ids.map((keyId, i) => ({
      ...{ keyId, policy: policies[i] ?? expect.fail(), generation: 2 + i },
      expiresAfter: i === 0 ? HOUR : null,
    }));
    await run(store(), (tx) => updateKeyPolicies(tx, updates));
    const [first, second, third] = await Promise.all(ids.map((id) => read(store(), id)));
    expect(first).toMatchObject({ state: "suspended", generation: 2, policy: policies[0] });
    expect(first?.versions.map(({ mintedAt, expiresAt }) => (expiresAt ?? 0) - mintedAt)).toEqual([HOUR]);
    expect(second).toMatchObject({ state: "active", generation: 3, policy: policies[1] });
    expect(second?.versions.map(({ expiresAt }) => expiresAt)).toEqual([null, null]);
    expect(third).toMatchObject({ state: "revoked", policy: { displayName: "A key" } });
    const audited = await Promise.all(ids.map((id) => auditOfKey(store().db, id)));
    expect(audited.map((rows) => rows.filter(({ kind }) => kind === "key.policy_updated").length)).toEqual([1, 1, 0]);

    const again = updates.map((update) => ({ ...update, policy: policyOf(), generation: 2 }));
    await expect(run(store(), (tx) => updateKeyPolicies(tx, again))).rejects.toThrow(StaleDeclarationError);
    expect((await read(store(), ids[0] ?? "")).state).toBe("suspended");
  });

  test("what a key says of itself for people is changed and recorded as any field", async () => {
    const { key } = await reserveKey(store(), await makeTeam(store()), { policy: policyOf({ owner: "ann" }) });
    const update = { keyId: key.id, policy: policyOf({ owner: "bob" }), generation: 2, expiresAfter: null };
    await run(store(), (tx) => updateKeyPolicy(tx, update));
    const changed = { owner: { before: "ann", after: "bob" } };
    expect((await auditOfKey(store().db, key.id)).at(-1)).toMatchObject({ detail: { changed } });
    expect((await read(store(), key.id)).policy).toEqual(policyOf({ owner: "bob" }));
  });

  test("a key that is not there cannot be activated", async () => {
    await expect(activate(newId("key"), 1)).rejects.toThrow(UnknownKeyError);
  });

  test("a released key keeps working and has no owner", async () => {
    const { key } = await keyWithVersions(1);
    await run(store(), (tx) => releaseKey(tx, key.id));
    expect(await read(store(), key.id)).toMatchObject({
      ownerUid: null,
      state: "active",
      versions: [{ state: "active" }],
    });
    expect(await findKeyByOwner(store().db, key.cluster, key.ownerUid ?? "")).toBeUndefined();
  });

  test("a rotation requested by hand is fulfilled by a version that was minted after it", async () => {
    const first = await keyWithVersions(1);
    const keyId = first.key.id;
    await run(store(), (tx) => reserveVersion(tx, nextVersion(first, 2)));
    await run(store(), (tx) => requestRotation(tx, keyId, true));
    await activate(keyId, 2);
    expect((await read(store(), keyId)).rotationRequest).toEqual({ at: NOW + 1, revokeOld: true });
    await run(store(), (tx) => reserveVersion(tx, nextVersion(first, 3)), NOW + 2);
    await activate(keyId, 3);
    expect((await read(store(), keyId)).rotationRequest).toBeNull();
  });

  test("a key shows the versions that live and the last five, but none that was voided", async () => {
    const first = await keyWithVersions(5);
    for (let number = 6; number <= 9; number++) {
      await run(store(), (tx) => reserveVersion(tx, nextVersion(first, number)));
      await activate(first.key.id, number, NOW + number * HOUR, NOW + (number - 4) * HOUR);
    }
    expect(Object.keys(statesOf(await read(store(), first.key.id)))).toEqual(["5", "6", "7", "8", "9"]);
    expect((await read(store(), first.key.id)).lastNumber).toBe(9);
  });

  test("a revocation comes with its receipt, by whatever way, and the first one stands", async () => {
    const { key } = await reserveKey(store(), await makeTeam(store()));
    const { seq } = await change(store(), null, (tx) => revokeKey(tx, key.id, "ByHand"));
    expect((await read(store(), key.id)).revocation?.seq).toBe(seq);
    await change(store(), null, (tx) => revokeKey(tx, key.id, "Deleted"));
    expect((await read(store(), key.id)).revocation?.seq).toBe(seq);
  });

  test("a key that was revoked for good is not hidden by one that was left when the namespace moved", async () => {
    const [home, other] = [await makeTeam(store()), await makeTeam(store())];
    const { key } = await reserveKey(store(), home);
    await run(store(), (tx) => revokeKey(tx, key.id, "ByHand"));
    const later = await reserveKey(store(), other, { key: { ownerUid: key.ownerUid } });
    await run(store(), (tx) => revokeKey(tx, later.key.id, "Moved"));
    expect((await findKeyByOwner(store().db, key.cluster, key.ownerUid ?? ""))?.id).toBe(key.id);
  });

  test("a version says when it was last used, by the latest report of any replica", async () => {
    const { key } = await keyWithVersions(2);
    const use = (version: number, at: number) => ({ keyId: key.id, version, at });
    await recordUsage(store(), [use(1, NOW), use(2, NOW + 5), use(1, NOW + 3), { ...use(2, NOW + 4), address: "::1" }]);
    await recordUsage(store(), [use(2, NOW + 1)]);
    expect((await read(store(), key.id)).versions.map(({ lastUsedAt }) => lastUsedAt)).toEqual([NOW + 5, NOW + 3]);
    await recordUsage(store(), [{ ...use(1, NOW + 9), address: "192.0.2.7", userAgent: "curl/8" }]);
    await recordUsage(store(), []);
    const usage = await store().db.selectFrom("key_usage").selectAll().where("key_id", "=", key.id).execute();
    expect(usage.find(({ version }) => version === 1)).toMatchObject({
      last_used_at: new Date(NOW + 9),
      last_address: "192.0.2.7",
      last_user_agent: "curl/8",
    });
  });

  test("b64: a list has a key's prefix, state and versions, page by page, and no digest", async () => {
    const home = await makeTeam(store(), { cluster: unique("cluster") });
    const keys = [];
    for (let i = 0; i < 5; i++) keys.push(await reserveKey(store(), home));
    const ids = keys.map(({ key }) => key.id).sort();
    const first = await listKeys(store().db, { team: home.teamId, limit: 3 });
    const second = await listKeys(store().db, { cluster: home.cluster, afterId: first[2]?.id ?? "", limit: 3 });
    expect([...first, ...second].map(({ id }) => id)).toEqual(ids);
    expect(first[0]?.versions[0]).toMatchObject({ prefix: "inf_ABCDEFGH", state: "reserved" });
    const text = JSON.stringify([...first, ...second]);
    for (const { digest } of keys) expect(text).not.toContain(JSON.stringify(digest).slice(1, -1));
    expect(text).not.toContain("digest");
  });

  test("c13: garbage collection sees the keys that live and are no longer declared, within its scope, and how many live", async () => {
    const cluster = unique("cluster");
    const home = await makeTeam(store(), { cluster });
    const other = await makeTeam(store(), { cluster });
    const elsewhere = await makeTeam(store(), { cluster: unique("cluster") });
    const kept = await reserveKey(store(), home);
    const orphan = await reserveKey(store(), home);
    const revoked = await reserveKey(store(), home);
    const released = await reserveKey(store(), home);
    const far = await reserveKey(store(), other);
    await reserveKey(store(), elsewhere);
    await run(store(), (tx) => revokeKey(tx, revoked.key.id, "Deleted"));
    await run(store(), (tx) => releaseKey(tx, released.key.id));
    const find = (namespaces: readonly string[] | null, present: readonly (typeof kept)[]) =>
      findOrphans(store().db, "PlatformKey", {
        cluster,
        namespaces,
        uids: present.map(({ key }) => key.ownerUid ?? ""),
      });
    expect(await find([home.namespace], [kept])).toMatchObject({
      orphans: [{ id: orphan.key.id, ownerUid: orphan.key.ownerUid, name: orphan.key.name }],
      total: 2,
    });
    const all = await find(null, [kept]);
    expect(all.orphans.map(({ id }) => id).sort()).toEqual([orphan.key.id, far.key.id].sort());
    expect(all.total).toBe(3);
    expect(await find(null, [kept, orphan, far])).toEqual({ orphans: [], total: 3 });
  });

  test("every transition is in the audit log, and no secret's digest is", async () => {
    const first = await keyWithVersions(2);
    const keyId = first.key.id;
    await run(store(), (tx) => updateKeyPolicy(tx, { keyId, policy: policyOf(), generation: 2, expiresAfter: null }));
    await run(store(), (tx) => requestRotation(tx, keyId, false, { actor: "user:ann" }));
    await run(store(), (tx) => retireVersions(tx, keyId), NOW + 9 * HOUR);
    await run(store(), (tx) => releaseKey(tx, keyId));
    await run(store(), (tx) => revokeKey(tx, keyId, "ByHand"));
    const events = await auditOfKey(store().db, keyId);
    expect(events.map(({ kind }) => kind)).toEqual([
      "key.reserved",
      "key.activated",
      "key.reserved",
      "key.activated",
      "key.policy_updated",
      "key.rotation_requested",
      "key.retired",
      "key.released",
      "key.revoked",
    ]);
    expect(events.every(({ teamId }) => teamId === first.key.teamId)).toBe(true);
    expect(events[5]?.actor).toBe("user:ann");
    expect(JSON.stringify(events)).not.toContain(Buffer.from(first.digest, "latin1").toString("hex"));
  });

  test("an audit event is undone with the transaction of its transition", async () => {
    const reservation = reservationOf(await makeTeam(store()));
    await expect(
      run(store(), async (tx) => {
        await reserveVersion(tx, reservation);
        throw new Error("crash");
      }),
    ).rejects.toThrow("crash");
    expect(await auditOfKey(store().db, reservation.key.id)).toEqual([]);
    expect(await findKey(store().db, reservation.key.id)).toBeUndefined();
  });
});

describeOnPostgres("One key, several writers at once", (store) => {
  test("I5: a revocation that meets an activation wins, whichever comes first", async () => {
    const home = await makeTeam(store());
    for (let round = 0; round < 20; round++) {
      const { key } = await reserveKey(store(), home);
      await Promise.allSettled([
        run(store(), (tx) => activateVersion(tx, { keyId: key.id, number: 1, overlapMs: 0 })),
        run(store(), (tx) => revokeKey(tx, key.id, "ByHand")),
      ]);
      const after = await read(store(), key.id);
      expect([after.state, statesOf(after)]).toEqual(["revoked", { 1: "revoked" }]);
    }
  });

  test("of two requests for a rotation at once, none loses that the old version shall end", async () => {
    const home = await makeTeam(store());
    for (let round = 0; round < 20; round++) {
      const { key } = await reserveKey(store(), home);
      await Promise.all(
        [true, false].map((revokeOld, i) => run(store(), (tx) => requestRotation(tx, key.id, revokeOld), NOW + i)),
      );
      expect((await read(store(), key.id)).rotationRequest).toEqual({ at: NOW + 1, revokeOld: true });
    }
  });

  test("two controllers that mint for one declaration at once make one key", async () => {
    const home = await makeTeam(store());
    const one = reservationOf(home);
    const two = { ...one, digest: digestOf("two"), key: { ...one.key, id: newId("key") } };
    const outcomes = await Promise.allSettled(
      [one, two].map((reservation) => run(store(), (tx) => reserveVersion(tx, reservation))),
    );
    expect(outcomes.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    expect(await listKeys(store().db, { team: home.teamId, limit: 9 })).toHaveLength(1);
  });
});
