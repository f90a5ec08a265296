/** Requests as a collector of traces sees them (docs/decisions/telemetry.md). */
import { describe, expect, type TestContext, test } from "vitest";
import type { LogFields } from "../../../runtime/log.ts";
import { openTracing } from "../../../server/telemetry/tracing.ts";
import { until } from "../../env/until.ts";
import { PROVIDER_KEY, routeOf, startGateway, upstreamOf } from "../gateway/gateway.ts";
import { startUpstream } from "../gateway/upstream.ts";
import { type Span, startCollector } from "./collector.ts";

const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const CALLER = "00f067aa0ba902b7";
const SAMPLED = `00-${TRACE}-${CALLER}-01`;
const SERVER = 2;
const CLIENT = 3;

const ANSWER = JSON.stringify({
  model: "real-best-2026",
  usage: { prompt_tokens: 12, completion_tokens: 30, prompt_tokens_details: { cached_tokens: 2 } },
});

/** A server of its own, whose spans a collector of its own takes: they come a second after the call. */
async function start(context: TestContext, ratio = 1) {
  const upstream = await startUpstream((response) => response.end(ANSWER));
  const collector = await startCollector();
  const counts: Record<string, number> = {};
  const warned: LogFields[] = [];
  const { tracing, close } = openTracing({
    otlp: { endpoint: collector.url, ratio },
    log: { ...console, warn: (fields) => warned.push(fields), debug: () => {}, info: () => {}, error: () => {} },
    count: (outcome, spans) => {
      counts[outcome] = (counts[outcome] ?? 0) + spans;
    },
    replica: "replica-1",
  });
  const harness = await startGateway({ tracing });
  harness.addGateway({
    ...{ gatewayId: "gw_main", publicId: "main" },
    upstreams: [
      upstreamOf(upstream.url),
      upstreamOf(upstream.url, "openai", { name: "spare" }),
      upstreamOf(upstream.url, "gemini"),
    ],
    routes: [routeOf("best", { fallbacks: [{ upstream: "spare", upstreamModel: "spare-model" }] })],
  });
  context.onTestFinished(async () => {
    await harness.close();
    await close();
    await Promise.all([upstream.close(), collector.close()]);
  });

  async function ask(
    key: string,
    headers: Record<string, string> = {},
    body: object = { model: "gpt-5" },
    signal: AbortSignal | null = null,
  ) {
    const answer = await fetch(`${harness.url}/g/main/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
      signal,
    });
    await answer.text();
    return answer.status;
  }

  /** The spans once there are so many. */
  async function spans(count: number): Promise<{ server: Span; clients: Span[] }> {
    await until(`${count} spans`, () => collector.spans().length >= count);
    const all = collector.spans();
    expect(all).toHaveLength(count);
    const [server] = all.filter(({ kind }) => kind === SERVER);
    if (server === undefined) throw new Error("there is no span of the server's");
    return { server, clients: all.filter(({ kind }) => kind === CLIENT) };
  }

  return { upstream, collector, counts, warned, harness, close, ask, spans };
}

describe.concurrent("a call of a model", () => {
  test("goes on with its caller's trace, and its upstream with its own", async (context) => {
    const { ask, spans, upstream, collector, harness } = await start(context);
    const key = harness.addKey();
    expect(await ask(key, { traceparent: SAMPLED, tracestate: "vendor=1" })).toBe(200);
    const { server, clients } = await spans(2);
    const [client] = clients;
    expect(server).toMatchObject({ traceId: TRACE, parent: CALLER, traceState: "vendor=1", failed: false });
    expect(server.name).toBe("POST /g/:publicId/*");
    expect(server.attributes).toEqual({
      "http.request.method": "POST",
      "http.route": "/g/:publicId/*",
      "http.response.status_code": 200,
      "keyplane.operation": "gateway.chat_completions",
      "keyplane.key.id": harness.recordOf(key).keyId,
      "keyplane.team.id": harness.recordOf(key).teamId,
    });
    expect(client).toMatchObject({ traceId: TRACE, parent: server.spanId, name: "chat", failed: false });
    expect(client?.attributes).toEqual({
      "gen_ai.operation.name": "chat",
      "gen_ai.provider.name": "openai",
      "gen_ai.response.model": "real-best-2026",
      "gen_ai.usage.input_tokens": 12,
      "gen_ai.usage.cache_read.input_tokens": 2,
      "gen_ai.usage.cache_creation.input_tokens": 0,
      "gen_ai.usage.output_tokens": 30,
      "gen_ai.usage.reasoning.output_tokens": 0,
      "http.response.status_code": 200,
      "keyplane.gateway.id": "gw_main",
      "keyplane.upstream": "openai",
      "keyplane.usage": "reported",
    });
    const [asked] = upstream.received;
    expect(asked?.headers).toMatchObject({ traceparent: `00-${TRACE}-${client?.spanId}-01`, tracestate: "vendor=1" });
    expect(collector.resources()).toContainEqual(
      expect.objectContaining({ "service.name": "keyplane", "service.instance.id": "replica-1" }),
    );
  });

  test("has a span for each upstream that it asks", async (context) => {
    const { ask, spans, upstream, harness } = await start(context);
    upstream.answerWith((response, { body }) =>
      body.includes("spare-model") ? response.end(ANSWER) : response.writeHead(503).end("{}"),
    );
    expect(await ask(harness.addKey(), {}, { model: "best" })).toBe(200);
    const { server, clients } = await spans(3);
    expect(server).toMatchObject({ parent: "", failed: false });
    expect(clients.map(({ name, failed }) => ({ name, failed }))).toEqual([
      { name: "chat real-best", failed: true },
      { name: "chat spare-model", failed: false },
    ]);
    expect(clients[0]?.attributes).toMatchObject({ "error.type": "503", "keyplane.route.id": "rt-best" });
  });

  test("is a failure where no upstream answers, and a call that its caller left is one of the caller's", async (context) => {
    const { ask, spans, upstream, collector, harness } = await start(context);
    upstream.answerWith((response) => response.destroy());
    expect(await ask(harness.addKey())).toBe(502);
    const { server, clients } = await spans(2);
    expect([server.attributes["error.type"], clients[0]?.attributes["error.type"]]).toEqual(["502", "bad_gateway"]);

    let asked = false;
    upstream.answerWith(() => {
      asked = true;
    });
    const leaving = new AbortController();
    const call = ask(harness.addKey(), {}, { model: "gpt-5" }, leaving.signal);
    await until("the upstream is asked", () => asked);
    leaving.abort();
    await expect(call).rejects.toThrow();
    await until("two more spans", () => collector.spans().length === 4);
    expect(collector.spans().at(-1)?.attributes).toMatchObject({ "error.type": "client_closed" });
  });
});

test.concurrent("b164: an answer that breaks off is none that its caller left", async (context) => {
  const { ask, spans, upstream, harness } = await start(context);
  upstream.answerWith((response) => {
    response.writeHead(200, { "content-type": "application/json", "content-length": "100" });
    response.write("{", () => response.destroy());
  });
  await expect(ask(harness.addKey())).rejects.toThrow();
  const { server, clients } = await spans(2);
  expect([server.attributes["error.type"], clients[0]?.attributes["error.type"]]).toEqual([
    "bad_gateway",
    "bad_gateway",
  ]);
  expect(server.attributes).not.toHaveProperty("http.response.status_code");
});

describe.concurrent("b147: what callers send of a trace", () => {
  test.for([
    ["nothing", {}],
    ["no trace context", { traceparent: "inf_0123456789abcdef", tracestate: "a=1" }],
    ["a trace of zeros", { traceparent: `00-${"0".repeat(32)}-${CALLER}-01` }],
    ["10 kB", { traceparent: `${SAMPLED}-${"a".repeat(10_000)}` }],
  ] as const)("that is %s begins a trace of its own", async ([, headers], context) => {
    const { ask, spans, upstream, harness } = await start(context);
    expect(await ask(harness.addKey(), headers)).toBe(200);
    const { server, clients } = await spans(2);
    expect(server.parent).toBe("");
    expect(upstream.received[0]?.headers.traceparent).toBe(`00-${server.traceId}-${clients[0]?.spanId}-01`);
    expect(upstream.received[0]?.headers.tracestate).toBeUndefined();
  });

  test("decides whether it is traced, also for the upstream, whatever the share of others", async (context) => {
    const { ask, spans, upstream, harness } = await start(context, 0);
    const key = harness.addKey();
    expect(await ask(key)).toBe(200);
    expect(await ask(key, { traceparent: SAMPLED.replace(/01$/, "00") })).toBe(200);
    expect(await ask(key, { traceparent: SAMPLED })).toBe(200);
    await spans(2);
    expect(upstream.received.map(({ headers }) => String(headers.traceparent).slice(-2))).toEqual(["00", "00", "01"]);
  });

  test("brings no key and no word of theirs to the collector or to the upstream", async (context) => {
    const { ask, spans, upstream, collector, harness } = await start(context);
    const key = harness.addKey();
    const state = `a=${key}`;
    const status = await ask(
      key,
      { traceparent: SAMPLED, tracestate: state },
      { model: key, messages: ["a secret plan"] },
    );
    expect(status).toBe(200);
    const { server } = await spans(2);
    expect(server.traceId).toBe(TRACE);
    const sent = collector.received
      .map(({ body, headers }) => body.toString("latin1") + JSON.stringify(headers))
      .join();
    expect(sent).not.toContain("inf_");
    expect(sent).not.toContain("secret plan");
    expect(JSON.stringify(upstream.received[0]?.headers)).not.toContain(key);
  });
});

test.concurrent("b340: an answer that has its upstream's credential in place of a model's name brings it to no collector", async (context) => {
  const { ask, spans, upstream, collector, harness } = await start(context);
  upstream.answerWith((response) => response.end(ANSWER.replace("real-best-2026", PROVIDER_KEY)));
  expect(await ask(harness.addKey())).toBe(200);
  const { clients } = await spans(2);
  expect(clients[0]?.attributes).toMatchObject({ "gen_ai.usage.output_tokens": 30 });
  expect(collector.received.map(({ body }) => body.toString("latin1")).join()).not.toContain(PROVIDER_KEY);
});

test.concurrent("b342: no model that a caller makes up is in a span's name, which routes alone have models in", async (context) => {
  const { ask, spans, harness } = await start(context);
  const key = harness.addKey();
  const named = ["made-up-1", "made-up-2", "made-up-3"];
  const paths = [
    `v1beta/models/${named[0]}:generateContent`,
    `v1beta/models/${named[1]}:streamGenerateContent?alt=sse`,
    `v1beta/models/${named[2]}:embedContent`,
  ];
  for (const path of paths) {
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    await (await fetch(`${harness.url}/g/main/${path}`, { method: "POST", headers, body: "{}" })).text();
  }
  expect(await ask(key, {}, { model: "best" })).toBe(200);
  const { clients } = await spans(8);
  expect(clients.map(({ name }) => name)).toEqual([
    "generate_content",
    "generate_content",
    "embeddings",
    "chat real-best",
  ]);
  const models = clients.map(({ attributes }) => attributes["gen_ai.request.model"]);
  expect(models).toEqual([...named, "real-best"]);
});

describe.concurrent("b147: a collector", () => {
  test("that does not answer holds up no call and no end of the server, and what it did not take is counted", async (context) => {
    const { ask, collector, counts, harness, close } = await start(context);
    collector.answerWith(() => {});
    const key = harness.addKey();
    for (let i = 0; i < 20; i++) expect(await ask(key)).toBe(200);
    await until("the collector is asked", () => collector.received.length > 0);
    expect(await ask(key)).toBe(200);
    await close();
    expect(counts.exported).toBeUndefined();
  });

  test.for([
    [400, {}],
    [401, {}],
    [308, { location: "http://127.0.0.1:9/v1/traces" }],
  ] as const)(
    "that answers %s has its spans counted as refused, and the log says the status",
    async ([status, headers], context) => {
      const { ask, collector, counts, warned, harness } = await start(context);
      // HTTP/2 has no words for a status, so that what passes it on sends none.
      collector.answerWith((response) => response.writeHead(status, " ", headers).end());
      expect(await ask(harness.addKey())).toBe(200);
      await until("both are counted", () => counts.failed === 2);
      expect(warned[0]).toMatchObject({ status });
    },
  );
});
