import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:http2";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { Pool } from "undici";
import { checkRequest, framed, sendMessage } from "../server/authz/grpc-harness.ts";
import { figure, median, quantile, table } from "./table.ts";

const ROUNDS = 15;
const CALLS = 6_000;
const CONNECTIONS = 16;
const KEYS = 10_000;
/** Milliseconds that calls are made at half of the highest rate. */
const PACED_MS = 5_000;
const TICK = 2;

/** A process that answers, and how it is asked. */
type Contestant = {
  readonly process: ChildProcess;
  readonly keys: readonly string[];
  /** Asks about a call of a model with a key. */
  ask(key: string): Promise<void>;
  close(): Promise<unknown>;
};

const NAMES = {
  floor: "node:http, one SHA-256",
  verifier: `the verifier, ${figure(KEYS)} keys`,
  "gRPC floor": "node:http2, one SHA-256",
  "gRPC verifier": `the verifier by gRPC, ${figure(KEYS)} keys`,
} as const;
type Name = keyof typeof NAMES;
const ALL: readonly Name[] = ["floor", "verifier", "gRPC floor", "gRPC verifier"];

function each<Value>(of: (name: Name) => Value): Record<Name, Value> {
  return {
    floor: of("floor"),
    verifier: of("verifier"),
    "gRPC floor": of("gRPC floor"),
    "gRPC verifier": of("gRPC verifier"),
  };
}

/** Measures what the verifier costs for a decision, beside an answer of node:http, or node:http2, with one SHA-256. */
export async function benchAuthz(): Promise<string> {
  const started = each(start);
  const contestants = new Map<Name, Contestant>();
  for (const name of ALL) contestants.set(name, await started[name]);
  const of = (name: Name): Contestant => contestants.get(name) ?? raise();
  const cpu = each((): number[] => []);
  const rates = each((): number[] => []);
  for (let round = 0; round <= ROUNDS; round++) {
    for (const name of ALL) {
      const measured = await flood(of(name));
      // The first round warms both up.
      if (round === 0) continue;
      cpu[name].push(measured.cpu);
      rates[name].push(measured.rate);
    }
  }
  const rows = [];
  for (const name of ALL) {
    const took = await paced(of(name), median(rates[name]) / 2);
    const floor = name.startsWith("gRPC") ? "gRPC floor" : "floor";
    rows.push([
      NAMES[name],
      figure(median(rates[name])),
      figure(median(cpu[name]), 1),
      figure(median(cpu[name].map((took, round) => took / (cpu[floor][round] ?? Number.NaN))), 2),
      figure(quantile(took, 0.5), 2),
      figure(quantile(took, 0.99), 2),
    ]);
  }
  for (const { process, close } of contestants.values()) {
    await close();
    process.kill();
  }
  const columns = ["a question of a proxy", "answers/s", "CPU us", "ratio", "p50 ms at half the rate", "p99 ms"];
  return table(columns, rows);
}

function raise(): never {
  throw new Error("a process was not started");
}

async function start(kind: Name): Promise<Contestant> {
  const process = fork(join(import.meta.dirname, "authz-process.ts"), [kind, String(KEYS)]);
  const [{ port, plaintexts }] = await once(process, "message");
  const asks = kind.startsWith("gRPC") ? asksAsEnvoy(port) : asksAsNginx(port);
  return { process, keys: plaintexts, ...asks };
}

const HEADERS = {
  "x-real-ip": "203.0.113.9",
  "user-agent": "OpenAI/Python 3.4.0",
  "content-type": "application/json",
  accept: "application/json",
};

function asksAsNginx(port: number): Pick<Contestant, "ask" | "close"> {
  const pool = new Pool(`http://127.0.0.1:${port}`, { connections: CONNECTIONS });
  return {
    async ask(key) {
      const shown = { "x-original-method": "POST", "x-original-uri": "/v1/chat/completions" };
      const { statusCode, body } = await pool.request({
        method: "GET",
        path: "/authz/nginx/g/bench",
        headers: { authorization: `Bearer ${key}`, ...shown, ...HEADERS },
      });
      await body.dump();
      if (statusCode !== 200) throw new Error(`the answer was ${statusCode}`);
    },
    close: () => pool.destroy(),
  };
}

function asksAsEnvoy(port: number): Pick<Contestant, "ask" | "close"> {
  const session = connect(`http://127.0.0.1:${port}`);
  return {
    async ask(key) {
      const headers = Object.entries({ authorization: `Bearer ${key}`, ...HEADERS });
      const { grpcStatus, code = 0 } = await sendMessage(
        session,
        framed(checkRequest({ protects: "/g/bench", headers })),
      );
      if (grpcStatus !== "0" || code !== 0) throw new Error(`the answer was ${code}`);
    },
    close: async () => session.destroy(),
  };
}

/** Asks with one of the keys. @returns milliseconds that the answer took */
async function asked({ ask, keys }: Contestant, nth: number): Promise<number> {
  const began = performance.now();
  await ask(keys[nth % keys.length] ?? "");
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
    while (next < CALLS) await asked(contestant, next++);
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, caller));
  const seconds = (performance.now() - began) / 1_000;
  return { cpu: ((await cpuOf(contestant)) - before) / CALLS, rate: CALLS / seconds };
}

/** Asks at a rate; says what each answer took, in milliseconds. */
async function paced(contestant: Contestant, perSecond: number): Promise<readonly number[]> {
  const took: number[] = [];
  const questions: Promise<unknown>[] = [];
  const began = performance.now();
  for (let nth = 0; performance.now() - began < PACED_MS; await delay(TICK)) {
    const due = ((performance.now() - began) / 1_000) * perSecond;
    for (; nth < due; nth++) questions.push(asked(contestant, nth).then((ms) => took.push(ms)));
  }
  await Promise.all(questions);
  return took;
}
