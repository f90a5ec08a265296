import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { createServer } from "node:http";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import { Pool } from "undici";
import { openPostgres } from "../../store/database/postgres/postgres.ts";
import { parseKeyring } from "../../store/encryption/keyring.ts";
import { startOwnPostgres } from "../env/database/postgres.ts";
import { freePort } from "../env/free-port.ts";
import { until } from "../env/until.ts";
import { KEYPLANE_COMMAND } from "./contestants.ts";
import { fillStore } from "./filled-store.ts";
import { figure, table } from "./table.ts";
import { ANSWER, BODY, mintedKeys, PUBLIC_ID } from "./traffic.ts";

/**
 * Bytes that `keyplane server` allocates for a call, as they were measured last. They hardly depend on the machine, so
 * that a rise shows what no time would show there.
 */
const RECORDED = {
  plain: { what: "a call", bytes: 23_000 },
  bounded: { what: "a call with limits, a budget and a list of models", bytes: 36_000 },
  refused: { what: "a refused call", bytes: 10_750 },
} as const;
/** Rise over the recorded figure at which the bench fails. */
const TOLERATED = 1.05;
const KEYS = 20;
const CONNECTIONS = 8;
const WARM_UP_CALLS = 8_000;
const CALLS = 3_000;
/** Rounds that are made, and at most while all of them are above what is tolerated. */
const ROUNDS = 3;
const MOST_ROUNDS = 8;
const LIMITED_PUBLIC_ID = "limited";

/** @throws Error if a call allocates more than is recorded, with the whole table */
export async function benchBudget(): Promise<string> {
  const upstream = createServer((request, response) => {
    request.resume().on("end", () => response.setHeader("content-type", "application/json").end(ANSWER));
  });
  await new Promise<void>((resolve) => upstream.listen(0, "127.0.0.1", resolve));
  const postgres = await startOwnPostgres();
  const [keys, [limited = ""]] = [mintedKeys(KEYS), mintedKeys(1)];
  const encryptionKey = randomBytes(32).toString("base64");
  const url = `http://127.0.0.1:${(upstream.address() as { port: number }).port}`;
  const store = await openPostgres(postgres.url, { answerTimeoutMs: 0 });
  await fillStore(store, parseKeyring(encryptionKey), { [PUBLIC_ID]: url }, keys);
  await fillStore(store, parseKeyring(encryptionKey), { [LIMITED_PUBLIC_ID]: url }, [limited], {
    rateLimit: { requestsPerMinute: 60_000_000, burst: 1_000_000, scope: "Replica" },
    tokenLimit: { tokensPerMinute: 1_000_000_000, scope: "Replica" },
    budgets: [{ period: "Month", tokens: 1_000_000_000_000, timeZone: "UTC", onExhausted: "Refuse" }],
    allowedModels: ["gpt-5-mini"],
  });
  await store.close();
  const port = await freePort();
  const server = await startServer(port, {
    KEYPLANE_DATABASE_URL: postgres.url,
    KEYPLANE_ENCRYPTION_KEY: encryptionKey,
  });
  const pool = new Pool(`http://127.0.0.1:${port}`, { connections: CONNECTIONS });
  try {
    const kinds = {
      plain: { publicId: PUBLIC_ID, keys, expected: 200 },
      bounded: { publicId: LIMITED_PUBLIC_ID, keys: [limited], expected: 200 },
      refused: { publicId: PUBLIC_ID, keys: mintedKeys(KEYS), expected: 401 },
    };
    // What V8 compiles well allocates less: all is warm before the first is counted.
    for (const calls of Object.values(kinds)) await makeCalls(pool, calls, WARM_UP_CALLS);
    const plain = await bytesPerCall(server, pool, kinds.plain, RECORDED.plain.bytes);
    const bounded = await bytesPerCall(server, pool, kinds.bounded, RECORDED.bounded.bytes);
    const refused = await bytesPerCall(server, pool, kinds.refused, RECORDED.refused.bytes);
    return verdictOf({ plain, bounded, refused });
  } finally {
    await pool.close();
    server.process.kill("SIGTERM");
    await until("the server ends", () => server.process.exitCode !== null || server.process.signalCode !== null);
    await postgres.stop();
    upstream.close();
  }
}

