import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import type { UpstreamTimes } from "../../../server/gateway/upstream/upstream-times.ts";
import { until } from "../../env/until.ts";
import type { Harness } from "../harness.ts";
import { PROVIDER_KEY, routeOf, startGateway, upstreamOf } from "./gateway.ts";
import { rawUpstream } from "./raw-upstream.ts";
import { startUpstream, type Upstream } from "./upstream.ts";

let first: Upstream;
let second: Upstream;
/** With the times that a model is given. */
let usual: Harness;
let harness: Harness;
let key: string;
let id: string;

beforeAll(async () => {
  first = await startUpstream();
  second = await startUpstream();
  usual = await startGateway();
});
beforeEach(() => {
  first.answerWith((response) => response.end("{}"));
  second.answerWith((response, { body }) => response.end(body));
  for (const { received } of [first, second]) received.length = 0;
  useGateway(usual);
});

function useGateway(of: Harness): void {
  harness = of;
  key = harness.addKey();
  const fallbacks = [{ upstream: "second", upstreamModel: "other-model" }];
  id = harness.addGateway({
    upstreams: [
      upstreamOf(first.url),
      upstreamOf(second.url, "openai", { name: "second", credential: "sk-second-credential" }),
      upstreamOf(first.url, "gemini"),
      upstreamOf(second.url, "gemini", { name: "second-gemini" }),
    ],
    routes: [
      routeOf("fast", { fallbacks }),
      routeOf("alone"),
      routeOf("gem", { upstream: "gemini", fallbacks: [{ upstream: "second-gemini", upstreamModel: "other-gem" }] }),
    ],
  }).publicId;
}

/** Gives upstreams less time than a model is given: to what shall run out, and to nothing else. */
async function shorten(times: Partial<UpstreamTimes>): Promise<void> {
  useGateway(await startGateway({ times }));
}

afterEach(async () => {
  if (harness !== usual) await harness.close();
});
afterAll(async () => {
  await usual.close();
  await first.close();
  await second.close();
});

const ask = (model = "fast") =>
  fetch(`${harness.url}/g/${id}/v1/chat/completions`, {
    method: "POST",
    headers: { "x-api-key": key, "content-type": "application/json" },
    body: JSON.stringify({ model, n: 1 }),
  });

test.each([429, 500, 502, 503, 529])(
  "an upstream's %i makes the fallback answer, with its own model and credential",
  async (status) => {
    first.answerWith((response) => response.writeHead(status).end("no"));
    const answer = await ask();
    expect([answer.status, await answer.json()]).toEqual([200, { model: "other-model", n: 1 }]);
    expect(answer.headers.get("x-keyplane-route-id")).toBe("rt-fast");
    expect(first.received[0]?.headers.authorization).toBe(`Bearer ${PROVIDER_KEY}`);
    expect(second.received[0]?.headers.authorization).toBe("Bearer sk-second-credential");
  },
);

test("an upstream without its credential is passed over while another has one", async () => {
  const upstreams = (["first", "second", "third"] as const).map((name, i) =>
    upstreamOf(i === 2 ? second.url : first.url, "openai", { name, ...(name !== "first" && { credential: null }) }),
  );
  const fallbacks = (names: string[]) => names.map((upstream) => ({ upstream, upstreamModel: upstream }));
  id = harness.addGateway({
    upstreams: [upstreamOf(second.url, "openai", { name: "healthy" }), ...upstreams],
    routes: [
      routeOf("gone", { upstream: "second", fallbacks: fallbacks(["third", "healthy"]) }),
      routeOf("failing", { upstream: "first", fallbacks: fallbacks(["second", "healthy"]) }),
      routeOf("slowed", { upstream: "first", fallbacks: fallbacks(["second"]) }),
      routeOf("none", { upstream: "second", fallbacks: fallbacks(["third"]) }),
    ],
  }).publicId;
  first.answerWith((response) => response.writeHead(429, { "retry-after": "7" }).end("no"));
  expect(await (await ask("gone")).json()).toMatchObject({ model: "healthy" });
  expect(await (await ask("failing")).json()).toMatchObject({ model: "healthy" });
  const slowed = await ask("slowed");
  expect([slowed.status, slowed.headers.get("retry-after")]).toEqual([429, "7"]);
  expect((await ask("none")).status).toBe(502);
});

