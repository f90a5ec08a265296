/** Requests that are held to several limits, which are counted in different places. */
import { expect, test } from "vitest";
import type { LimitScope } from "../../../domain/access/rate-limit.ts";
import { chargeRates, type MetRate, refundRates, refusingRate } from "../../../server/auth/charge-rate.ts";
import { KeyIndex } from "../../../server/key-index/key-index.ts";
import { InstallationLimits } from "../../../server/limits/installation-limits.ts";
import { indexedKey, keyRecord } from "../harness.ts";
import { cellsInMemory } from "../limits/cells.ts";

const SCOPES: readonly LimitScope[] = ["Replica", "Installation"];
const WAYS = SCOPES.flatMap((ofKey) => SCOPES.map((ofTeam) => [ofKey, ofTeam] as const));

/** Keys of one team, with what their limits are counted by. `threads` is of all replicas. */
function open(ofKey: LimitScope, ofTeam: LimitScope, bursts: { key: number; team: number }, threads = 1) {
  const clock = { now: 1_000_000 };
  const { draw, passTo, database } = cellsInMemory(clock);
  const monotonic = () => clock.now;
  const installationLimits = new InstallationLimits({ draw, threads: () => threads, monotonic });
  const index = new KeyIndex();
  const teamLimits = { rate: { requestsPerMinute: 60, burst: bursts.team, scope: ofTeam }, concurrent: null };
  index.applyTeam({
    ...{ teamId: "team-a", name: "a", cluster: "c", defaultLibraryId: null, allowedCIDRs: null, limits: teamLimits },
    ...{ members: [], revoked: [] },
  });
  const keys = ["one", "other"].map((digest) => {
    const rateLimit = { requestsPerMinute: 60, burst: bursts.key, scope: ofKey };
    const record = keyRecord({ keyId: `key_${digest}`, rateLimit, teamLimits });
    index.applyKey(record.keyId, [indexedKey(digest, record)]);
    return index.findKey(digest) ?? record;
  });
  const [one, other] = keys;
  if (one === undefined || other === undefined) throw new Error("there are two");
  const deps = { index, clock: { monotonic }, installationLimits };
  const charge = async (key = one) => chargeRates(deps, key);
  const takeBack = (rates: readonly MetRate[]) => refundRates(deps, rates);
  return { one, other, charge, takeBack, draw, passTo, clock, database, limits: installationLimits };
}

const refusedBy = (rates: readonly MetRate[]) => refusingRate(rates)?.of ?? "none";

test.each(WAYS)(
  "b124: a key's limit of scope %s and its team's of scope %s are charged together or not at all",
  async (ofKey, ofTeam) => {
    const { one, other, charge, clock } = open(ofKey, ofTeam, { key: 3, team: 5 });
    const met: string[] = [];
    for (const key of [one, one, one, one, one, other, other, other, other]) met.push(refusedBy(await charge(key)));
    // Had the refusals by the key cost the team anything, the other key had fewer than two.
    expect(met).toEqual(["none", "none", "none", "key", "key", "none", "none", "team", "team"]);
    // And had those by the team cost that key anything, it had none now.
    clock.now += 1_000;
    expect([refusedBy(await charge(other)), refusedBy(await charge(other))]).toEqual(["none", "team"]);
  },
);

test("b124: what a request met is in the order of key and team, wherever each is counted", async () => {
  for (const [ofKey, ofTeam] of WAYS) {
    const { charge } = open(ofKey, ofTeam, { key: 2, team: 5 });
    expect((await charge()).map(({ of }) => of)).toEqual(["key", "team"]);
  }
});

test("b124: a flood that a limit of the replica refuses asks no cell", async () => {
  const { charge, database } = open("Replica", "Installation", { key: 1, team: 100 });
  await charge();
  const asked = database.draws;
  for (let i = 0; i < 1_000; i++) expect(refusedBy(await charge())).toBe("key");
  expect(database.draws).toBe(asked);
});

