/** The checker of a chaos run can fail: each of its rules is shown a world that breaks it, and one that does not. */
import { sql } from "kysely";
import { describe, expect, it, vi } from "vitest";
import { keyDigest } from "../../domain/key/secret/key-format.ts";
import { change, takeLeadership } from "../../store/database/change.ts";
import { reserveVersion } from "../../store/keys/lifecycle/key-reservations.ts";
import { activateVersion } from "../../store/keys/lifecycle/key-versions.ts";
import { updateKeyPolicy } from "../../store/keys/lifecycle/policy-update.ts";
import { revokeKey } from "../../store/keys/lifecycle/revocation.ts";
import { describeOnPostgres } from "../env/database/engines.ts";
import { makeTeam, nextVersion, reservationOf } from "../store/fixtures.ts";
import { checkCounts } from "./counts.ts";
import { watchEndings } from "./endings.ts";
import { BOUND, judgeAnswer, type TimedAnswer } from "./judgement.ts";
import { checkTakeovers, type Takeover, watchLeaderships } from "./leaderships.ts";
import { type KeySpec, type ModelDeclaration, newModel } from "./model.ts";
import { searchFor } from "./plaintext.ts";
import { hex } from "./probers.ts";
import { createReport } from "./report.ts";
import {
  checkKept,
  checkPlanted,
  checkRules,
  checkVoided,
  countByOwner,
  livingKeysOf,
  mintedVersions,
} from "./rules.ts";
import { base64, forgedKey, watchSecrets } from "./secrets.ts";
import { lookAtSecrets, type Row, type Standings, takeIn } from "./standings.ts";
import type { WatchedObject } from "./watch.ts";
import { checkRates, checkWrites } from "./writes.ts";

function declaration(namespace: string, name: string): ModelDeclaration {
  return {
    ...{ title: `${namespace}/${name}`, namespace, name, secretName: name, dataKey: "api-key", uid: undefined },
    ...{ spec: { rotation: { trigger: "0" }, secret: {} }, causes: 1, holds: 0, createdAt: 0, interval: undefined },
    ...{ deleting: false, revokedByHand: false, moved: false, imported: undefined },
  };
}

const newReport = () => createReport(0, () => {});

