/** Routes that have a call sent to the same upstream again after a failure. */
import { afterEach, beforeEach, expect, test } from "vitest";
import type { RouteRecord } from "../../../domain/access/key-record.ts";
import { until } from "../../env/until.ts";
import { budgetsOn, ledgerInMemory } from "../budgets/ledger.ts";
import type { Harness } from "../harness.ts";
import { ownersOfAll } from "../ownership/owners-of-all.ts";
import { routeOf, startGateway, upstreamOf } from "./gateway.ts";
import { startUpstream, type Upstream } from "./upstream.ts";

let first: Upstream;
let second: Upstream;
let harness: Harness;
let ledger: ReturnType<typeof ledgerInMemory>;
let key: string;

beforeEach(async () => {
  first = await startUpstream();
  second = await startUpstream((response) => response.end('"second"'));
  ledger = ledgerInMemory();
  harness = await startGateway({
    times: { headWithFallback: 5_000 },
    owners: ownersOfAll([first.url]),
    budgets: (clock) => budgetsOn(ledger.write, clock),
  });
  key = harness.addKey();
  declare(first.url);
});
afterEach(async () => {
  await harness.close();
  await first.close();
  await second.close();
});

const FALLBACK = { fallbacks: [{ upstream: "second", upstreamModel: "other-model" }] };

function declare(url: string, fields: Partial<RouteRecord> = {}): void {
  harness.addGateway({
    ...{ gatewayId: "gw_main", publicId: "main" },
    upstreams: [upstreamOf(url), upstreamOf(second.url, "openai", { name: "second" })],
    routes: [
      routeOf("fast", { retry: { attempts: 2 }, ...fields }),
      routeOf("spare", { retry: { attempts: 1 }, ...FALLBACK }),
      routeOf("once"),
    ],
  });
}

type Asked = { model?: string; path?: string; signal?: AbortSignal; fields?: object };

async function ask({ model = "fast", path = "chat/completions", signal, fields }: Asked = {}) {
  const answer = await fetch(`${harness.url}/g/main/v1/${path}`, {
    method: "POST",
    headers: { "x-api-key": key, "content-type": "application/json" },
    body: JSON.stringify({ model, ...fields }),
    ...(signal && { signal }),
  });
  return [answer.status, await answer.text()];
}

/** Fails so often, each time as given, and then answers. */
function failTimes(upstream: Upstream, times: number, status = 503, headers: Record<string, string> = {}): void {
  let left = times;
  upstream.answerWith((response) => {
    if (--left < 0) response.writeHead(200, { "content-type": "application/json" }).end('"good"');
    else response.writeHead(status, headers).end('"bad"');
  });
}

test.each([429, 500, 503])("a call that is answered %i is sent to the same upstream again", async (status) => {
  failTimes(first, 2, status);
  expect(await ask()).toEqual([200, '"good"']);
  expect(first.received.map(({ body }) => `${body}`)).toEqual(Array(3).fill('{"model":"real-fast"}'));
});

test("the last failure is the answer where all retries fail, and a route without retries has none", async () => {
  failTimes(first, 9);
  expect(await ask()).toEqual([503, '"bad"']);
  expect(first.received).toHaveLength(3);
  expect(await ask({ model: "once" })).toEqual([503, '"bad"']);
  expect(first.received).toHaveLength(4);
});

test("each upstream has its own retries, before the next one is asked", async () => {
  failTimes(first, 9);
  failTimes(second, 1);
  expect(await ask({ model: "spare" })).toEqual([200, '"good"']);
  expect([first.received.length, second.received.length]).toEqual([2, 2]);
});

test("an upstream that refuses the connection is asked again", async () => {
  const { url, port } = first;
  await first.close();
  const answer = ask();
  await until("the first attempt has failed", () => harness.lines.some((line) => line.includes("an upstream failed")));
  const back = await startUpstream((response) => response.end('"back"'), port);
  expect(back.url).toBe(url);
  expect(await answer).toEqual([200, '"back"']);
  await back.close();
});

test.each([400, 401, 404])("a call that is answered %i is sent once", async (status) => {
  failTimes(first, 9, status);
  await ask();
  expect(first.received).toHaveLength(1);
});

