/** Times that a route declares for its calls. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import type { RouteRecord } from "../../../domain/access/key-record.ts";
import { until } from "../../env/until.ts";
import type { Harness } from "../harness.ts";
import { routeOf, startGateway, upstreamOf } from "./gateway.ts";
import { rawUpstream } from "./raw-upstream.ts";
import { startUpstream, type Upstream } from "./upstream.ts";

let first: Upstream;
let second: Upstream;
let harness: Harness;
let key: string;
/** Requests that the first upstream has and does not answer. */
let open = 0;

beforeAll(async () => {
  first = await startUpstream();
  second = await startUpstream();
});
beforeEach(async () => {
  harness = await startGateway({ slots: { calls: 1, queued: 1 } });
  key = harness.addKey();
  first.received.length = 0;
  second.received.length = 0;
  first.answerWith((_response, _received, request) => {
    open++;
    request.socket.on("close", () => open--);
  });
  second.answerWith((response) => response.end('"second"'));
});
afterEach(() => harness.close());
afterAll(async () => {
  await first.close();
  await second.close();
});

const FALLBACK = { fallbacks: [{ upstream: "second", upstreamModel: "other-model" }] };

async function ask(timeouts: RouteRecord["timeouts"], fields: Partial<RouteRecord> = {}) {
  declare(timeouts, fields);
  return await call();
}

function declare(timeouts: RouteRecord["timeouts"], fields: Partial<RouteRecord>, url = first.url): void {
  harness.addGateway({
    ...{ gatewayId: "gw_main", publicId: "main" },
    upstreams: [upstreamOf(url), upstreamOf(second.url, "openai", { name: "second" })],
    routes: [routeOf("fast", { ...(timeouts && { timeouts }), ...fields })],
  });
}

async function call() {
  const began = performance.now();
  const answer = await fetch(`${harness.url}/g/main/v1/chat/completions`, {
    method: "POST",
    headers: { "x-api-key": key, "content-type": "application/json" },
    body: JSON.stringify({ model: "fast" }),
  });
  return { status: answer.status, text: () => answer.text(), took: performance.now() - began };
}

test("b407: an answer that has not begun in the route's time is 504, and the upstream is let go", async () => {
  const { status, text, took } = await ask({ firstByteSeconds: 0.4 });
  expect([status, JSON.parse(await text()).error.code]).toEqual([504, "gateway_timeout"]);
  expect(took).toBeGreaterThanOrEqual(390);
  await until("the upstream is let go", () => open === 0);
  await until("nothing is tracked any more", () => harness.streams.size === 0);
});

test("each upstream has its share of the time, so that a fallback is asked in it", async () => {
  const { status, text, took } = await ask({ firstByteSeconds: 0.8 }, FALLBACK);
  expect([status, await text()]).toEqual([200, '"second"']);
  expect(took).toBeGreaterThanOrEqual(390);
  second.answerWith(() => {});
  const late = await ask({ firstByteSeconds: 0.8 }, FALLBACK);
  expect(late.status).toBe(504);
  expect(late.took).toBeGreaterThanOrEqual(790);
});

test("an upstream of five silent calls is left out, and the other one then has all of the time", async () => {
  declare({ firstByteSeconds: 1 }, FALLBACK);
  for (let i = 0; i < 5; i++) await call();
  second.answerWith((response) => setTimeout(() => response.end('"late"'), 700));
  const { status } = await call();
  expect([status, first.received.length]).toEqual([200, 5]);
});

test("a declared time takes the place of the usual one before a fallback", async () => {
  await harness.close();
  harness = await startGateway({ times: { headWithFallback: 200 } });
  key = harness.addKey();
  first.answerWith((response) => setTimeout(() => response.end('"slow"'), 1_500));
  expect(await (await ask({ firstByteSeconds: 30 }, FALLBACK)).text()).toBe('"slow"');
  expect(await (await ask(undefined, FALLBACK)).text()).toBe('"second"');
});

test("b407: the time runs in an upstream's queue, and no retry is waited for beyond it", async () => {
  const holding = ask({ firstByteSeconds: 3 });
  await until("the slot is taken", () => first.received.length === 1);
  const queued = await ask({ firstByteSeconds: 0.3 });
  expect([queued.status, first.received.length]).toEqual([504, 1]);
  expect(queued.took).toBeLessThan(2_000);
  expect((await holding).status).toBe(504);
  first.answerWith((response) => response.writeHead(503, { "retry-after": "2" }).end('"busy"'));
  const busy = await ask({ firstByteSeconds: 1 }, { retry: { attempts: 5 } });
  expect([busy.status, await busy.text(), first.received.length]).toEqual([503, '"busy"', 2]);
});

test("b407: an upstream that cannot be connected to in its share is not retried: the fallback is asked", async () => {
  let connections = 0;
  // It never answers TLS's greeting.
  const silent = await rawUpstream(() => connections++);
  declare({ firstByteSeconds: 1 }, { ...FALLBACK, retry: { attempts: 3 } }, silent.url.replace("http:", "https:"));
  const { status, took } = await call();
  expect([status, connections, second.received.length]).toEqual([200, 1, 1]);
  expect(took).toBeLessThan(1_000);
  silent.close();
});

test("a time that is declared while a call is under way leaves its fallback time to answer", async () => {
  declare(undefined, FALLBACK);
  first.answerWith((response) => {
    declare({ firstByteSeconds: 5 }, FALLBACK);
    response.writeHead(503).end();
  });
  second.answerWith((response) => setTimeout(() => response.end('"second"'), 200));
  expect((await call()).status).toBe(200);
});

test("b407: an answer that falls silent for the route's time is broken off, and is 504 before its first piece", async () => {
  first.answerWith((response) => response.writeHead(200, { "content-length": 10 }).write("1"));
  await expect((await ask({ idleSeconds: 0.3 })).text()).rejects.toThrow();
  first.answerWith((response) => response.writeHead(200, { "content-length": 10 }).flushHeaders());
  expect((await ask({ idleSeconds: 0.3 })).status).toBe(504);
  first.answerWith((response) => {
    response.writeHead(200, { "content-length": 6 });
    let pieces = 0;
    const writing = setInterval(() => (++pieces < 6 ? response.write("x") : response.end("x", stop)), 100);
    const stop = () => clearInterval(writing);
  });
  expect(await (await ask({ idleSeconds: 0.3, firstByteSeconds: 5 })).text()).toBe("xxxxxx");
});
