/** Callers who ask for twice what each limit lets through, half of them of another replica every ten seconds. */
import { Pool } from "undici";
import type { Random } from "../../env/random.ts";
import { type Lane, TOKENS_OF_A_CALL } from "./lanes.ts";

const TIMES_THE_LIMIT = 2;
const MOVE_MS = 10_000;
const TICK_MS = 20;
/** Of each replica, so that each of its threads has some. */
const CONNECTIONS = 32;
/** `user` says to the upstream which lane a call is of. */
const bodyOf = ({ publicId }: Lane) =>
  JSON.stringify({ model: "m", messages: [], max_tokens: TOKENS_OF_A_CALL - 40, user: publicId });

/** When each call of a lane was answered as one that the limit let through, in milliseconds of the monotonic clock. */
export type Admitted = ReadonlyMap<Lane, readonly number[]>;

export type Load = {
  readonly admitted: Admitted;
  /** Answers that are neither a success nor 429, by their status, and calls without an answer as `0`. */
  readonly others: ReadonlyMap<number, number>;
  /** From now on so many times as much is asked for. */
  hasten(times: number): void;
  stop(): Promise<void>;
};

/** @param urls of the replicas that run at the moment */
export function startLoad(lanes: readonly Lane[], urls: () => readonly string[], random: Random): Load {
  const admitted = new Map<Lane, number[]>(lanes.map((lane) => [lane, []]));
  const others = new Map<number, number>();
  const pools = new Map<string, Pool>();
  const underWay = new Set<Promise<void>>();
  let times = TIMES_THE_LIMIT;
  let busiest = 0;
  let sent = 0;

  const poolOf = (url: string) => {
    const pool = pools.get(url) ?? new Pool(url, { connections: CONNECTIONS });
    pools.set(url, pool);
    return pool;
  };
  const call = async (lane: Lane, url: string) => {
    const key = lane.keys[sent++ % lane.keys.length];
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    const path = `/g/${lane.publicId}/v1/chat/completions`;
    const status = await poolOf(url)
      .request({ method: "POST", path, headers, body: bodyOf(lane) })
      .then(async ({ statusCode, body }) => {
        await body.dump();
        return statusCode;
      })
      .catch(() => 0);
    if (status === 200) admitted.get(lane)?.push(performance.now());
    else if (status !== 429) others.set(status, (others.get(status) ?? 0) + 1);
  };
  const due = new Map<Lane, number>();
  let last = performance.now();
  const timer = setInterval(() => {
    const now = performance.now();
    const running = urls();
    for (const lane of lanes) {
      const owed = (due.get(lane) ?? 0) + (times * lane.perMinute * (now - last)) / 60_000;
      for (let n = 0; n < Math.floor(owed); n++) {
        const url = random.chance(0.5) ? running[busiest % running.length] : random.pickAny(running);
        if (url === undefined) continue;
        const calling = call(lane, url).finally(() => underWay.delete(calling));
        underWay.add(calling);
      }
      due.set(lane, owed % 1);
    }
    last = now;
  }, TICK_MS);
  const moving = setInterval(() => {
    busiest = random.below(1_000);
  }, MOVE_MS);
  return {
    admitted,
    others,
    hasten(by) {
      times = TIMES_THE_LIMIT * by;
    },
    async stop() {
      clearInterval(timer);
      clearInterval(moving);
      await Promise.all(underWay);
      await Promise.all([...pools.values()].map((pool) => pool.destroy()));
    },
  };
}
