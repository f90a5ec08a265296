import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { LEASE_MS, LEASE_RANGE_MS } from "../../../domain/protocol.ts";
import { SimDatabase } from "./simulation/database.ts";
import { SimReplica } from "./simulation/replica.ts";
import { nextIteration, passTime, simulateTimers } from "./simulation/time.ts";

const MINUTE_MS = 60_000;

beforeAll(() => simulateTimers());
afterAll(() => {
  vi.unstubAllGlobals();
});

/** So many replicas that decide, on a simulated database that counts how often all of them were read. */
async function startReplicas(count: number, leasesMs: readonly number[] = [LEASE_MS]) {
  const time = { now: 0 };
  const database = new SimDatabase(time);
  const reading = vi.spyOn(database, "readReplicas");
  database.commit("key", () => ({ revision: 1, revoked: false }));
  const scheduler = { schedule: <T>(task: Promise<T>) => task };
  const replicas = Array.from(
    { length: count },
    (_, i) => new SimReplica(`replica-${i}`, time, database, scheduler, leasesMs[i % leasesMs.length]),
  );
  const pass = async (ms: number) => {
    const processes = replicas.map(({ process }) => process);
    // Each has its turn before the next moment comes.
    for (let passed = 0; passed < ms; passed += 100) await passTime(time, processes, 100, () => {});
  };
  await nextIteration();
  await pass(1_000);
  expect(replicas.every(({ replica }) => replica.view.isCurrent())).toBe(true);
  const names = () => database.readReplicas(0).replicas.map(({ id }) => id);
  return { replicas, pass, names, reading, end: () => replicas.forEach(({ process }) => void process.end()) };
}

test.for([[LEASE_MS], [LEASE_MS, LEASE_RANGE_MS.most]])(
  "replicas that live look at no other than the one before them: their table is read by none, with leases of %j ms",
  async (leasesMs) => {
    const { pass, names, reading, end } = await startReplicas(5, leasesMs);
    await pass(3 * MINUTE_MS);
    expect(reading).not.toHaveBeenCalled();
    expect(names()).toHaveLength(5);
    end();
  },
);

test.for([
  { dead: [2], what: "one that has died" },
  { dead: [0], what: "the first" },
  { dead: [4], what: "the last" },
  { dead: [0, 1, 2, 4], what: "four of five" },
])("replicas take out $what within 16 s, and then read no more", async ({ dead }) => {
  const { replicas, pass, names, reading, end } = await startReplicas(5);
  for (const i of dead) replicas[i]?.process.end();
  await pass(5_000);
  expect(names()).toHaveLength(5);
  await pass(11_000);
  const living = [0, 1, 2, 3, 4].filter((i) => !dead.includes(i)).map((i) => `replica-${i}`);
  expect(names()).toEqual(living);
  reading.mockClear();
  await pass(MINUTE_MS);
  expect(reading).not.toHaveBeenCalled();
  expect(names()).toEqual(living);
  end();
});
