/** Upstreams that have failed several times in a row, and the routes that leave them out. */
import { afterEach, beforeEach, expect, test } from "vitest";
import type { UpstreamTimes } from "../../../server/gateway/upstream/upstream-times.ts";
import { until } from "../../env/until.ts";
import type { Harness } from "../harness.ts";
import { routeOf, startGateway, upstreamOf } from "./gateway.ts";
import { rawUpstream } from "./raw-upstream.ts";
import { startUpstream, type Upstream } from "./upstream.ts";

let first: Upstream;
let second: Upstream;
let harness: Harness;
let key: string;
let id: string;

beforeEach(async () => {
  first = await startUpstream((response) => response.writeHead(503).end("first"));
  second = await startUpstream((response) => response.end('"second"'));
  await start(first.url);
});
afterEach(async () => {
  await harness.close();
  await first.close();
  await second.close();
});

async function start(url: string, times: Partial<UpstreamTimes> = {}): Promise<void> {
  await harness?.close();
  harness = await startGateway({ times });
  key = harness.addKey();
  id = declare(url);
}

function declare(url: string): string {
  const fallbacks = [{ upstream: "second", upstreamModel: "other-model" }];
  return harness.addGateway({
    ...{ gatewayId: "gw_main", publicId: "main" },
    upstreams: [upstreamOf(url), upstreamOf(second.url, "openai", { name: "second" })],
    routes: [routeOf("fast", { fallbacks }), routeOf("alone")],
  }).publicId;
}

async function ask(model = "fast", signal: AbortSignal | null = null): Promise<[number, string]> {
  const answer = await fetch(`${harness.url}/g/${id}/v1/chat/completions`, {
    method: "POST",
    headers: { "x-api-key": key, "content-type": "application/json" },
    body: JSON.stringify({ model }),
    signal,
  });
  return [answer.status, await answer.text()];
}

async function askTimes(count: number, model?: string): Promise<void> {
  for (let i = 0; i < count; i++) await ask(model);
}

async function leftOut(): Promise<number> {
  const metrics = await harness.metrics.registry.getMetricsAsJSON();
  return metrics.find(({ name }) => name === "keyplane_upstreams_left_out")?.values[0]?.value ?? Number.NaN;
}

const logged = () => harness.lines.filter((line) => line.includes("several times in a row"));

test("b405: an upstream that has failed five times in a row is left out for a while, then one call tries it", async () => {
  await askTimes(5);
  expect([first.received.length, await leftOut(), logged().length]).toEqual([5, 1, 1]);
  expect(JSON.parse(logged()[0] ?? "")).toMatchObject({ upstream: "openai", milliseconds: 5_000 });
  await askTimes(5);
  expect([first.received.length, second.received.length]).toEqual([5, 10]);
  harness.clock.advance(5_000);
  await askTimes(3);
  expect(first.received.length).toBe(6);
  harness.clock.advance(10_000);
  first.answerWith((response) => response.end('"first"'));
  expect([await ask(), await ask()]).toEqual([
    [200, '"first"'],
    [200, '"first"'],
  ]);
  expect(await leftOut()).toBe(0);
});

test("b405: a route's only upstream is asked however often it has failed, and so is one whose others fail", async () => {
  await askTimes(5);
  expect(await ask("alone")).toEqual([503, "first"]);
  second.answerWith((response) => response.writeHead(500).end("second"));
  expect(await ask()).toEqual([503, "first"]);
  await askTimes(5);
  expect([first.received.length, second.received.length, await leftOut()]).toEqual([12, 11, 2]);
  first.answerWith((response) => response.end('"first"'));
  expect(await ask()).toEqual([200, '"first"']);
});

test("answers of 4xx, 429 too, leave no upstream out: the caller, or its quota, is at fault", async () => {
  first.answerWith((response) => response.writeHead(429, { "retry-after": "1" }).end());
  await askTimes(7);
  first.answerWith((response) => response.writeHead(401).end());
  await askTimes(7);
  first.answerWith((response) => response.writeHead(400).end());
  await askTimes(7);
  expect([first.received.length, await leftOut()]).toEqual([21, 0]);
});

test("connections that are refused count, and hang-ups without an answer", async () => {
  const gone = await startUpstream();
  await gone.close();
  await start(gone.url);
  await askTimes(5);
  expect(await leftOut()).toBe(1);
  first.answerWith((_response, _received, request) => request.socket.destroy());
  await start(first.url);
  for (let i = 0; i < 5; i++) expect((await ask())[0]).toBe(502);
  expect(await ask()).toEqual([200, '"second"']);
});

test("silence counts, and a caller that leaves counts for nothing, though its call was the one that tries it", async () => {
  first.answerWith(() => {});
  await start(first.url, { headWithFallback: 200 });
  await Promise.all([ask(), ask(), ask(), ask(), ask()]);
  expect(await leftOut()).toBe(1);
  harness.clock.advance(5_000);
  const leaving = new AbortController();
  const before = first.received.length;
  const left = ask("fast", leaving.signal).catch(() => {});
  await until("it is tried", () => first.received.length > before);
  expect(await ask()).toEqual([200, '"second"']);
  expect(first.received.length).toBe(before + 1);
  leaving.abort();
  await left;
  await until("nothing is tracked any more", () => harness.streams.size === 0);
  first.answerWith((response) => response.end('"first"'));
  expect(await ask()).toEqual([200, '"first"']);
});

test("an upstream has as long as a route's last one where the others are left out", async () => {
  await start(first.url, { headWithFallback: 200, head: 30_000 });
  await askTimes(5);
  second.answerWith((response) => setTimeout(() => response.end('"late"'), 600));
  expect(await ask()).toEqual([200, '"late"']);
  expect(first.received.length).toBe(5);
});

test("idle connections that an upstream closes count for nothing", async () => {
  const used = new WeakSet<object>();
  const closing = await rawUpstream((socket) => {
    if (used.has(socket)) socket.destroy();
    else {
      used.add(socket);
      socket.write("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}");
    }
  });
  await start(closing.url);
  for (let i = 0; i < 12; i++) expect((await ask())[0]).toBe(200);
  expect(await leftOut()).toBe(0);
  closing.close();
});

test("a changed base URL or credential starts afresh, and another change does not", async () => {
  await askTimes(5);
  declare(first.url);
  await askTimes(3);
  expect(first.received.length).toBeLessThanOrEqual(6);
  const mended = await startUpstream((response) => response.end('"mended"'));
  declare(mended.url);
  expect(await ask()).toEqual([200, '"mended"']);
  await mended.close();
});
