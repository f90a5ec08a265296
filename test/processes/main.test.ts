import { sql } from "kysely";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { startServer } from "../../processes/main.ts";
import { systemClock } from "../../runtime/clock.ts";
import { createLog } from "../../runtime/log.ts";
import type { Mount } from "../../server/app.ts";
import { parseServerConfig } from "../../server/context/config.ts";
import { openPostgres } from "../../store/database/postgres/postgres.ts";
import type { Store } from "../../store/database/store.ts";
import { describeNightlyOnEachEngine, freshDatabase } from "../env/database/engines.ts";
import { undocumentedMetrics } from "../env/metrics.ts";
import { examples } from "../env/nightly.ts";
import { until } from "../env/until.ts";
import { answers, openCaller, statusesOf } from "../server/http/sockets.ts";
import { keyring, storeKey } from "../server/key-index/replica-fixtures.ts";
import { requestHead } from "../server/raw-http.ts";
import { HOUR, makeTeam } from "../store/fixtures.ts";
import { auditOfKey } from "../store/questions.ts";

const FLAGS = { port: "0", adminPort: "0" };
const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** A list, and a stream that is open until its key ends or the server does. */
const MOUNTS: readonly Mount[] = [
  {
    at: "",
    routes: (app) => {
      app.get("/atoms", { config: { operation: "atoms.list" } }, async () => ({ items: [] }));
      app.get("/stream", { config: { operation: "atoms.search" } }, (request, reply) => {
        reply.hijack();
        reply.raw.writeHead(200, { "content-type": "text/event-stream" });
        reply.raw.write("data: open\n\n");
        request.openCall?.takeOver(() => reply.raw.end("event: end\n\n"));
      });
    },
  },
];

async function start(store: Store, env: Record<string, string> = {}, graceMs = HOUR) {
  const lines: string[] = [];
  const log = createLog("info", { write: (line) => lines.push(line) });
  const config = parseServerConfig(env, FLAGS);
  const server = await startServer({ store, config, keyring, clock: systemClock, log, graceMs, mounts: MOUNTS });
  closing.push(() => server.close());
  const get = (path: string, key: string) => fetch(server.url + path, { headers: { "x-api-key": key } });
  return { ...server, get, lines };
}

/** In production, with a placeholder that is refused there. */
const PRODUCTION = { NODE_ENV: "production", PLATFORM_API_KEYS: "inf_development" };

describeNightlyOnEachEngine("a server that runs on", (store) => {
  let server: Awaited<ReturnType<typeof start>>;
  beforeAll(async () => {
    server = await start(store(), PRODUCTION);
    // It outlives its first test.
    closing.length = 0;
    await server.whenCurrent;
  });
  afterAll(() => server.close());

  test("c96: listens once it has read the keys", async () => {
    const key = await storeKey(store(), await makeTeam(store()));
    for (let i = 0; i < examples(2); i++) {
      const started = await start(store());
      expect((await started.get("/atoms", key.plaintext)).status).toBe(200);
    }
  });

  test("serves a stored key, and refuses it as soon as it is revoked", async () => {
    const key = await storeKey(store(), await makeTeam(store()));
    await until("the key is known", async () => (await server.get("/atoms", key.plaintext)).status === 200);
    await key.revoke();
    await until("the key is refused", async () => (await server.get("/atoms", key.plaintext)).status === 401);
    expect((await server.get("/atoms", key.plaintext)).status).toBe(401);
  });

  test("b24: a stream of a revoked key ends with a last event", async () => {
    const key = await storeKey(store(), await makeTeam(store()));
    const answer = await until("the key is known", async () => {
      const stream = await server.get("/stream", key.plaintext);
      return stream.status === 200 ? stream : undefined;
    });
    await key.revoke();
    expect(await answer.text()).toBe("data: open\n\nevent: end\n\n");
  });

  test("the admin listener says that it lives, whether it is ready, and its metrics, and nothing else", async () => {
    const ask = async (path: string, method = "GET") => (await fetch(server.adminUrl + path, { method })).status;
    expect(await ask("/healthz")).toBe(200);
    expect(await ask("/readyz")).toBe(200);
    expect(await ask("/")).toBe(404);
    expect(await ask("/atoms")).toBe(404);
    expect(await ask("/metrics", "POST")).toBe(404);
    const metrics = await (await fetch(`${server.adminUrl}/metrics`)).text();
    for (const name of [
      "keyplane_index_current 1",
      "keyplane_index_keys",
      "keyplane_refusals_total",
      "nodejs_eventloop_lag",
    ]) {
      expect(metrics).toContain(name);
    }
    expect(undocumentedMetrics(metrics)).toEqual([]);
    expect((await fetch(`${server.url}/metrics`)).status).toBe(404);
  });

  test("refuses placeholders in production, with a warning at the start", async () => {
    expect((await server.get("/atoms", "inf_development")).status).toBe(401);
    expect(server.lines.join("")).toContain("PLATFORM_API_KEYS is ignored in production");
  });
});

