import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { LEASE_MS, LEASE_RANGE_MS } from "../../../domain/protocol.ts";
import { REVALIDATION_INTERVAL_MS } from "../../../server/key-index/stream-revalidation.ts";
import { SimDatabase } from "./simulation/database.ts";
import { SimReplica } from "./simulation/replica.ts";
import { nextIteration, passTime, simulateTimers } from "./simulation/time.ts";

beforeAll(() => simulateTimers());
afterAll(() => {
  vi.unstubAllGlobals();
});

/** A replica that decides, started just now, on a simulated database. */
async function startReplica(leaseMs: number) {
  const time = { now: 0 };
  const database = new SimDatabase(time);
  database.commit("key", () => ({ revision: 1, revoked: false }));
  const beating = vi.spyOn(database, "heartbeat");
  const scheduler = { schedule: <T>(task: Promise<T>) => task };
  const self = new SimReplica("replica", time, database, scheduler, leaseMs);
  const pass = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += 100) await passTime(time, [self.process], 100, () => {});
    await nextIteration();
  };
  await nextIteration();
  await pass(200);
  expect(self.replica.view.isCurrent()).toBe(true);
  /** How long it decides without its database, to the tenth of a second. */
  const decidesFor = async () => {
    self.setWay("cut");
    let ms = 0;
    for (; self.replica.view.isCurrent(); ms += 100) await pass(100);
    self.setWay("open");
    await pass(2 * LEASE_RANGE_MS.most);
    return ms;
  };
  return { time, self, database, pass, decidesFor, beating };
}

test("a lease that is longer than the usual one begins a minute after the registration that announces it", async () => {
  const { self, pass, decidesFor, database, beating } = await startReplica(20_000);
  expect(database.readReplicas(0).replicas).toMatchObject([{ leaseMs: 20_000 }]);
  await pass(LEASE_RANGE_MS.most - 10_000);
  beating.mockClear();
  await pass(5_000);
  expect(beating.mock.calls.length).toBeGreaterThanOrEqual(4);
  const young = await decidesFor();
  expect(young).toBeGreaterThan(LEASE_MS - 1_500);
  expect(young).toBeLessThanOrEqual(LEASE_MS);

  beating.mockClear();
  await pass(20_000);
  expect(beating.mock.calls.length).toBeLessThanOrEqual(6);
  const grown = await decidesFor();
  expect(grown).toBeGreaterThan(15_000);
  expect(grown).toBeLessThanOrEqual(20_000);
  self.process.end();
});

test("a replica that was taken for dead begins with the usual lease again", async () => {
  const { self, database, pass } = await startReplica(LEASE_RANGE_MS.most);
  await pass(2 * LEASE_RANGE_MS.most);
  database.deregister("replica");
  await pass(LEASE_RANGE_MS.most / 5 + 1_000);
  expect(database.readReplicas(0).replicas).toHaveLength(1);
  self.setWay("cut");
  await pass(LEASE_MS);
  expect(self.replica.view.isCurrent()).toBe(false);
  self.process.end();
});

test("a lease that is shorter than the usual one begins at once", async () => {
  const { self, decidesFor } = await startReplica(LEASE_RANGE_MS.least);
  expect(await decidesFor()).toBeLessThanOrEqual(LEASE_RANGE_MS.least);
  self.process.end();
});

test("c38: a lease is as long as it was when the database was asked, however late its answer is taken in", async () => {
  const { self, database, pass, beating } = await startReplica(LEASE_RANGE_MS.most);
  await pass(LEASE_RANGE_MS.most - 20_000);
  const answer = database.heartbeat.bind(database);
  // A question of before the longer lease begins; its answer waits until after that.
  beating.mockImplementationOnce((...asked) => {
    self.process.standStill();
    return answer(...asked);
  });
  await pass(2_000);
  expect(self.process.runs).toBe(false);
  await pass(25_000);
  self.setWay("cut");
  self.process.goOn(0);
  await nextIteration();
  expect(self.replica.view.isCurrent()).toBe(false);
  self.process.end();
});

test("c37: a replica of a long lease decides again within two seconds of its database's return, and of a clock's jump", async () => {
  const { self, pass } = await startReplica(LEASE_RANGE_MS.most);
  await pass(LEASE_RANGE_MS.most + 20_000);
  self.setWay("cut");
  await pass(LEASE_RANGE_MS.most + 30_000);
  expect(self.replica.view.isCurrent()).toBe(false);
  self.setWay("open");
  await pass(2_000);
  expect(self.replica.view.isCurrent()).toBe(true);

  self.process.setWallClock(7_000);
  expect(self.replica.view.isCurrent()).toBe(false);
  await pass(2_000);
  expect(self.replica.view.isCurrent()).toBe(true);
  self.process.end();
});

test.for([LEASE_MS, LEASE_RANGE_MS.most])(
  "b24: streams go on for a lease of %i ms without the database, and no longer",
  async (leaseMs) => {
    const { self, pass } = await startReplica(leaseMs);
    await pass(2 * LEASE_RANGE_MS.most);
    self.openStream("key");
    await pass(leaseMs);
    expect(self.openStreams.size, "at rest").toBe(1);
    self.setWay("cut");
    await pass(0.7 * leaseMs);
    expect(self.openStreams.size, "while the lease holds").toBe(1);
    while (self.replica.view.isCurrent()) await pass(100);
    expect(self.openStreams.size, "after it").toBe(0);
    self.process.end();
  },
);

test("b24: streams are cut when a machine that was suspended runs again and cannot reach its database", async () => {
  const { time, self, pass } = await startReplica(LEASE_RANGE_MS.most);
  await pass(LEASE_RANGE_MS.most + 20_000);
  self.openStream("key");
  expect(self.openStreams.size).toBe(1);
  self.setWay("void");
  self.process.standStill();
  time.now += 3_600_000;
  self.process.goOn(3_600_000);
  await pass(REVALIDATION_INTERVAL_MS + 100);
  expect(self.openStreams.size).toBe(0);
  self.process.end();
});