describe("what a replica answers", () => {
  const ROW: Row = {
    digest: "d",
    keyId: "k",
    ownerUid: "u",
    version: 1,
    versionState: "active",
    usableSinceMinted: true,
    usable: true,
    ended: false,
    until: null,
    seq: 1,
    interruptions: 1,
  };
  const GONE: Partial<Row> = { versionState: "revoked", usable: false, ended: true, seq: 2 };
  /** The standing after looks that ended at these times. */
  const standingAfter = (...looks: readonly (readonly [number, Partial<Row>])[]) =>
    looks
      .reduce<Standings>(
        (known, [endedAt, row]) => takeIn(known, { beganAt: endedAt, endedAt, rows: [{ ...ROW, ...row }] }),
        new Map(),
      )
      .get("d");
  const answer = (status: number, sentAt: number): TimedAnswer => {
    return { status, sentAt, receivedAt: sentAt + 1, sentAtWall: sentAt, receivedAtWall: sentAt + 1 };
  };

  /** A secret that a Secret held from then on. */
  const seen = (seenAt: number) => ({ seenAt, refusedFrom: undefined });

  it("a revoked key that is let in after the bound is a violation, and before it none", () => {
    const revoked = standingAfter([0, {}], [1_000, GONE]);
    expect(judgeAnswer(answer(200, 1_000 + BOUND), revoked, seen(0))).toBeUndefined();
    expect(judgeAnswer(answer(200, 1_001 + BOUND), revoked, seen(0))?.rule).toBe("I5/I9");
    expect(judgeAnswer(answer(401, 60_000), revoked, seen(0))).toBeUndefined();
    expect(judgeAnswer(answer(503, 60_000), revoked, seen(0))).toBeUndefined();
  });

  it("a suspended key that is let in after the bound is a violation, unless it was changed again meanwhile", () => {
    const suspended = { usable: false, seq: 2 };
    expect(judgeAnswer(answer(200, 20_000), standingAfter([0, {}], [1_000, suspended]), seen(0))?.rule).toBe("I9");
    const twice = standingAfter([0, {}], [1_000, suspended], [15_000, { usable: false, seq: 4 }]);
    expect(judgeAnswer(answer(200, 20_000), twice, seen(0))).toBeUndefined();
  });

  it("a key that is refused although its Secret holds it and the store knows it is a violation", () => {
    expect(judgeAnswer(answer(401, 100), standingAfter([50, {}]), seen(90))?.rule).toBe("I2");
    expect(judgeAnswer(answer(401, 80), standingAfter([50, {}]), seen(90))).toBeUndefined();
    const switchedBefore = standingAfter([50, { usableSinceMinted: false }]);
    expect(judgeAnswer(answer(401, 100), switchedBefore, seen(0))).toBeUndefined();
    expect(judgeAnswer(answer(401, 50 + BOUND), switchedBefore, seen(0))?.rule).toBe("I2");
    const resumed = standingAfter([0, { usable: false }], [1_000, { seq: 2 }]);
    expect(judgeAnswer(answer(401, 2_000), resumed, seen(0))).toBeUndefined();
    expect(judgeAnswer(answer(401, 1_000 + BOUND), resumed, seen(0))?.rule).toBe("I2");
    const moved = standingAfter([0, {}], [1_000, { seq: 3, interruptions: 3 }]);
    expect(judgeAnswer(answer(401, 500), moved, seen(0))).toBeUndefined();
    expect(judgeAnswer(answer(401, 1_000 + BOUND), moved, seen(0))?.rule).toBe("I2");
  });

  it("a deadline ends a key by itself", () => {
    const ending = standingAfter([0, { until: 10_000 }]);
    expect(judgeAnswer(answer(200, 9_000), ending, seen(0))).toBeUndefined();
    expect(judgeAnswer(answer(200, 12_000), ending, seen(0))?.rule).toBe("c10");
    expect(judgeAnswer(answer(401, 8_000), ending, seen(0))?.rule).toBe("I2");
    expect(judgeAnswer(answer(401, 9_999), ending, seen(0))).toBeUndefined();
  });

  it("a key that is let in once its receipt is there is a violation, and before it none", () => {
    const revoked = standingAfter([0, {}], [1_000, GONE]);
    const known = { seenAt: 0, refusedFrom: 2_000 };
    expect(judgeAnswer(answer(200, 1_999), revoked, known)).toBeUndefined();
    expect(judgeAnswer(answer(200, 2_000), revoked, known)?.rule).toBe("I9");
    expect(judgeAnswer(answer(401, 2_000), revoked, known)).toBeUndefined();
  });

  it("a value that is no key and is let in is a violation", () => {
    expect(judgeAnswer(answer(200, 100), undefined, seen(0))?.rule).toBe("I3");
  });
});

describe("what is to be refused", () => {
  const ROW = { usable: true, ownerUid: "u", version: 1 } as Row;
  const late = (key: Partial<WatchedObject>, undisturbedSince = 0, rows = [ROW]) => {
    vi.useFakeTimers({ now: 1_000_000 });
    const endings = watchEndings(1_000);
    const metadata = { namespace: "dev", name: "one", uid: "u", resourceVersion: "1", finalizers: ["ours"] };
    endings.see({ ...key, metadata: { ...metadata, ...key.metadata } }, false);
    vi.setSystemTime(1_031_001);
    const found = endings.late(rows, undisturbedSince).map(({ subject }) => subject);
    vi.useRealTimers();
    return found;
  };
  const deleted = { deletionTimestamp: "2026-01-01T00:00:00Z" } as WatchedObject["metadata"];

  it("c71: a key that works 30 s after it was to end is a violation, unless the controllers were disturbed", () => {
    expect(late({ metadata: deleted })).toEqual(["dev/one"]);
    expect(late({ spec: { state: "Suspended" } })).toEqual(["dev/one"]);
    expect(late({ metadata: deleted }, 1_000_002)).toEqual([]);
    expect(late({ metadata: deleted }, 0, [{ ...ROW, usable: false }])).toEqual([]);
    expect(late({ spec: { state: "Active" } })).toEqual([]);
  });

  it("c71: one that is protected, or retained, may work", () => {
    expect(late({ metadata: deleted, spec: { deletionPolicy: "Retain" } })).toEqual([]);
    expect(late({ metadata: deleted, spec: { deletionProtection: true } })).toEqual([]);
  });
});