describeNightlyOnEachEngine("a server that ends", (store) => {
  test("writes when a key was last used, and a sample of its refusals, at the latest when it ends", async () => {
    const key = await storeKey(store(), await makeTeam(store()));
    const server = await start(store());
    await server.whenCurrent;
    await server.get("/atoms", key.plaintext);
    await key.revoke();
    await until("the key is refused", async () => (await server.get("/atoms", key.plaintext)).status === 401);
    await server.close();
    const { rows } = await sql<{ ms: number }>`
      select extract(epoch from last_used_at)::float8 * 1000 as ms from key_usage where key_id = ${key.keyId}`.execute(
      store().db,
    );
    expect(Math.abs((rows[0]?.ms ?? 0) - Date.now())).toBeLessThan(60_000);
    const refusal = (await auditOfKey(store().db, key.keyId)).find(({ kind }) => kind === "request.refused");
    expect(refusal?.detail).toMatchObject({ decision: "unauthorized", reason: "revoked", route: "/atoms" });
    expect(Object.keys(refusal?.detail ?? {}).sort()).toEqual([
      ...["address", "count", "decision", "network", "reason", "replica", "requestId", "route", "seq"],
    ]);
    expect(refusal?.detail).toMatchObject({ address: "127.0.0.1", network: "127.0.0.0/24" });
  });

  test("an idle server ends without a grace period, and twice is as once", async () => {
    const server = await start(store());
    await server.whenCurrent;
    await fetch(`${server.url}/atoms`);
    await Promise.all([server.close(), server.close()]);
    await expect(fetch(`${server.url}/atoms`)).rejects.toThrow();
    await expect(fetch(`${server.adminUrl}/healthz`)).rejects.toThrow();
  });

  test("a server that is ending takes nothing new, lets answers go on, and waits for no connection whose answer has ended", async () => {
    const key = await storeKey(store(), await makeTeam(store()));
    const server = await start(store());
    await server.whenCurrent;
    const stream = await server.get("/stream", key.plaintext);
    const closed = server.close();
    await expect(server.get("/atoms", key.plaintext)).rejects.toThrow();
    expect((await fetch(`${server.adminUrl}/readyz`)).status).toBe(503);
    expect((await fetch(`${server.adminUrl}/healthz`)).status).toBe(200);
    await key.revoke();
    expect(await stream.text()).toBe("data: open\n\nevent: end\n\n");
    await closed;
  });

  test("a server that is ending answers what comes on a connection that it has, and closes it then", async () => {
    const team = await makeTeam(store());
    const [key, other] = [await storeKey(store(), team), await storeKey(store(), team)];
    const server = await start(store());
    await server.whenCurrent;
    const caller = openCaller(Number(new URL(server.url).port));
    caller.socket.write(requestHead("GET /stream HTTP/1.1", [`X-API-Key: ${key.plaintext}`]));
    await until("the stream is open", () => caller.text().includes("data: open"));
    const closed = server.close();
    await expect(server.get("/atoms", other.plaintext)).rejects.toThrow();
    caller.socket.write(requestHead("GET /atoms HTTP/1.1", [`X-API-Key: ${other.plaintext}`]));
    await key.revoke();
    await until("the connection is closed", () => caller.state() !== "open");
    caller.socket.destroy();
    const [, , second = ""] = caller.text().split("HTTP/1.1 ");
    expect(second).toMatch(/^200 OK\r\n[\s\S]*^connection: close\r\n[\s\S]*\{"items":\[\]\}$/im);
    await closed;
  });

  test("a server that is ending answers a call that is on its way on a connection that is idle, and closes it then", async () => {
    const key = await storeKey(store(), await makeTeam(store()));
    const server = await start(store());
    await server.whenCurrent;
    const caller = openCaller(Number(new URL(server.url).port));
    const call = requestHead("GET /atoms HTTP/1.1", [`X-API-Key: ${key.plaintext}`]);
    caller.socket.write(call);
    await answers(caller, 1);
    const closed = server.close();
    await expect(server.get("/atoms", key.plaintext)).rejects.toThrow();
    caller.socket.write(call);
    await until("the connection is closed", () => caller.state() !== "open");
    expect(statusesOf(caller)).toEqual([200, 200]);
    expect(caller.text()).toMatch(/^connection: keep-alive\r\n[\s\S]*^connection: close\r\n/im);
    caller.socket.destroy();
    await closed;
  });

  test("a server that is ending ends the answers that go on when the grace period is over", async () => {
    const key = await storeKey(store(), await makeTeam(store()));
    const server = await start(store(), {}, 600);
    await server.whenCurrent;
    const stream = await server.get("/stream", key.plaintext);
    const before = performance.now();
    const closed = server.close();
    expect(await stream.text()).toBe("data: open\n\nevent: end\n\n");
    expect(performance.now() - before).toBeGreaterThan(550);
    await closed;
  });
});

describe("the start", () => {
  test("refuses a schema that was never migrated, and says what to run", async () => {
    const { url, drop } = await freshDatabase();
    closing.push(drop);
    const store = await openPostgres(url, { maxConnections: 2 });
    closing.push(() => store.close());
    await expect(start(store)).rejects.toThrow("run keyplane migrate");
  });
});
