import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { LEASE_MS, LEASE_RANGE_MS } from "../../../domain/protocol.ts";
import { SimDatabase } from "./simulation/database.ts";
import { SimReplica } from "./simulation/replica.ts";
import { passTime, simulateTimers, turns } from "./simulation/time.ts";

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
    await turns();
  };
  await turns();
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
  return { ...self, self, database, pass, decidesFor, beating };
}

test("a lease that is longer than the usual one begins a minute after the registration that tells of it", async () => {
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

test("a lease that is shorter than the usual one begins at once", async () => {
  const { self, decidesFor } = await startReplica(LEASE_RANGE_MS.least);
  expect(await decidesFor()).toBeLessThanOrEqual(LEASE_RANGE_MS.least);
  self.process.end();
});
