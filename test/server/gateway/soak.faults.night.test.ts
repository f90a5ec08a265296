/** The gateway under half of what it can take, for 800 requests; for ten minutes with KEYPLANE_NIGHTLY. */
import { randomBytes } from "node:crypto";
import { Agent, request as httpRequest } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import { mintKey } from "../../../domain/key/secret/key-format.ts";
import { parseKeyring } from "../../../store/encryption/keyring.ts";
import { fillStore } from "../../bench/filled-store.ts";
import { residentMegabytes } from "../../bench/processes.ts";
import { databaseUrl, describeOnPostgres } from "../../env/database/engines.ts";
import { NIGHTLY } from "../../env/nightly.ts";
import { startServing } from "../../env/serving.ts";
import { startUpstream } from "./upstream.ts";

/** When a run is over: in requests, so that a busy machine makes as many; nightly by the clock. */
type Limit = { readonly requests: number; readonly ms: number };
const limit = (requests: number, nightlyMs: number): Limit =>
  NIGHTLY ? { requests: Number.POSITIVE_INFINITY, ms: nightlyMs } : { requests, ms: Number.POSITIVE_INFINITY };
/** To learn what the server can take; what it keeps for good, it has after that. */
const WARM_UP = limit(500, 10_000);
const SOAK = limit(800, 600_000);
const TIMEOUT_MS = NIGHTLY ? 900_000 : 300_000;
const CLIENTS = 32;
/**
 * The server's heap has this for all that it keeps: what stayed of each request would end it. In ten minutes of a hundred
 * requests a second that is 800 bytes of each, and in 800 requests after the first 500 it is 40 KB.
 */
const HEAP_MB = 96;
/** Buffers and code are outside of the heap: so much may the whole process still grow once it is warm. */
const GROWTH_MB = 64;

const agent = new Agent({ keepAlive: true });

describeOnPostgres("the gateway under load", (store) => {
  test("makes no error at half its rate, and its memory stays as it is", {
    timeout: TIMEOUT_MS,
  }, async () => {
    const upstream = await startUpstream((response, { url }) => {
      if (!url.includes("stream")) return response.end(JSON.stringify({ text: "x".repeat(1_000) }));
      response.writeHead(200, { "content-type": "text/event-stream" });
      let left = 20;
      const timer = setInterval(() => {
        response.write(`data: ${left}\n\n`);
        if (--left === 0) response.end();
      }, 2);
      return response.on("close", () => clearInterval(timer));
    });
    const keys = Array.from({ length: 1_000 }, () => mintKey(randomBytes));
    const encryptionKey = randomBytes(32).toString("base64");
    await fillStore(store(), parseKeyring(encryptionKey), { soak: upstream.url }, keys);
    const { href } = await databaseUrl(store());
    const flags = ["--port", "0", "--admin-port", "0", "--allow-private-upstreams", "127.0.0.0/8"];
    const env = { KEYPLANE_DATABASE_URL: href, KEYPLANE_ENCRYPTION_KEY: encryptionKey };
    const server = await startServing(["server", ...flags], env, [`--max-old-space-size=${HEAP_MB}`]);
    const { pid = 0 } = server.child;

    const run = async ({ requests, ms }: Limit, perSecond: number): Promise<number> => {
      const start = performance.now();
      let calls = 0;
      const client = async (): Promise<void> => {
        while (calls < requests && performance.now() < start + ms) {
          const due = start + (calls * 1_000) / perSecond;
          const number = calls++;
          if (due > performance.now()) await delay(due - performance.now());
          upstream.received.length = 0;
          await callOf(number)(server.url, keys[number % keys.length] ?? "");
        }
      };
      await Promise.all(Array.from({ length: CLIENTS }, client));
      return (calls * 1_000) / (performance.now() - start);
    };

    try {
      const most = await run(WARM_UP, Number.POSITIVE_INFINITY);
      const before = residentMegabytes(pid);
      const rate = await run(SOAK, most / 2);
      const after = residentMegabytes(pid);
      console.log(
        `${Math.round(rate)} requests a second; resident: ${before.toFixed()} MB before, ${after.toFixed()} MB after`,
      );
      expect(server.child.exitCode).toBeNull();
      expect(after - before).toBeLessThan(GROWTH_MB);
      // A warning may be of the database, which many tests share and which a busy machine holds up.
      expect(server.lines.filter((line) => /"level":(50|60)/.test(line))).toEqual([]);
    } finally {
      agent.destroy();
      await server.stop();
      await upstream.close();
    }
  });
});

type Caller = (url: string, key: string) => Promise<void>;

/** Of twenty calls, two are streams, two have an unknown key, and one leaves before its answer is complete. */
function callOf(number: number): Caller {
  const turn = number % 20;
  if (turn < 2) return (url, key) => call(`${url}/g/soak/v1/chat/completions?stream`, key, 200);
  if (turn < 4) return (url) => call(`${url}/g/soak/v1/chat/completions`, mintKey(randomBytes), 401);
  if (turn === 4) return (url, key) => call(`${url}/g/soak/v1/chat/completions?stream`, key, 200, "leaves");
  return (url, key) => call(`${url}/g/soak/v1/chat/completions`, key, 200);
}

/** Makes one call; rejects where it is answered in another way, or broken. */
function call(url: string, key: string, expected: number, until: "stays" | "leaves" = "stays"): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { "x-api-key": key, "content-type": "application/json" };
    const request = httpRequest(url, { method: "POST", headers, agent }, (response) => {
      if (response.statusCode !== expected) reject(new Error(`a call was answered ${response.statusCode}`));
      response.on("end", resolve);
      response.on("error", reject);
      response.on("data", () => {
        if (until === "stays") return;
        resolve();
        response.destroy();
      });
    });
    request.on("error", reject);
    request.end('{"model":"m","messages":[{"role":"user","content":"Hello"}]}');
  });
}
