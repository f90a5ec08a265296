/**
 * Three replicas of two threads each hold limits of the installation, under twice the load that they let through, half
 * of which moves every ten seconds. A replica is killed in each minute; in every fourth, and in the second of two, the
 * database is away for eight seconds. Ten minutes with `npm run nightly`.
 */
import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import { LEASE_MS } from "../../domain/protocol.ts";
import { NIGHTLY } from "../env/nightly.ts";
import { randomFrom } from "../env/random.ts";
import { type Lane, makeLimitedLanes } from "./limits/lanes.ts";
import { startLoad } from "./limits/load.ts";
import { openReplicas } from "./limits/replicas.ts";
import { answerOf } from "./limits/upstream.ts";

const MINUTES = NIGHTLY ? 10 : 2;
const MINUTE_MS = 60_000;
const isAwayIn = (minute: number) => minute % 4 === 1;
const SEED = 248;
/** Until each limit has given what it had saved up. */
const WARM_UP_MS = 15_000;
/** Where in a minute a replica dies, the database goes away, and for how long. */
const [KILL_MS, AWAY_AT_MS, AWAY_MS] = [15_000, 35_000, 8_000];
/** Calm minutes from which on their mean says something. */
const ENOUGH_FOR_A_MEAN = 5;

test("b123: limits of the installation hold over replicas that die, load that moves and a database that goes away", {
  timeout: (MINUTES + 3) * MINUTE_MS,
}, async () => {
  const random = randomFrom(SEED);
  const replicas = await openReplicas(makeLimitedLanes, (request, response) => {
    request.resume().on("end", () => answerOf(response));
  });
  const lanes = replicas.furniture;
  try {
    const load = startLoad(lanes, replicas.urls, random);
    load.hasten(4);
    await delay(WARM_UP_MS);
    load.hasten(1);
    await delay(LEASE_MS);
    const start = performance.now();
    const at = (minute: number, milliseconds: number) =>
      delay(start + minute * MINUTE_MS + milliseconds - performance.now());
    for (let minute = 0; minute < MINUTES; minute++) {
      await at(minute, KILL_MS);
      await replicas.replace(random.below(3));
      if (!isAwayIn(minute)) continue;
      await at(minute, AWAY_AT_MS);
      replicas.cutDatabase();
      await delay(AWAY_MS);
      replicas.mendDatabase();
    }
    await at(MINUTES, 0);
    await load.stop();

    const minutes = Array.from({ length: MINUTES }, (_, minute) => minute);
    const calm = minutes.filter((minute) => !isAwayIn(minute));
    const percent = (lane: Lane, minute: number) => {
      const from = start + minute * MINUTE_MS;
      const times = load.admitted.get(lane) ?? [];
      return (times.filter((time) => time >= from && time < from + MINUTE_MS).length * 100) / lane.perMinute;
    };
    for (const lane of lanes) {
      const shown = minutes.map((minute) => `${percent(lane, minute).toFixed(1)}${isAwayIn(minute) ? " (away)" : ""}`);
      console.log(`${lane.name}: ${shown.join(", ")} % of the limit in each minute`);
    }
    console.log(`other answers: ${JSON.stringify([...load.others])}`);
    for (const lane of lanes) {
      for (const minute of calm) {
        expect.soft(percent(lane, minute), `${lane.name}, minute ${minute}`).toBeGreaterThanOrEqual(95);
        expect.soft(percent(lane, minute), `${lane.name}, minute ${minute}`).toBeLessThanOrEqual(105);
      }
      for (const minute of minutes.filter(isAwayIn)) {
        const more = lane.burst + ((2_000 + LEASE_MS) / MINUTE_MS) * lane.perMinute;
        const most = 100 + (more * 100) / lane.perMinute;
        expect.soft(percent(lane, minute), `${lane.name}, minute ${minute}`).toBeLessThanOrEqual(most);
        const least = 95 - (AWAY_MS * 100) / MINUTE_MS;
        expect.soft(percent(lane, minute), `${lane.name}, minute ${minute}`).toBeGreaterThanOrEqual(least);
      }
      if (calm.length < ENOUGH_FOR_A_MEAN) continue;
      const mean = calm.reduce((sum, minute) => sum + percent(lane, minute), 0) / calm.length;
      expect.soft(mean, `${lane.name}, on average`).toBeGreaterThanOrEqual(99);
      expect.soft(mean, `${lane.name}, on average`).toBeLessThanOrEqual(101);
    }
    expect([...load.others.keys()].filter((status) => status !== 0 && status !== 503)).toEqual([]);
  } finally {
    await replicas.close();
  }
});
