import { expect, test } from "vitest";
import type { RateLimit } from "../../../domain/access/rate-limit.ts";
import { PERIOD_MS } from "../../../server/limits/held-limit.ts";
import { InstallationLimits } from "../../../server/limits/installation-limits.ts";
import { NIGHTLY } from "../../env/nightly.ts";
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

const drawn = (limit: RateLimit, limitId = "a", teamId = "team") => ({ limitId, teamId, limit });

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
    limits: new InstallationLimits({ draw, threads: () => THREADS, monotonic: () => clock.now }),
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
    const verdict = thread?.limits.charge(drawn(limit), 1_000);
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

const steady = { requestsPerMinute: 6_000, burst: 100 };
const small = { requestsPerMinute: 600, burst: 10 };

const PLAYS = [
  { load: "moves whole", limit: steady, moving: 1, dies: false },
  { load: "moves by half, and a replica dies each minute", limit: small, moving: 0.5, dies: true },
  { load: "moves by half, and a replica dies each minute", limit: { ...small, burst: 600 }, moving: 0.5, dies: true },
];
const MORE_PLAYS = [
  { load: "stays where it is", limit: steady, moving: 0, dies: false },
  { load: "moves by half", limit: steady, moving: 0.5, dies: false },
  { load: "moves by half, and a replica dies each minute", limit: steady, moving: 0.5, dies: true },
];

test.each(NIGHTLY ? [...PLAYS, ...MORE_PLAYS] : PLAYS)(
  "b123: three replicas of two threads admit 99 to 101 % of $limit, and 95 to 105 % in each minute, where the load $load",
  async (given) => {
    const { mean, least, most } = await play({ ...given, over: 2, seconds: NIGHTLY ? 600 : 300 });
    expect(mean).toBeGreaterThan(99);
    expect(mean).toBeLessThan(101);
    expect(least).toBeGreaterThan(95);
    expect(most).toBeLessThan(105);
  },
);

/** Threads of one installation, on a clock that the test moves. */
function openThreads(count: number) {
  const clock = { now: 1_000_000 };
  const cells = cellsInMemory(clock);
  const deps = { draw: cells.draw, threads: () => count, monotonic: () => clock.now };
  const threads = Array.from({ length: count }, () => new InstallationLimits(deps));
  const charge = async (thread: InstallationLimits | undefined, limit: RateLimit, limitId = "a", amount = 1) => {
    if (thread === undefined) throw new RangeError("there are fewer threads");
    return thread.charge(drawn(limit, limitId), 1_000, amount);
  };
  return { ...cells, clock, threads, charge };
}

test("b123: what is refused asks for nothing until its time has come", async () => {
  const { database, threads, charge, passTo, clock } = openThreads(1);
  const limit = { requestsPerMinute: 60, burst: 1 };
  expect((await charge(threads[0], limit)).admitted).toBe(true);
  const refused = await charge(threads[0], limit);
  expect(refused).toMatchObject({ admitted: false, remaining: 0, retryAfter: 1e9 });
  const before = database.draws;
  for (let i = 0; i < 1_000; i++) expect(threads[0]?.charge(drawn(limit), 1_000)).toMatchObject({ admitted: false });
  expect(database.draws).toBe(before);
  await passTo(clock.now + 1_000);
  expect((await charge(threads[0], limit)).admitted).toBe(true);
});

test("b123: of a rate below one a second and thread nothing is drawn ahead, so that no other is refused for it", async () => {
  const { threads, charge } = openThreads(2);
  const limit = { requestsPerMinute: 60, burst: 10 };
  const admitted = async (thread: number, times: number) => {
    const verdicts = [];
    for (let i = 0; i < times; i++) verdicts.push((await charge(threads[thread], limit)).admitted);
    return verdicts.filter((one) => one).length;
  };
  expect(await admitted(0, 6)).toBe(6);
  threads[0]?.endPeriod();
  expect(await admitted(0, 1)).toBe(1);
  expect(await admitted(1, 10)).toBe(3);
});

test("b123: what a second leaves over goes back, and another thread has it", async () => {
  const { threads, charge, passTo, clock } = openThreads(2);
  const limit = { requestsPerMinute: 120, burst: 100 };
  const [one, other] = threads;
  for (let i = 0; i < 50; i++) await charge(one, limit);
  one?.endPeriod();
  // It expects fifty more, and draws what is left.
  await charge(one, limit);
  for (let period = 0; period < 8; period++) {
    one?.endPeriod();
    await passTo(clock.now);
  }
  for (let i = 0; i < 49; i++) expect((await charge(other, limit)).admitted).toBe(true);
  expect((await charge(other, limit)).admitted).toBe(false);
});

test("b123: calls of one moment are asked for together, and each is let through once", async () => {
  const { database, threads, charge } = openThreads(1);
  const verdicts = await Promise.all(
    Array.from({ length: 100 }, () => charge(threads[0], { requestsPerMinute: 6_000, burst: 40 })),
  );
  expect(verdicts.filter(({ admitted }) => admitted)).toHaveLength(40);
  expect(database.draws).toBeLessThan(4);
});