type Server = {
  readonly process: ChildProcess;
  /** Bytes that it has allocated since it was started. */
  allocated(): Promise<number>;
};

async function startServer(port: number, env: Readonly<Record<string, string>>): Promise<Server> {
  const preload = ["--import", join(import.meta.dirname, "allocated.ts")];
  const flags = ["--port", String(port), "--admin-port", "0", "--allow-private-upstreams", "127.0.0.0/8"];
  const child = spawn(process.execPath, [...preload, KEYPLANE_COMMAND, "server", ...flags], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, ...env },
  });
  let answer = Promise.withResolvers<number>();
  createInterface({ input: child.stdout }).on("line", (line) => {
    const bytes = /^allocated (\d+)$/.exec(line)?.[1];
    if (bytes !== undefined) answer.resolve(Number(bytes));
  });
  await until(
    "the server serves",
    async () => (await fetch(`http://127.0.0.1:${port}/g/${PUBLIC_ID}/v1/models`)).status !== 503,
    { timeoutMs: 90_000 },
  );
  return {
    process: child,
    allocated() {
      answer = Promise.withResolvers<number>();
      child.kill("SIGUSR2");
      return answer.promise;
    },
  };
}

type Calls = { readonly publicId: string; readonly keys: readonly string[]; readonly expected: number };

/**
 * Returns the bytes of one call: those of many calls, without those that pass in the same time without any; of several
 * rounds the least, since other work of the machine only adds to it. What a change adds is in each round.
 */
async function bytesPerCall(server: Server, pool: Pool, calls: Calls, recorded: number): Promise<number> {
  const idle = await bytesOf(server, () => pause(2_000));
  const rounds: number[] = [];
  while (rounds.length < ROUNDS || (rounds.length < MOST_ROUNDS && Math.min(...rounds) > TOLERATED * recorded)) {
    const busy = await bytesOf(server, () => makeCalls(pool, calls, CALLS));
    rounds.push((busy.bytes - (idle.bytes / idle.ms) * busy.ms) / CALLS);
  }
  return Math.min(...rounds);
}

async function bytesOf(server: Server, run: () => Promise<unknown>): Promise<{ bytes: number; ms: number }> {
  const [startedAt, before] = [performance.now(), await server.allocated()];
  await run();
  return { bytes: (await server.allocated()) - before, ms: performance.now() - startedAt };
}

async function makeCalls(pool: Pool, { publicId, keys, expected }: Calls, count: number): Promise<void> {
  let made = 0;
  const caller = async (): Promise<void> => {
    while (made < count) {
      const key = keys[made++ % keys.length];
      const { statusCode, body } = await pool.request({
        ...{ method: "POST", path: `/g/${publicId}/v1/chat/completions`, body: BODY },
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      });
      await body.dump();
      if (statusCode !== expected) throw new Error(`a call was answered ${statusCode}, not ${expected}`);
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, caller));
}

function verdictOf(measured: { readonly [Name in keyof typeof RECORDED]: number }): string {
  const rows = Object.entries(measured).map(([name, now]) => {
    const { what, bytes } = RECORDED[name as keyof typeof RECORDED];
    return { row: [what, figure(now), figure(bytes), figure(now / bytes, 2)], isRisen: now > TOLERATED * bytes };
  });
  const columns = ["allocated by `keyplane server`, bytes", "now", "recorded", "ratio"];
  const shown = table(
    columns,
    rows.map(({ row }) => row),
  );
  if (!rows.some(({ isRisen }) => isRisen)) return shown;
  throw new Error(
    `${shown}\n\nA call allocates over ${Math.round((TOLERATED - 1) * 100)} % more than is recorded in test/bench/budget.ts: find what does, or record the new figure and say why.`,
  );
}