test("an upstream that refuses the connection makes the fallback answer", async () => {
  await first.close();
  expect(await (await ask()).json()).toEqual({ model: "other-model", n: 1 });
  first = await startUpstream();
});

test("an upstream that says nothing in its time makes the fallback answer, and is let go", async () => {
  await shorten({ headWithFallback: 300 });
  let isOpen = false;
  first.answerWith((_response, _received, request) => {
    isOpen = true;
    request.socket.on("close", () => {
      isOpen = false;
    });
  });
  expect(await (await ask()).json()).toEqual({ model: "other-model", n: 1 });
  await until("the first is let go", () => !isOpen);
});

test("Gemini's fallback gets the body again, and its own model in the path", async () => {
  first.answerWith((response) => response.writeHead(503).end());
  const body = JSON.stringify({ contents: "x".repeat(200_000) });
  const answer = await fetch(`${harness.url}/g/${id}/v1beta/models/gem:generateContent`, {
    method: "POST",
    headers: { "x-api-key": key, "content-type": "application/json" },
    body,
  });
  expect([answer.status, await answer.text()]).toEqual([200, body]);
  expect(first.received[0]?.url).toBe("/v1beta/models/real-gem:generateContent");
  expect(second.received[0]?.url).toBe("/v1beta/models/other-gem:generateContent");
});

test.each([400, 403, 404, 422])(
  "an upstream's %i is the answer: it is the caller's, and no other is asked",
  async (status) => {
    first.answerWith((response) => response.writeHead(status).end("yours"));
    const answer = await ask();
    expect([answer.status, await answer.text()]).toEqual([status, "yours"]);
    expect(second.received).toHaveLength(0);
  },
);

test("an upstream that hangs up without an answer is not asked a second time by way of another", async () => {
  first.answerWith((_response, _received, request) => request.socket.destroy());
  expect((await ask()).status).toBe(502);
  expect(second.received).toHaveLength(0);
});

test("no other upstream is asked once a byte has gone to the client", async () => {
  first.answerWith((response) => {
    response.writeHead(200, { "content-length": 10 }).write("1", () => response.destroy());
  });
  const answer = await ask();
  await expect(answer.text()).rejects.toThrow();
  expect(second.received).toHaveLength(0);
});

test("no other upstream is asked once an answer's head has come: 504 if no more does", async () => {
  await shorten({ head: 300 });
  first.answerWith((response) => response.writeHead(200, { "content-length": 10 }).flushHeaders());
  const answer = await ask();
  expect([answer.status, await answer.text()]).toEqual([504, expect.stringContaining("gateway_timeout")]);
  expect(second.received).toHaveLength(0);
});

test("a route that changes while its upstream is asked goes on with one that was not asked, and asks none twice", async () => {
  first.answerWith((response) => {
    const upstreams = [upstreamOf(first.url), upstreamOf(second.url, "openai", { name: "second" })];
    const fallbacks = [{ upstream: "openai", upstreamModel: "real-fast" }];
    const turned = routeOf("fast", { upstream: "second", upstreamModel: "other-model", fallbacks });
    harness.addGateway({ publicId: id, upstreams, routes: [turned] });
    response.writeHead(503).end("no");
  });
  const answer = await ask();
  expect([answer.status, await answer.json()]).toEqual([200, { model: "other-model", n: 1 }]);
  expect([first.received.length, second.received.length]).toEqual([1, 1]);
});