test("b123: who begins to wait while other statements are under way is in the next one", async () => {
  const { database, threads, charge, passTo, clock } = openThreads(1);
  database.answersAfter = 10;
  const limit = { requestsPerMinute: 6_000, burst: 40 };
  const others = ["one", "another"].map((limitId) => charge(threads[0], limit, limitId));
  await passTo(clock.now);
  const first = charge(threads[0], limit);
  await passTo(clock.now);
  const later = Array.from({ length: 9 }, () => charge(threads[0], limit));
  for (let answer = 0; answer < 2; answer++) await passTo(clock.now + 10);
  expect(await Promise.all([...others, first, ...later])).toMatchObject(Array(12).fill({ admitted: true }));
  expect(database.draws).toBe(3);
}, 5_000);

test("b123: while the database is away each thread admits its part of the limit, and its first calls after that are asked for", async () => {
  const { database, threads, charge, passTo, clock } = openThreads(4);
  const limit = { requestsPerMinute: 60, burst: 8 };
  database.isAway = true;
  const admittedBy = async (thread: InstallationLimits | undefined) => {
    const verdicts = await Promise.all(Array.from({ length: 10 }, () => charge(thread, limit)));
    return verdicts.filter(({ admitted }) => admitted).length;
  };
  expect(await Promise.all(threads.map(admittedBy))).toEqual([2, 2, 2, 2]);
  const before = database.draws;
  expect(await Promise.all(threads.map(admittedBy))).toEqual([0, 0, 0, 0]);
  expect(database.draws).toBe(before);
  database.isAway = false;
  await passTo(clock.now + 1_000);
  expect((await Promise.all(threads.map(admittedBy))).reduce((sum, one) => sum + one, 0)).toBe(8);
});

test("b128: what a cell has of a call that it has too little for goes back at once, for calls that need less", async () => {
  const { threads, charge, passTo, clock } = openThreads(2);
  const limit = { requestsPerMinute: 60_000, burst: 60_000, unit: 1 };
  const [one, other] = threads;
  expect((await charge(other, limit, "a", 30_000)).admitted).toBe(true);
  expect((await charge(one, limit, "a", 60_000)).admitted).toBe(false);
  await passTo(clock.now);
  expect((await charge(other, limit, "a", 29_000)).admitted).toBe(true);
});

test("b123: statements draw from as many cells as one may, and nothing is kept of limits that are not used", async () => {
  const { threads, charge, passTo, clock, database } = openThreads(1);
  const [thread] = threads;
  const limit = { requestsPerMinute: 6_000, burst: 10 };
  const limits = Array.from({ length: 60 }, (_, n) => `limit ${n}`);
  await Promise.all(limits.map((limitId) => charge(thread, limit, limitId)));
  expect([thread?.size, database.draws]).toEqual([60, 5]);
  for (let period = 0; period < 4; period++) {
    await passTo(clock.now + PERIOD_MS);
    thread?.endPeriod();
  }
  expect(thread?.size).toBe(0);
});

test("b123: as many requests wait for a cell as calls may be under way, and more are refused", async () => {
  const { threads, clock, database, passTo } = openThreads(1);
  database.answersAfter = 10;
  const limit = { requestsPerMinute: 6_000, burst: 100 };
  const verdicts = Array.from({ length: 10 }, () => threads[0]?.charge(drawn(limit), 4));
  expect(verdicts.map((verdict) => verdict instanceof Promise)).toEqual([
    ...Array(4).fill(true),
    ...Array(6).fill(false),
  ]);
  expect(verdicts[4]).toMatchObject({ admitted: false });
  for (let answer = 0; answer < 3; answer++) await passTo(clock.now + 10);
  expect(await Promise.all(verdicts.slice(0, 4))).toMatchObject(Array(4).fill({ admitted: true }));
});

test("b123: what a lower limit refused for a minute is not refused so long by the one that it is raised to", async () => {
  const { threads, charge, passTo, clock } = openThreads(1);
  const low = { requestsPerMinute: 1, burst: 1 };
  expect((await charge(threads[0], low)).admitted).toBe(true);
  expect((await charge(threads[0], low)).admitted).toBe(false);
  const raised = { requestsPerMinute: 6_000, burst: 100 };
  expect((await charge(threads[0], raised)).retryAfter).toBeLessThanOrEqual(100e6);
  await passTo(clock.now + 100);
  expect((await charge(threads[0], raised)).admitted).toBe(true);
});

test("b123: a thread that drew has saved up nothing for the time without a database", async () => {
  const { database, threads, charge, passTo, clock } = openThreads(2);
  const limit = { requestsPerMinute: 600, burst: 100 };
  await charge(threads[0], limit);
  threads[0]?.endPeriod();
  threads[0]?.endPeriod();
  await passTo(clock.now);
  database.isAway = true;
  const verdicts = await Promise.all(Array.from({ length: 60 }, () => charge(threads[0], limit)));
  expect(verdicts.filter(({ admitted }) => admitted).length).toBeLessThan(3);
});
