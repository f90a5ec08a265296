import { expect, test } from "vitest";
import type { RateLimit } from "../../../domain/access/rate-limit.ts";
import { InstallationLimits, PERIOD_MS } from "../../../server/limits/installation-limits.ts";
import { cellsInMemory } from "./cells.ts";

const THREADS = 6;
const THREADS_OF_REPLICA = 2;
const WINDOW_MS = 60_000;

/** Random numbers from 0 to 1, the same in each run. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1103515245 + 12345) & 0x7fffffff;
    return state / 0x7fffffff;
  };
}

type Play = {
  readonly limit: RateLimit;
  /** Requests for each that the limit admits. */
  readonly over: number;
  readonly seconds: number;
  /** The part of the load that goes to one thread, another one every 10 s. */
  readonly moving: number;
  /** Whether a replica dies each minute. */
  readonly dies: boolean;
};

/** What three replicas of two threads admit, in percent of the limit: in all, and in each minute. */
async function play({ limit, over, seconds, moving, dies }: Play) {
  const clock = { now: 1_000_000 };
  const began = clock.now;
  const { draw, passTo, database } = cellsInMemory(clock);
  database.answersAfter = 5;
  const random = seeded(7);
  const open = () => ({
    limits: new InstallationLimits({ draw, mostDraws: 1_000, threads: () => THREADS, monotonic: () => clock.now }),
    periodAt: clock.now + random() * PERIOD_MS,
  });
  const threads = Array.from({ length: THREADS }, open);
  const admitted: number[] = [];
  const pending: Promise<void>[] = [];
  const perMs = limit.requestsPerMinute / 60_000;
  let busy = 0;
  let [moveAt, dieAt] = [began + 10_000, began + 60_000];
  while (clock.now < began + seconds * 1_000) {
    await passTo(clock.now - Math.log(1 - random()) / (perMs * over));
    if (clock.now >= moveAt) {
      moveAt += 10_000;
      busy = Math.floor(random() * THREADS);
    }
    if (dies && clock.now >= dieAt) {
      dieAt += 60_000;
      const first = Math.floor(random() * (THREADS / THREADS_OF_REPLICA)) * THREADS_OF_REPLICA;
      for (let i = 0; i < THREADS_OF_REPLICA; i++) threads[first + i] = open();
    }
    for (const thread of threads) {
      if (clock.now < thread.periodAt) continue;
      thread.periodAt += PERIOD_MS;
      thread.limits.endPeriod();
    }
    const thread = threads[random() < moving ? busy : Math.floor(random() * THREADS)];
    const verdict = thread?.limits.charge("a", limit);
    if (verdict instanceof Promise) {
      pending.push(
        verdict.then((late) => {
          if (late.admitted) admitted.push(clock.now);
        }),
      );
    } else if (verdict?.admitted) admitted.push(clock.now);
  }
  await passTo(clock.now + 1_000);
  await Promise.all(pending);
  const counted = admitted.filter((at) => at >= began + WINDOW_MS);
  const percent = (requests: number, ms: number) => (100 * requests) / (perMs * ms);
  const minutes: number[] = [];
  for (let from = began + WINDOW_MS; from + WINDOW_MS <= began + seconds * 1_000; from += WINDOW_MS / 4) {
    minutes.push(percent(counted.filter((at) => at >= from && at < from + WINDOW_MS).length, WINDOW_MS));
  }
  return {
    mean: percent(counted.length, (seconds - 60) * 1_000),
    least: Math.min(...minutes),
    most: Math.max(...minutes),
    draws: database.draws,
  };
}

test.each([
  { what: "still", limit: { requestsPerMinute: 6_000, burst: 100 }, moving: 0, dies: false },
  { what: "half of it moves", limit: { requestsPerMinute: 6_000, burst: 100 }, moving: 0.5, dies: false },
  { what: "all of it moves", limit: { requestsPerMinute: 6_000, burst: 100 }, moving: 1, dies: false },
  { what: "half of it moves, and replicas die", limit: { requestsPerMinute: 6_000, burst: 100 }, moving: 0.5, dies: true },
  { what: "half of it moves, and replicas die", limit: { requestsPerMinute: 600, burst: 10 }, moving: 0.5, dies: true },
  { what: "half of it moves, and replicas die", limit: { requestsPerMinute: 600, burst: 600 }, moving: 0.5, dies: true },
])("over six threads 99 to 101 % of $limit are admitted, and 95 to 105 % in each minute, where the load is $what", async (play_) => {
  const { mean, least, most, draws } = await play({ ...play_, over: 2, seconds: 600 });
  console.log(play_.what, play_.limit, { mean, least, most, draws });
  expect(mean).toBeGreaterThan(99);
  expect(mean).toBeLessThan(101);
  expect(least).toBeGreaterThan(95);
  expect(most).toBeLessThan(105);
});
