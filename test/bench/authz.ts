import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { Pool } from "undici";
import { figure, median, quantile, table } from "./table.ts";

const ROUNDS = 15;
const CALLS = 6_000;
const CONNECTIONS = 16;
const KEYS = 10_000;
/** Milliseconds that calls are made at half of the highest rate. */
const PACED_MS = 5_000;
const TICK = 2;

/** A process that answers, and how it is asked. */
type Contestant = { readonly process: ChildProcess; readonly pool: Pool; readonly keys: readonly string[] };

/** Measures what the verifier costs for a decision, beside an answer of node:http with one SHA-256. */
export async function benchAuthz(): Promise<string> {
  const contestants = { floor: await start("floor"), verifier: await start("verifier") };
  const cpu: Record<keyof typeof contestants, number[]> = { floor: [], verifier: [] };
  const rates: Record<keyof typeof contestants, number[]> = { floor: [], verifier: [] };
  for (let round = 0; round <= ROUNDS; round++) {
    for (const name of ["floor", "verifier"] as const) {
      const measured = await flood(contestants[name]);
      // The first round warms both up.
      if (round === 0) continue;
      cpu[name].push(measured.cpu);
      rates[name].push(measured.rate);
    }
  }
  const rows = [];
  for (const name of ["floor", "verifier"] as const) {
    const took = await paced(contestants[name], median(rates[name]) / 2);
    rows.push([
      name === "floor" ? "node:http, one SHA-256" : `the verifier, ${figure(KEYS)} keys`,
      figure(median(rates[name])),
      figure(median(cpu[name]), 1),
      figure(median(cpu[name].map((took, round) => took / (cpu.floor[round] ?? Number.NaN))), 2),
      figure(quantile(took, 0.5), 2),
      figure(quantile(took, 0.99), 2),
    ]);
  }
  for (const { process, pool } of Object.values(contestants)) {
    await pool.destroy();
    process.kill();
  }
  const columns = ["a question of nginx", "answers/s", "CPU us", "ratio", "p50 ms at half the rate", "p99 ms"];
  return table(columns, rows);
}

async function start(kind: "floor" | "verifier"): Promise<Contestant> {
  const process = fork(join(import.meta.dirname, "authz-process.ts"), [kind, String(KEYS)]);
  const [{ port, plaintexts }] = await once(process, "message");
  return { process, pool: new Pool(`http://127.0.0.1:${port}`, { connections: CONNECTIONS }), keys: plaintexts };
}

/** Asks as nginx does about a call of a model. @returns milliseconds that the answer took */
async function ask({ pool, keys }: Contestant, nth: number): Promise<number> {
  const began = performance.now();
  const { statusCode, body } = await pool.request({
    method: "GET",
    path: "/authz/nginx/g/bench",
    headers: {
      authorization: `Bearer ${keys[nth % keys.length]}`,
      "x-original-method": "POST",
      "x-original-uri": "/v1/chat/completions",
      "x-real-ip": "203.0.113.9",
      "user-agent": "OpenAI/Python 3.4.0",
      "content-type": "application/json",
      accept: "application/json",
    },
  });
  await body.dump();
  if (statusCode !== 200) throw new Error(`the answer was ${statusCode}`);
  return performance.now() - began;
}

async function cpuOf({ process }: Contestant): Promise<number> {
  process.send("cpu");
  const [{ cpu }] = await once(process, "message");
  return cpu;
}

async function flood(contestant: Contestant): Promise<{ readonly cpu: number; readonly rate: number }> {
  const [before, began] = [await cpuOf(contestant), performance.now()];
  let next = 0;
  const caller = async () => {
    while (next < CALLS) await ask(contestant, next++);
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, caller));
  const seconds = (performance.now() - began) / 1_000;
  return { cpu: ((await cpuOf(contestant)) - before) / CALLS, rate: CALLS / seconds };
}

/** Asks at a rate; says what each answer took, in milliseconds. */
async function paced(contestant: Contestant, perSecond: number): Promise<readonly number[]> {
  const took: number[] = [];
  const asked: Promise<unknown>[] = [];
  const began = performance.now();
  for (let nth = 0; performance.now() - began < PACED_MS; await delay(TICK)) {
    const due = ((performance.now() - began) / 1_000) * perSecond;
    for (; nth < due; nth++) asked.push(ask(contestant, nth).then((ms) => took.push(ms)));
  }
  await Promise.all(asked);
  return took;
}
