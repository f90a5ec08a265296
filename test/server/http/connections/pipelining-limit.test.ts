import type { ServerResponse } from "node:http";
import { afterEach, beforeEach, expect, test } from "vitest";
import { until } from "../../../env/until.ts";
import { startGateway, upstreamOf } from "../../gateway/gateway.ts";
import { startUpstream, type Upstream } from "../../gateway/upstream.ts";
import type { Harness } from "../../harness.ts";
import { requestHead } from "../../raw-http.ts";
import { answers, isDisconnected, openCaller, statusesOf } from "../sockets.ts";

let harness: Harness;
let upstream: Upstream;
/** Calls that the upstream has not answered yet. */
let open: ServerResponse[];
let most: number;
let key: string;
let publicId: string;
beforeEach(async () => {
  open = [];
  most = 0;
  harness = await startGateway();
  upstream = await startUpstream((response) => {
    open.push(response);
    most = Math.max(most, open.length);
    response.on("close", () => {
      open = open.filter((each) => each !== response);
    });
  });
  key = harness.addKey();
  publicId = harness.addGateway({ upstreams: [upstreamOf(upstream.url)] }).publicId;
});
afterEach(async () => {
  await harness.close();
  await upstream.close();
});

/** The bytes of a call. `n` is its body, by which the upstream knows it. */
function call(n: number, body = `{"n":${n}}`): string {
  const headers = [`X-API-Key: ${key}`, "Content-Type: application/json", `Content-Length: ${body.length}`];
  return requestHead(`POST /g/${publicId}/v1/embeddings HTTP/1.1`, headers) + body;
}
const calls = (count: number): string => Array.from({ length: count }, (_, n) => call(n)).join("");
const answerAll = (): void => open.forEach((response) => void response.end("{}"));
const waiting = async (): Promise<number> => {
  const metrics = await harness.metrics.registry.getMetricsAsJSON();
  return metrics.find(({ name }) => name === "keyplane_pipelined_requests_waiting")?.values[0]?.value ?? Number.NaN;
};

test("b85: 16 requests wait for the one under way on their connection, and are answered in order", async () => {
  upstream.answerWith((response, { body }) => response.end(body));
  const caller = openCaller(harness.port);
  caller.socket.write(calls(17));
  await answers(caller, 17);
  expect(statusesOf(caller)).toEqual(Array(17).fill(200));
  expect([...caller.text().matchAll(/"n":(\d+)/g)].map(([, n]) => Number(n))).toEqual([...Array(17).keys()]);
  caller.socket.write(call(17));
  await answers(caller, 18);
  expect(await waiting()).toBe(0);
  caller.socket.destroy();
});

test("b85: 2,000 pipelined requests are under way one at a time, and too many end their connection", async () => {
  const caller = openCaller(harness.port);
  caller.socket.write(calls(2_000));
  await until("one call is under way", () => open.length === 1);
  expect(await waiting()).toBe(17);
  const pump = setInterval(answerAll, 5);
  await isDisconnected(caller);
  clearInterval(pump);
  expect(statusesOf(caller)).toEqual([...Array(17).fill(200), 429]);
  expect(caller.text()).toMatch(/^retry-after: 1/im);
  expect(caller.text()).toContain(
    "At most 16 small requests wait on a connection for the one before them: send the next one when there is an answer.",
  );
  expect(most).toBe(1);
  expect(upstream.received).toHaveLength(17);
});

test("b85: 20 connections of 1,000 requests have 20 under way, and others are served meanwhile", async () => {
  const callers = Array.from({ length: 20 }, () => openCaller(harness.port));
  for (const { socket } of callers) socket.write(calls(1_000));
  await until("each has a call under way", () => open.length === 20);
  const other = harness.addGateway({ upstreams: [upstreamOf(upstream.url)] }).publicId;
  upstream.answerWith((response) => response.end("{}"));
  const url = `${harness.url}/g/${other}/v1/embeddings`;
  const answer = await fetch(url, { method: "POST", headers: { "x-api-key": harness.addKey() }, body: "{}" });
  expect(answer.status).toBe(200);
  expect(most).toBe(20);
  for (const { socket } of callers) socket.destroy();
});

test("b85: a caller that leaves in mid-pipeline frees all that it had under way and waiting", async () => {
  const caller = openCaller(harness.port);
  caller.socket.write(calls(2_000));
  await until("one call is under way", () => open.length === 1);
  caller.socket.destroy();
  await until("the upstream's call is broken off", () => open.length === 0);
  await until("nothing waits", async () => (await waiting()) === 0);
  expect(upstream.received).toHaveLength(1);
});

test("b85: a request with a large body does not wait behind another on its connection", async () => {
  const caller = openCaller(harness.port);
  caller.socket.write(call(0) + call(1, "x".repeat(70_000)));
  await until("one call is under way", () => open.length === 1);
  answerAll();
  await isDisconnected(caller);
  expect(statusesOf(caller)).toEqual([200, 429]);
});

test("b85: a refused request in a pipeline is answered in its turn", async () => {
  const caller = openCaller(harness.port);
  caller.socket.write(call(0) + requestHead("GET /nowhere HTTP/1.1") + call(2));
  await until("the first call is under way", () => open.length === 1);
  answerAll();
  await until("the last call is under way", () => upstream.received.length === 2 && open.length === 1);
  answerAll();
  await answers(caller, 3);
  expect(statusesOf(caller)).toEqual([200, 404, 200]);
  caller.socket.destroy();
});
