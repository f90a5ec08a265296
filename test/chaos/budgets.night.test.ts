/**
 * Three replicas of two threads each hold a key's and a team's budget until they are used up, at fifty calls a second
 * for each and with streams of half a minute, while a replica is killed in each minute and the database is away for eight
 * seconds in every fourth, and in the second of two minutes. Ten minutes with `npm run nightly`.
 */
import { setTimeout as delay } from "node:timers/promises";
import { sql } from "kysely";
import { request } from "undici";
import { expect, test } from "vitest";
import { openPostgres } from "../../store/database/postgres/postgres.ts";
import { NIGHTLY } from "../env/nightly.ts";
import { randomFrom } from "../env/random.ts";
import { until } from "../env/until.ts";
import { type Lane, type LaneHome, makeLane, TOKENS_OF_A_CALL } from "./limits/lanes.ts";
import { startLoad } from "./limits/load.ts";
import { openReplicas } from "./limits/replicas.ts";
import { answerOf, streamFor } from "./limits/upstream.ts";

const MINUTES = NIGHTLY ? 10 : 2;
const MINUTE_MS = 60_000;
const SEED = 249;
/** Where in a minute a replica dies, the database goes away, and for how long. */
const [KILL_MS, AWAY_AT_MS, AWAY_MS] = [15_000, 35_000, 8_000];
const isAwayIn = (minute: number) => minute % 4 === 1;
/** Asked for in a minute; a lane is asked for twice as much as it is said to let through. */
const CALLS_A_MINUTE = 3_000;
/** What most of the minutes' calls use. */
const TOKENS = Math.floor((MINUTES * CALLS_A_MINUTE * TOKENS_OF_A_CALL * 3) / 4 / 1_000) * 1_000;
const BUDGET = { tokens: TOKENS, period: "Total", timeZone: "UTC", onExhausted: "Refuse" } as const;
/** Of each lane at a time. */
const STREAMS = 3;
const STREAM_SECONDS = NIGHTLY ? 150 : 30;
/** More than any call may use: its body's bytes and the most that its answer may have. */
const MOST_OF_A_CALL = 200;
/** No call has been let through for so long: what others held has gone back since. */
const USED_UP_MS = 8_000;

const makeLanes = (home: LaneHome): Promise<readonly Lane[]> => {
  const asked = { perMinute: CALLS_A_MINUTE / 2, burst: 0 };
  return Promise.all([
    makeLane(home, { name: "a key's budget", ...asked, policy: { budgets: [BUDGET] } }),
    makeLane(home, {
      ...{ name: "a team's budget", ...asked, keys: 3 },
      limits: { rate: null, concurrent: null, budgets: [BUDGET] },
    }),
  ]);
};

test("b129: budgets are never exceeded and used up, over replicas that die, streams of minutes and a database that goes away", {
  timeout: (MINUTES + 6) * MINUTE_MS,
}, async () => {
  const random = randomFrom(SEED);
  /** What the upstream was asked for, in calls by the public ids of the gateways that they came by. */
  const calls = new Map<string, number>();
  const replicas = await openReplicas(makeLanes, (asked, response) => {
    const pieces: Buffer[] = [];
    asked.on("data", (piece: Buffer) => pieces.push(piece));
    asked.on("end", () => {
      const { user, stream } = JSON.parse(Buffer.concat(pieces).toString());
      calls.set(user, (calls.get(user) ?? 0) + 1);
      if (stream === true) streamFor(response, STREAM_SECONDS);
      else answerOf(response);
    });
  });
  const lanes = replicas.furniture;
  const store = await openPostgres(replicas.databaseUrl);
  const over = new AbortController();
  try {
    const load = startLoad(lanes, replicas.urls, random);
    const streams = lanes.flatMap((lane) =>
      Array.from({ length: STREAMS }, () => keepStreaming(lane, replicas.urls, over.signal)),
    );
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
    await until(
      "both budgets are used up",
      () => lanes.every((lane) => performance.now() - (load.admitted.get(lane)?.at(-1) ?? 0) > USED_UP_MS),
      { timeoutMs: 3 * MINUTE_MS },
    );
    await load.stop();
    over.abort();
    await Promise.all(streams);
    await replicas.stop();

    for (const lane of lanes) {
      const used = (calls.get(lane.publicId) ?? 0) * TOKENS_OF_A_CALL;
      const { rows } = await sql<{ spent: number; held: number }>`
        select coalesce(sum(spent), 0)::float8 as spent, coalesce(sum(held), 0)::float8 as held from budget_ledger
        where budget like ${lane.name.includes("team") ? "team %" : "key %"}`.execute(store.db);
      const { spent = 0, held = 0 } = rows[0] ?? {};
      console.log(`${lane.name}: of ${TOKENS} used ${used}; in the ledger ${spent}, and ${held} of threads that died`);
      expect.soft(used, lane.name).toBeLessThanOrEqual(TOKENS);
      expect.soft(spent + held, `${lane.name} in the ledger`).toBeLessThanOrEqual(TOKENS);
      expect.soft(spent + held, `${lane.name} is used up`).toBeGreaterThan(TOKENS - MOST_OF_A_CALL);
      expect.soft(used, `${lane.name}: what died is at most what it held`).toBeLessThanOrEqual(spent + held);
      expect
        .soft(used, `${lane.name}: nothing is charged that was not used`)
        .toBeGreaterThanOrEqual(spent - CUT_STREAMS);
      // Of each thread that dies: what its calls had reserved, and a fiftieth of what was left.
      expect.soft(held, `${lane.name}: what is lost by deaths`).toBeLessThanOrEqual(MINUTES * 2 * (TOKENS / 50 + LOST));
    }
    console.log(`other answers: ${JSON.stringify([...load.others])}`);
    expect([...load.others.keys()].filter((status) => status !== 0 && status !== 503)).toEqual([]);
  } finally {
    over.abort();
    await store.close();
    await replicas.close();
  }
});

/** A stream that is cut is charged what it may have used. */
const CUT_STREAMS = MINUTES * 2 * STREAMS * MOST_OF_A_CALL;
/** What the calls of a thread have reserved at a time, at most. */
const LOST = 100 * MOST_OF_A_CALL;

/** Has one stream after the other of a lane, each from another replica, until the signal. */
async function keepStreaming(lane: Lane, urls: () => readonly string[], signal: AbortSignal): Promise<void> {
  for (let n = 0; !signal.aborted; n++) {
    const running = urls();
    const headers = { authorization: `Bearer ${lane.keys[n % lane.keys.length]}`, "content-type": "application/json" };
    const body = JSON.stringify({ model: "m", messages: [], max_tokens: 60, stream: true, user: lane.publicId });
    await request(`${running[n % running.length]}/g/${lane.publicId}/v1/chat/completions`, {
      ...{ method: "POST", headers, body, signal },
    })
      .then((answer) => answer.body.dump({ limit: 1 << 20, signal }))
      .catch(() => {});
    await delay(500, undefined, { signal }).catch(() => {});
  }
}
