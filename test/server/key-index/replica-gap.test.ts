/** How long a replica's network may be away before calls are refused: the real replica, on simulated clocks. */
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { LEASE_MS } from "../../../domain/protocol.ts";
import { SimDatabase } from "./simulation/database.ts";
import { SimReplica } from "./simulation/replica.ts";
import { nextIteration, passTime, simulateTimers, type TrueTime } from "./simulation/time.ts";

/** A beat may just have been due when the network went, and a question has just been lost when it comes back. */
const RIDDEN_OUT_MS = LEASE_MS - 1_600;

beforeAll(() => simulateTimers());
afterAll(() => {
  vi.unstubAllGlobals();
});

/** Plays a gap that begins so many milliseconds after a beat: how long nothing was decided, and the state after it. */
async function play(phase: number, gapMs: number, back: "open" | "reset", hinted: boolean) {
  const time: TrueTime = { now: 1_000_000 };
  const database = new SimDatabase(time);
  database.commit("key", () => ({ revision: 1, revoked: false }));
  const self = new SimReplica("replica", time, database, { schedule: (task) => task });
  let away = 0;
  let lookedAt = time.now;
  const pass = (ms: number) =>
    passTime(time, [self.process], ms, () => {
      if (!self.replica.view.isCurrent()) away += time.now - lookedAt;
      lookedAt = time.now;
    });
  await nextIteration();
  await pass(3_000 + phase);
  expect(self.replica.view.isCurrent()).toBe(true);
  away = 0;
  if (hinted) self.hint();
  self.setWay("void");
  for (let passed = 0; passed < gapMs; passed++) await pass(1);
  if (back === "reset") self.setWay("cut");
  self.setWay("open");
  for (let passed = 0; passed < 2 * LEASE_MS; passed++) await pass(1);
  const isBack = self.replica.view.isCurrent();
  self.process.end();
  return { away, isBack };
}

test.for([
  ["its connections are reset", "reset"],
  ["its connections stay dead in silence", "open"],
] as const)("c37: a gap of 3.4 s is not felt, whenever it begins, where after it %s", async ([, back]) => {
  for (const hinted of [false, true]) {
    for (let phase = 0; phase < 1_000; phase += 50) {
      const { away, isBack } = await play(phase, RIDDEN_OUT_MS, back, hinted);
      expect({ phase, hinted, away, isBack }).toEqual({ phase, hinted, away: 0, isBack: true });
    }
  }
});
