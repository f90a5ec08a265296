import type { ServerResponse } from "node:http";
import { afterEach, beforeEach, expect, test } from "vitest";
import { until } from "../../../env/until.ts";
import type { Harness } from "../../harness.ts";
import { routeOf, startGateway, upstreamOf } from "../gateway.ts";
import { startUpstream, type Upstream } from "../upstream.ts";

let harness: Harness;
let upstream: Upstream;
/** Calls that the upstream has not answered yet. */
let open: ServerResponse[];
beforeEach(async () => {
  open = [];
  harness = await startGateway({ slots: { calls: 2, queued: 3 } });
  upstream = await startUpstream((response) => {
    open.push(response);
    response.on("close", () => {
      open = open.filter((each) => each !== response);
    });
  });
});
afterEach(async () => {
  await harness.close();
  await upstream.close();
});

type Call = { answer: Promise<{ status: number; retryAfter: string | null; body: string }>; leave(): void };

function start(publicId: string, path = "v1/embeddings", body = "{}"): Call {
  const leaving = new AbortController();
  const headers = { "x-api-key": harness.addKey(), "content-type": "application/json" };
  const url = `${harness.url}/g/${publicId}/${path}`;
  const answer = fetch(url, { method: "POST", headers, body, signal: leaving.signal }).then(async (response) => ({
    status: response.status,
    retryAfter: response.headers.get("retry-after"),
    body: await response.text(),
  }));
  answer.catch(() => {});
  return { answer, leave: () => leaving.abort() };
}

async function metric(name: string): Promise<number> {
  const metrics = await harness.metrics.registry.getMetricsAsJSON();
  return metrics.find((each) => each.name === name)?.values[0]?.value ?? Number.NaN;
}
const queued = (count: number) =>
  until(`${count} calls wait`, async () => (await metric("keyplane_upstream_calls_queued")) === count);

test("b85: calls beyond an upstream's connections wait, and beyond its queue get 503 in their format", async () => {
  const { publicId } = harness.addGateway({
    upstreams: [upstreamOf(upstream.url), upstreamOf(upstream.url, "gemini")],
  });
  const taken = [start(publicId), start(publicId)];
  await until("both connections are taken", () => open.length === 2);
  const waiting = [start(publicId), start(publicId), start(publicId)];
  await queued(3);
  const refused = await start(publicId).answer;
  expect([refused.status, refused.retryAfter]).toEqual([503, "1"]);
  expect(JSON.parse(refused.body).error).toMatchObject({
    code: "unavailable",
    message: "Too many calls to this upstream are under way: try again.",
  });
  expect(await metric("keyplane_upstream_calls")).toBe(2);
  expect(await metric("keyplane_upstream_calls_refused_total")).toBe(1);
  expect(upstream.received).toHaveLength(2);
  upstream.answerWith((response) => response.end("{}"));
  for (const response of open) response.end("{}");
  for (const { answer } of [...taken, ...waiting]) expect((await answer).status).toBe(200);
  expect(upstream.connections).toBe(2);
  expect(await metric("keyplane_upstream_calls")).toBe(0);
});

test("b85: a call that waited too long gets 503", async () => {
  await harness.close();
  harness = await startGateway({ slots: { calls: 1, queuedMs: 50 } });
  const { publicId } = harness.addGateway({ upstreams: [upstreamOf(upstream.url)] });
  start(publicId);
  await until("the connection is taken", () => open.length === 1);
  const { status, retryAfter } = await start(publicId).answer;
  expect([status, retryAfter]).toEqual([503, "1"]);
  expect(await metric("keyplane_upstream_calls_queued")).toBe(0);
});

test("b85: a caller that leaves while it waits is never sent on, and one that leaves meanwhile frees its place", async () => {
  const { publicId } = harness.addGateway({ upstreams: [upstreamOf(upstream.url)] });
  const taken = [start(publicId), start(publicId)];
  await until("both connections are taken", () => open.length === 2);
  const leaver = start(publicId);
  await queued(1);
  leaver.leave();
  await queued(0);
  const next = start(publicId);
  await queued(1);
  taken[0]?.leave();
  await until("the next call is under way", () => upstream.received.length === 3);
  for (const response of open) response.end("{}");
  expect((await next.answer).status).toBe(200);
  expect(upstream.received).toHaveLength(3);
});

test("b85: a key that ends while its call waits sends nothing on", async () => {
  const { publicId } = harness.addGateway({ upstreams: [upstreamOf(upstream.url)] });
  start(publicId);
  start(publicId);
  await until("both connections are taken", () => open.length === 2);
  const key = harness.addKey();
  const url = `${harness.url}/g/${publicId}/v1/embeddings`;
  const answer = fetch(url, { method: "POST", headers: { "x-api-key": key }, body: "{}" });
  await queued(1);
  harness.changeKey(key, { versionState: "revoked" });
  expect([401, 503]).toContain((await answer).status);
  await queued(0);
  for (const response of open) response.end("{}");
  expect(upstream.received).toHaveLength(2);
});

test("b85: a route's fallback is asked where its upstream's queue is full", async () => {
  await harness.close();
  harness = await startGateway({ slots: { calls: 1, queued: 0 } });
  const second = await startUpstream();
  const { publicId } = harness.addGateway({
    upstreams: [upstreamOf(upstream.url), upstreamOf(second.url, "openai", { name: "second" })],
    routes: [routeOf("fast", { fallbacks: [{ upstream: "second", upstreamModel: "other" }] })],
  });
  start(publicId, "v1/embeddings", '{"model":"fast"}');
  await until("the connection is taken", () => open.length === 1);
  expect((await start(publicId, "v1/embeddings", '{"model":"fast"}').answer).status).toBe(200);
  expect(second.received).toHaveLength(1);
  await second.close();
});