test.each([
  ["whole", false],
  ["in part", true],
])("b367: no other upstream is asked with a body that an earlier one had as a stream, %s", async (_how, isEarly) => {
  const upstreams = (url: string) => [
    upstreamOf(url, "gemini"),
    upstreamOf(second.url, "gemini", { name: "second-gemini" }),
  ];
  const change = (url: string) => {
    const fallbacks = [{ upstream: "gemini", upstreamModel: "real-gem" }];
    const routes = [routeOf("gem", { upstream: "second-gemini", fallbacks })];
    harness.addGateway({ publicId: streaming.publicId, upstreams: upstreams(url), routes });
  };
  let pieces = 0;
  const early = await rawUpstream((socket) => {
    if (++pieces === 1) change(early.url);
    if (pieces === 5) socket.write("HTTP/1.1 503 No\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}");
  });
  first.onHead(() => change(first.url));
  first.answerWith((response) => response.writeHead(503).end("{}"));
  const streaming = harness.addGateway({ upstreams: upstreams(isEarly ? early.url : first.url) });
  const body = JSON.stringify({ contents: "x".repeat(2_000_000) });
  const answer = await fetch(`${harness.url}/g/${streaming.publicId}/v1beta/models/gem:generateContent`, {
    method: "POST",
    headers: { "x-api-key": key, "content-type": "application/json" },
    body: isEarly ? new Blob([body]).stream() : body,
    duplex: "half",
  });
  expect([answer.status, await answer.text()]).toEqual([503, "{}"]);
  expect(second.received).toHaveLength(0);
  first.onHead(() => {});
  early.close();
});

test("the last one's failure is the answer, in its own words", async () => {
  first.answerWith((response) => response.writeHead(500).end("first"));
  second.answerWith((response) => response.writeHead(429, { "retry-after": "7" }).end("second"));
  const answer = await ask();
  expect([answer.status, answer.headers.get("retry-after"), await answer.text()]).toEqual([429, "7", "second"]);
});

test("a route without fallbacks shows its upstream's failure as it is", async () => {
  first.answerWith((response) => response.writeHead(503, { "retry-after": "7" }).end("busy"));
  const answer = await ask("alone");
  expect([answer.status, await answer.text()]).toEqual([503, "busy"]);
  expect(second.received).toHaveLength(0);
});

test("an upstream that says nothing at all is 504", async () => {
  await shorten({ head: 300 });
  first.answerWith(() => {});
  const answer = await ask("alone");
  expect(answer.status).toBe(504);
  expect(await answer.json()).toMatchObject({ error: { code: "gateway_timeout" } });
});

test("b43: an answer that falls silent is broken off", async () => {
  await shorten({ silence: 300 });
  first.answerWith((response) => response.writeHead(200, { "content-length": 10 }).write("1"));
  await expect((await ask("alone")).text()).rejects.toThrow();
});

test("b43: a client that does not read for longer than an upstream may be silent gets all of its answer", async () => {
  await shorten({ silence: 600 });
  const size = 32 << 20;
  first.answerWith((response) => response.writeHead(200, { "content-length": size }).end(Buffer.alloc(size, "x")));
  const reader = (await ask("alone")).body?.getReader();
  let read = (await reader?.read())?.value?.length ?? 0;
  const began = performance.now();
  await until("nothing was read for twice as long", () => performance.now() - began > 1_300);
  for (let next = await reader?.read(); next?.done === false; next = await reader?.read()) read += next.value.length;
  expect(read).toBe(size);
});

test("b43: an answer that trickles without end is ended", async () => {
  await shorten({ whole: 1_500 });
  first.answerWith((response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    const trickle = setInterval(() => response.write("data: .\n\n"), 100);
    response.on("close", () => clearInterval(trickle));
  });
  // Where all of the time has passed before the head is there, there is no stream to be ended.
  await until("the event that ends it", async () =>
    /^data: \.[\s\S]*"code":"gateway_timeout".*\n\n$/.test(await (await ask("alone")).text()),
  );
  await until("nothing is tracked any more", () => harness.streams.size === 0);
  expect(harness.clock.monotonic()).toBe(1_000);
});

test("b43: a thousand stacked encodings pass unread, or are 502", async () => {
  first.answerWith((response) => {
    response.writeHead(200, { "content-encoding": Array(1_000).fill("gzip").join(", ") }).end("not gzip");
  });
  const raw = await ask("alone").catch((error: unknown) => error);
  expect(raw instanceof Response ? raw.status : "refused by the client").toBe("refused by the client");
  first.answerWith((response) => response.writeHead(200, { "x-large": "x".repeat(100_000) }).end());
  expect((await ask("alone")).status).toBe(502);
});