test("b124: a flood that the team's cell refuses leaves the key's cell what it has, for other replicas too", async () => {
  const { charge, one, limits, clock, passTo, database, draw } = open("Installation", "Installation", {
    key: 9,
    team: 1,
  });
  expect(refusedBy(await charge(one))).toBe("none");
  for (let i = 0; i < 500; i++) expect(refusedBy(await charge(one))).toBe("team");
  const asked = database.draws;
  expect(asked).toBeLessThan(10);
  for (let period = 0; period < 4; period++) {
    limits.endPeriod();
    await passTo(clock.now + 1);
  }
  // All that was drawn ahead has gone back: another thread has the rest of the key's burst.
  const another = new InstallationLimits({ draw, threads: () => 1, monotonic: () => clock.now });
  const admitted: boolean[] = [];
  for (let i = 0; i < 9; i++) {
    const verdict = await another.charge(
      { limitId: "key_one", teamId: "team-a", limit: { requestsPerMinute: 60, burst: 9 } },
      10,
    );
    admitted.push(verdict.admitted);
  }
  expect(admitted.filter((one) => one)).toHaveLength(8);
});

test.each(SCOPES)(
  "b124: what is taken back late, of a limit of scope %s, gives no one more than its burst, since time has paid for it",
  async (scope) => {
    const { charge, takeBack, clock } = open(scope, "Replica", { key: 2, team: 100 });
    const first = await charge();
    clock.now += 10_000;
    expect([refusedBy(await charge()), refusedBy(await charge())]).toEqual(["none", "none"]);
    takeBack(first);
    expect(refusedBy(await charge())).toBe("key");
  },
);

test("b124: what was admitted while the database was away gives nothing back that no cell has given", async () => {
  const { charge, takeBack, database, passTo, clock } = open("Installation", "Installation", { key: 8, team: 4 }, 4);
  database.isAway = true;
  const admitted = await charge();
  expect([refusedBy(admitted), refusedBy(await charge())]).toEqual(["none", "team"]);
  takeBack(admitted);
  database.isAway = false;
  await passTo(clock.now + 1_000);
  const before = database.draws;
  await charge();
  expect(database.draws - before, "both cells are asked").toBe(2);
});

test.each(SCOPES)("b124: what is taken back at once, of a limit of scope %s, is there again", async (scope) => {
  const { charge, takeBack } = open(scope, "Replica", { key: 1, team: 100 });
  const charged = await charge();
  expect(refusedBy(await charge())).toBe("key");
  const left = takeBack(charged);
  // Of the installation's the thread holds it, and the cell has not got it back yet.
  expect(left.map(({ of, verdict }) => [of, verdict.remaining, verdict.resetAfter])).toEqual([
    ["key", 1, scope === "Installation" ? 1e9 : 0],
    ["team", 100, 0],
  ]);
  expect(refusedBy(await charge())).toBe("none");
});

test.each(["is declared again", "is gone, and its cell is another's"])(
  "b124: what was charged to a limit that %s is taken back of nothing else",
  (what) => {
    const index = new KeyIndex();
    const clock = { monotonic: () => 1_000_000 + turn };
    const deps = { index, clock, installationLimits: null };
    const rateLimit = { requestsPerMinute: 60, burst: 1, scope: "Replica" as const };
    const declare = (keyId: string, limit: typeof rateLimit | null) => {
      const record = keyRecord({ keyId, rateLimit: limit });
      index.applyKey(keyId, [indexedKey(keyId, record)]);
      return index.findKey(keyId) ?? record;
    };
    let turn = 0;
    const charged = chargeRates(deps, declare("key_one", rateLimit));
    turn++;
    declare("key_one", null);
    const later = declare(what === "is declared again" ? "key_one" : "key_other", rateLimit);
    expect(chargeRates(deps, later)).toMatchObject([{ verdict: { admitted: true } }]);
    if (!(charged instanceof Promise)) refundRates(deps, charged);
    turn++;
    expect(chargeRates(deps, later)).toMatchObject([{ verdict: { admitted: false } }]);
  },
);

test("b128: tokens of a refused request are back in the limit of the installation, however long the refusal took", async () => {
  const clock = { now: 1_000_000 };
  const { draw, passTo } = cellsInMemory(clock);
  const installationLimits = new InstallationLimits({ draw, threads: () => 1, monotonic: () => clock.now });
  const deps = { index: new KeyIndex(), clock: { monotonic: () => clock.now }, installationLimits };
  const key = keyRecord({ keyId: "key_a", tokenLimit: { tokensPerMinute: 60_000, scope: "Installation" } });
  const charge = async (tokens: number) => chargeRates(deps, key, undefined, tokens);
  const charged = await charge(50_000);
  await passTo(clock.now + 1_500);
  refundRates(deps, charged);
  await passTo(clock.now + 1_500);
  expect(refusedBy(await charge(50_000))).toBe("none");
});