describeOnPostgres("what the store says", (store) => {
  async function makeKey() {
    const home = await makeTeam(store());
    const first = reservationOf(home);
    const second = reservationOf(home, { number: 2, key: first.key });
    await change(store(), null, async (tx) => {
      await reserveVersion(tx, first);
      await activateVersion(tx, { keyId: first.key.id, number: 1, overlapMs: 0 });
      await reserveVersion(tx, second);
    });
    return { keyId: first.key.id, title: `${first.key.namespace}/${first.key.name}`, first };
  }

  async function found(): Promise<string[]> {
    const report = newReport();
    await checkRules(store(), report);
    return report.violations.map(({ rule, subject }) => `${rule} ${subject}`);
  }

  it("I1 I2 I5: finds nothing wrong with a life as it should be, and everything that is", async () => {
    const { keyId, title } = await makeKey();
    expect(await found()).toEqual([]);
    await sql`drop index key_versions_one_active`.execute(store().db);
    await sql`update key_versions set state = 'active' where key_id = ${keyId}`.execute(store().db);
    expect(await found()).toEqual([`I1 ${title}`]);

    await sql`update key_versions set state = 'retired' where key_id = ${keyId}`.execute(store().db);
    expect(await found()).toEqual([`I2 ${title}`]);

    await change(store(), null, (tx) => revokeKey(tx, keyId, "Deleted"));
    expect(await found()).toEqual([]);
    await sql`alter table key_versions disable trigger user`.execute(store().db);
    await sql`update key_versions set state = 'active' where key_id = ${keyId} and number = 1`.execute(store().db);
    expect(await found()).toEqual([`I5 ${title}`]);
    await sql`update key_versions set state = 'revoked' where key_id = ${keyId}`.execute(store().db);
    await sql`alter table key_versions enable trigger user`.execute(store().db);
  });

  it("finds a change that is in no feed", async () => {
    await sql`update feed set head = head + 1`.execute(store().db);
    expect(await found()).toEqual(["the feed feed"]);
    await sql`update feed set head = head - 1`.execute(store().db);
  });

  it("I3: finds a value that was written by hand and became a key", async () => {
    const home = await makeTeam(store());
    const value = forgedKey();
    const planted = new Map([[hex(keyDigest(value)), value.slice(0, 12)]]);
    const report = newReport();
    await checkPlanted(store(), planted, report);
    expect(report.violations).toEqual([]);
    await change(store(), null, (tx) => reserveVersion(tx, reservationOf(home, { digest: keyDigest(value) })));
    await checkPlanted(store(), planted, report);
    expect(report.violations.map(({ rule, subject }) => [rule, subject])).toEqual([["I3", value.slice(0, 12)]]);
  });

  it("I2: finds a value that a Secret held and that was voided", async () => {
    const { keyId, first } = await makeKey();
    const third = nextVersion(first, 3);
    const held = new Map([[hex(third.digest), "dev/one"]]);
    const report = newReport();
    await change(store(), null, (tx) => reserveVersion(tx, third));
    await checkVoided(store(), held, report);
    expect(report.violations).toEqual([]);
    await change(store(), null, (tx) => activateVersion(tx, { keyId, number: 2, overlapMs: 1_000 }));
    await checkVoided(store(), held, report);
    expect(report.violations.map(({ rule, subject }) => [rule, subject])).toEqual([["I2", "dev/one"]]);
  });

  it("6.4: finds the key that was revoked with a declaration that is protected, or retains it", async () => {
    const { first, keyId, title } = await makeKey();
    const model = newModel();
    const { namespace, name, ownerUid } = first.key;
    const kept = async (spec: Partial<KeySpec>, deleting: boolean) => {
      const report = newReport();
      const one = { ...declaration(namespace, name), uid: ownerUid ?? "", deleting };
      model.declared.set(title, { ...one, spec: { ...one.spec, ...spec } });
      await checkKept(store(), model, report);
      return report.violations.map(({ rule, subject }) => `${rule} ${subject}`);
    };
    expect(await kept({ deletionPolicy: "Retain" }, false)).toEqual([]);
    await change(store(), null, (tx) => revokeKey(tx, keyId, "Deleted"));
    expect(await kept({}, false)).toEqual([]);
    expect(await kept({ deletionPolicy: "Retain" }, false)).toEqual([`6.4 ${title}`]);
    expect(await kept({ deletionProtection: true }, true)).toEqual([`6.4 ${title}`]);
  });

  it("6.2: counts what was minted, but for what was lost with its leader", async () => {
    const { first } = await makeKey();
    const uid = first.key.ownerUid ?? "";
    await sql`update key_versions set minted_at = to_timestamp(100 * number) where key_id = ${first.key.id}`.execute(
      store().db,
    );
    await change(store(), null, (tx) => reserveVersion(tx, nextVersion(first, 3)));
    const versions = await mintedVersions(store());
    const count = (...takeovers: Takeover[]) => countByOwner(versions, takeovers).get(uid);
    expect(count(), "two have never been delivered").toEqual({ delivered: 1, minted: 3 });
    expect(count({ after: 299_000, before: 301_000 })).toEqual({ delivered: 1, minted: 2 });
    expect(count({ after: 99_000, before: 101_000 }), "the first one has").toEqual({ delivered: 1, minted: 3 });
  });

  it("one leads: sees each takeover, and counts those that no fault explains", async () => {
    const leaderships = watchLeaderships();
    await leaderships.look(store());
    const before = leaderships.takeovers.length;
    await takeLeadership(store(), "chaos/dev,prod");
    await leaderships.look(store());
    await leaderships.look(store());
    expect(leaderships.takeovers.length - before).toBe(1);
    expect(leaderships.count()).toBe(1);
    const report = newReport();
    checkTakeovers(30, 9, report);
    expect(report.violations).toEqual([]);
    checkTakeovers(31, 9, report);
    expect(report.violations.map(({ rule }) => rule)).toEqual(["one leads"]);
  });

  it("I6: finds the key that lives on after its declaration", async () => {
    const { first, keyId, title } = await makeKey();
    const uid = first.key.ownerUid ?? "";
    expect((await livingKeysOf(store(), [uid])).map(({ subject }) => subject)).toEqual([title]);
    await change(store(), null, (tx) => revokeKey(tx, keyId, "Deleted"));
    expect(await livingKeysOf(store(), [uid])).toEqual([]);
  });

  it("sees that a version was not usable all the time since it was minted", async () => {
    const { first, keyId } = await makeKey();
    const digest = hex(first.digest);
    const look = async () => (await lookAtSecrets(store())).rows.find((row) => row.digest === digest);
    expect(await look()).toMatchObject({ usable: true, usableSinceMinted: true });
    for (const suspended of [true, false]) {
      const policy = { ...first.policy, suspended };
      await change(store(), null, (tx) => updateKeyPolicy(tx, { keyId, policy, generation: 1, expiresAfter: null }));
    }
    expect(await look()).toMatchObject({ usable: true, usableSinceMinted: false });
  });

  it("sees when a key is revoked, and when its team loses its namespace", async () => {
    const { first, keyId } = await makeKey();
    const digest = hex(first.digest);
    const look = async () => (await lookAtSecrets(store())).rows.find((row) => row.digest === digest);
    expect(await look()).toMatchObject({ usable: true, ended: false, version: 1 });
    await sql`delete from team_namespaces where namespace = ${first.key.namespace}`.execute(store().db);
    expect(await look()).toMatchObject({ usable: false, ended: false });
    await sql`update keys set namespace = '' where id = ${keyId}`.execute(store().db);
    expect(await look(), "one that the management API made has no namespace").toMatchObject({ usable: true });
    await change(store(), null, (tx) => revokeKey(tx, keyId, "Deleted"));
    expect(await look()).toMatchObject({ usable: false, ended: true });
  });
});