test("b406: a call that an upstream hung up on, or did not answer in time, may have been done: it is sent once", async () => {
  first.answerWith((_response, _received, request) => request.socket.destroy());
  expect((await ask())[0]).toBe(502);
  expect(first.received).toHaveLength(1);
  first.answerWith(() => {});
  expect(await ask({ model: "spare" })).toEqual([200, '"second"']);
  expect(first.received).toHaveLength(2);
});

test("b406: a call whose answer would be stored is not sent again once it may have been", async () => {
  failTimes(first, 1);
  expect(await ask({ path: "responses" })).toEqual([503, '"bad"']);
  expect(first.received).toHaveLength(1);
  failTimes(first, 1);
  expect(await ask({ path: "responses", fields: { store: false } })).toEqual([200, '"good"']);
  failTimes(first, 1, 429);
  expect(await ask({ path: "responses" })).toEqual([200, '"good"']);
});

test("an upstream's Retry-After is kept to where it is short, and a longer one leaves it to the fallback", async () => {
  failTimes(first, 1, 429, { "retry-after": "1" });
  const began = performance.now();
  expect(await ask()).toEqual([200, '"good"']);
  expect(performance.now() - began).toBeGreaterThan(1_000);
  failTimes(first, 9, 429, { "retry-after": "11" });
  expect(await ask({ model: "spare" })).toEqual([200, '"second"']);
  failTimes(first, 9, 429, { "retry-after": "6" });
  expect(await ask({ model: "spare" })).toEqual([200, '"second"']);
  failTimes(first, 9, 503, { "x-should-retry": "false" });
  expect(await ask({ model: "spare" })).toEqual([200, '"second"']);
  expect(first.received).toHaveLength(5);
});

test("b406: many calls that fail are not sent more often than a fifth beyond, and ten", async () => {
  failTimes(first, 9_999);
  await Promise.all(Array.from({ length: 60 }, () => ask()));
  expect(first.received.length).toBeGreaterThan(65);
  expect(first.received.length).toBeLessThanOrEqual(60 + 10 + 12);
});

test("b406: a caller that leaves, and a key that ends, while a retry is waited for, have nothing sent", async () => {
  failTimes(first, 9, 429, { "retry-after": "1" });
  const leaving = new AbortController();
  const left = ask({ signal: leaving.signal }).catch(() => "left");
  await until("it has failed", () => first.received.length === 1);
  leaving.abort();
  expect(await left).toBe("left");
  await until("nothing is tracked any more", () => harness.streams.size === 0);
  const ended = ask();
  await until("it has failed", () => first.received.length === 2);
  harness.changeKey(key, { state: "revoked" });
  expect((await ended)[0]).toBe(401);
  const began = performance.now();
  await until("the time is over", () => performance.now() - began > 1_600);
  expect(first.received).toHaveLength(2);
});

test("a route that leads elsewhere by then asks the other upstream, and none that it has no more", async () => {
  failTimes(first, 9);
  const answer = ask();
  await until("it has failed", () => first.received.length === 1);
  declare(first.url, { upstream: "second" });
  expect(await answer).toEqual([200, '"second"']);
  expect(first.received).toHaveLength(1);
});

test("b406: a call is counted and charged once, whatever its retries", async () => {
  const usage = { prompt_tokens: 10, completion_tokens: 5 };
  let failures = 2;
  first.answerWith((response) => {
    if (--failures >= 0) response.writeHead(503).end();
    else response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ usage }));
  });
  const items = [{ tokens: 10_000, period: "Month", timeZone: "UTC", onExhausted: "Refuse" } as const];
  key = harness.addKey({ budgets: { owner: "team-a c/ns/reader", items } });
  expect((await ask({ fields: { max_tokens: 100 } }))[0]).toBe(200);
  expect([first.received.length, harness.answered.length, harness.counted.length]).toEqual([3, 1, 1]);
  expect(harness.answered[0]?.usage.tokens).toMatchObject({ input: 10, output: 5 });
  const metrics = await harness.metrics.registry.getMetricsAsJSON();
  expect(metrics.find(({ name }) => name === "keyplane_upstream_retries_total")?.values[0]?.value).toBe(2);
});