describe("what is in Secrets and elsewhere", () => {
  const secret = (data: Record<string, string>) => ({
    metadata: { namespace: "dev", name: "one", uid: "u", resourceVersion: "1" },
    data,
  });

  it("I7: another's Secret that is changed or deleted is a violation, unless its owner let go of it", () => {
    const report = newReport();
    const secrets = watchSecrets(newModel(), report);
    const before = secret({ a: base64("b") });
    secrets.see(before, false);
    secrets.keepUntouched(before);
    secrets.see(before, false);
    expect(report.violations).toEqual([]);
    secrets.see(secret({ a: base64("c") }), false);
    secrets.see(secret({ a: base64("c") }), true);
    expect(report.violations.map(({ what }) => what)).toEqual([
      "another's Secret has been changed",
      "another's Secret has been deleted",
    ]);
  });

  it("I7: a controller that writes elsewhere is a violation", () => {
    const model = newModel();
    model.secretNames.add("dev/one");
    const write = (resource: string, namespace: string, name: string) => {
      const report = newReport();
      checkWrites([{ at: 0, verb: "patch", resource, part: "", namespace, name }], model, report);
      return report.violations.length;
    };
    expect(write("secrets", "dev", "one")).toBe(0);
    expect(write("platformkeys", "dev", "any")).toBe(0);
    expect(write("secrets", "dev", "two")).toBe(1);
    expect(write("secrets", "kube-system", "one")).toBe(1);
    expect(write("configmaps", "dev", "one")).toBe(1);
  });

  it("6.2, c69: a secret more than there are causes is a violation, and one that was given up on its way is not", () => {
    const found = (delivered: number, minted: number) => {
      const report = newReport();
      const one = { ...declaration("dev", "one"), uid: "u", causes: 2, holds: 1 };
      checkCounts([one], new Map([["u", { delivered, minted }]]), report);
      return report.violations.length;
    };
    expect(found(2, 3)).toBe(0);
    expect(found(3, 3)).toBe(1);
    expect(found(2, 4)).toBe(1);
  });

  it("c69, c70: an object that is written again and again is a violation", () => {
    const found = (resource: string, times: number, apartMs: number) => {
      const report = newReport();
      const written = { verb: "update", resource, part: "", namespace: "dev", name: "one" };
      const writes = Array.from({ length: times }, (_, n) => ({ ...written, at: n * apartMs }));
      checkRates(writes, report);
      return report.violations.length;
    };
    expect(found("secrets", 12, 1)).toBe(0);
    expect(found("secrets", 13, 1)).toBe(1);
    expect(found("secrets", 100, 1_000)).toBe(0);
    expect(found("platformteams", 60, 1_200)).toBe(1);
  });

  it("I4: a piece of a key is found, as it is and in base64, and its prefix is not", () => {
    const value = forgedKey();
    const search = searchFor([value]);
    expect(search.find(`{"prefix":"${value.slice(0, 12)}"}`)).toBeUndefined();
    expect(search.find(`...${value.slice(20, 44)}...`)).toBe(value.slice(0, 12));
    expect(search.find(JSON.stringify({ data: base64(value) }))).toBe(value.slice(0, 12));
  });
});
