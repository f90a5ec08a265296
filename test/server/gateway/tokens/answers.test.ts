import { request as httpRequest } from "node:http";
import { brotliCompressSync, createGzip, deflateSync, gzipSync } from "node:zlib";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { NO_TOKENS } from "../../../../domain/usage/tokens.ts";
import { until } from "../../../env/until.ts";
import type { Harness } from "../../harness.ts";
import { allDialects, routeOf, startGateway } from "../gateway.ts";
import { startUpstream, type Upstream } from "../upstream.ts";

let upstream: Upstream;
let harness: Harness;
let key: string;
let gateway: ReturnType<Harness["addGateway"]>;

beforeAll(async () => {
  upstream = await startUpstream();
  harness = await startGateway();
});
beforeEach(() => {
  upstream.received.length = 0;
  harness.answered.length = 0;
  key = harness.addKey();
  gateway = harness.addGateway({
    ...allDialects(upstream.url),
    operations: ["generate", "embed", "images"],
    routes: [routeOf("fast")],
  });
});
afterAll(async () => {
  await harness.close();
  await upstream.close();
});

function call(path: string, body: object = {}, signal: AbortSignal | null = null): Promise<Response> {
  const headers = { "x-api-key": key, "content-type": "application/json" };
  return fetch(`${harness.url}/g/${gateway.publicId}/${path}`, {
    ...{ method: "POST", headers, body: JSON.stringify(body), signal },
  });
}

const answered = async (count = 1) => {
  await until("the answers are counted", () => harness.answered.length === count);
  return harness.answered.at(-1);
};

const chat = { model: "gpt-4o", choices: [], usage: { prompt_tokens: 5, completion_tokens: 7 } };
const sse = { "content-type": "text/event-stream" };
const event = (data: object) => `data: ${JSON.stringify(data)}\n\n`;

test("an answer is passed on as it is, and what it reported is counted by key, gateway and model", async () => {
  const body = JSON.stringify(chat);
  upstream.answerWith((response) => response.end(body));
  expect(await (await call("v1/chat/completions")).text()).toBe(body);
  expect(await answered()).toEqual({
    keyId: harness.recordOf(key).keyId,
    ...{ gatewayId: gateway.gatewayId, routeId: undefined, askedModel: undefined },
    usage: { tokens: { ...NO_TOKENS, input: 5, output: 7 }, model: "gpt-4o", ending: "reported", isDoubtful: false },
  });
});

test.each([
  ["text/plain", "unread"],
  ["text/vtt; charset=utf-8", "unread"],
  ["text/event-streams", "unread"],
  ["audio/mpeg", "unread"],
  ["application/jsonl", "unread"],
  ["Application/JSON;charset=utf-8", "reported"],
  ["application/problem+json", "reported"],
])("b368: an answer as %s that holds a usage counts as %s", async (type, ending) => {
  upstream.answerWith((response) => response.writeHead(200, { "content-type": type }).end(JSON.stringify(chat)));
  expect(await (await call("v1/chat/completions")).json()).toEqual(chat);
  expect(await answered()).toMatchObject({ usage: { ending } });
});

test("a call by a route counts by the route, and by its upstream's model where the answer names none", async () => {
  upstream.answerWith((response) => response.end(JSON.stringify({ usage: chat.usage })));
  await (await call("v1/chat/completions", { model: "fast" })).text();
  expect(await answered()).toMatchObject({
    routeId: "rt-fast",
    askedModel: "real-fast",
    usage: { ending: "reported" },
  });
  await (await call("v1beta/models/gemini-x:generateContent")).text();
  expect(await answered(2)).toMatchObject({ askedModel: "gemini-x", usage: { ending: "unreported" } });
});

test.each([
  ["its credential", "sk-provider-canary-0123456789", {}],
  ["a text with its credential", "model:sk-provider-canary-0123456789@eu", {}],
  ["its credential in a stream", "sk-provider-canary-0123456789", sse],
  ["its credential, compressed", "sk-provider-canary-0123456789", { "content-encoding": "gzip" }],
])(
  "b340: an answer that has %s in place of a model's name counts as one that names none",
  async (_, model, headers) => {
    const report = { ...chat, model };
    const text = "content-type" in headers ? event(report) : JSON.stringify(report);
    upstream.answerWith((response) =>
      response.writeHead(200, headers).end("content-encoding" in headers ? gzipSync(text) : text),
    );
    await (await call("v1/chat/completions", { model: "fast" })).text();
    expect(await answered()).toMatchObject({
      askedModel: "real-fast",
      usage: { tokens: { ...NO_TOKENS, input: 5, output: 7 }, model: undefined, ending: "reported" },
    });
  },
);

test("a stream's usage is read as it passes, and no event waits for it", async () => {
  let finish = () => {};
  upstream.answerWith((response) => {
    response.writeHead(200, sse).write(event({ ...chat, usage: null }));
    finish = () => response.end(`${event(chat)}data: [DONE]\n\n`);
  });
  const reader = (await call("v1/chat/completions")).body?.getReader();
  expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toContain('"usage":null');
  expect(harness.answered).toEqual([]);
  finish();
  while ((await reader?.read())?.done === false);
  expect(await answered()).toMatchObject({ usage: { tokens: { input: 5, output: 7 }, ending: "reported" } });
});

test.for(["the client leaves", "the key ends", "the upstream breaks"] as const)(
  "a stream that is cut since %s counts what was seen",
  async (how) => {
    let cut = () => {};
    const message = { model: "claude-x", usage: { input_tokens: 9, output_tokens: 1 } };
    upstream.answerWith((response) => {
      response.writeHead(200, sse).write(event({ type: "message_start", message }));
      cut = () => response.destroy();
    });
    const leaving = new AbortController();
    const reader = (await call("v1/messages", {}, leaving.signal)).body?.getReader();
    await reader?.read();
    if (how === "the client leaves") leaving.abort();
    else if (how === "the key ends") harness.changeKey(key, { state: "revoked" });
    else cut();
    const usage = { tokens: { input: 9, output: 1 }, model: "claude-x", ending: "cut" };
    expect(await answered()).toMatchObject({ usage });
    await reader?.cancel().catch(() => {});
  },
);

const CODINGS = { gzip: gzipSync, deflate: deflateSync, "": (text: string) => Buffer.from(text) } as const;

test.for(Object.entries(CODINGS))(
  "an answer in the coding %j is passed on as it is, and read beside",
  async ([coding, encode]) => {
    const body = encode(JSON.stringify(chat));
    upstream.answerWith((response) => response.writeHead(200, { "content-encoding": coding }).end(body));
    expect(await (await call("v1/chat/completions")).json()).toEqual(chat);
    expect(await answered()).toMatchObject({ usage: { tokens: { input: 5, output: 7 }, ending: "reported" } });
  },
);

test.for([
  ["gzip, deflate, br, zstd", "gzip, deflate"],
  ["br, gzip, deflate", "gzip, deflate"],
  ["gzip;q=0.5,\tzstd;q=1, BR, X-Gzip", "gzip;q=0.5, X-Gzip"],
  ["zstd", "identity"],
  ["*", "identity"],
  ["identity", "identity"],
  ["gzip,deflate", "gzip, deflate"],
] as const)("b231: a caller who would take an answer in %s has it in what is read: %s", async ([taken, asked]) => {
  upstream.answerWith((response) => response.end(JSON.stringify(chat)));
  const path = `${harness.url}/g/${gateway.publicId}/v1/chat/completions`;
  const status = await new Promise((resolve, reject) => {
    const headers = { "x-api-key": key, "content-type": "application/json", "accept-encoding": taken };
    const sent = httpRequest(path, { method: "POST", headers: { ...headers, ...ELSEWHERE } });
    sent.on("response", (answer) => resolve(answer.resume().statusCode)).on("error", reject);
    sent.end("{}");
  });
  expect(status).toBe(200);
  expect(upstream.received[0]?.headers["accept-encoding"]).toBe(asked);
  for (const name of Object.keys(ELSEWHERE)) expect(upstream.received[0]?.headers).not.toHaveProperty(name);
});

/** In which some upstreams would read that an answer is to be in another coding, or to leave out its usage. */
const ELSEWHERE = {
  ...{ accept_encoding: "zstd", "x-goog-fieldmask": "choices" },
  "x-goog-encode-response-if-executable": "base64",
};

test("a stream in a coding that is cut counts what was seen", async () => {
  const zipped = createGzip();
  const message = { model: "claude-x", usage: { input_tokens: 9, output_tokens: 1 } };
  upstream.answerWith((response) => {
    response.writeHead(200, { ...sse, "content-encoding": "gzip" });
    zipped.pipe(response);
    zipped.write(event({ type: "message_start", message }));
    zipped.flush();
  });
  const leaving = new AbortController();
  await (await call("v1/messages", {}, leaving.signal)).body?.getReader().read();
  leaving.abort();
  expect(await answered()).toMatchObject({ usage: { tokens: { input: 9, output: 1 }, ending: "cut" } });
});

test.for([
  ["a coding that is not known", "zstd", Buffer.from("anything")],
  ["two codings", "gzip, br", gzipSync("{}")],
  ["another coding than it says", "gzip", Buffer.from(JSON.stringify(chat))],
  ["a coding that was not asked for", "br", brotliCompressSync(JSON.stringify(chat))],
  ["a coding of far more bytes than it has", "gzip", gzipSync(Buffer.alloc(33 << 20))],
] as const)("an answer in %s is not read, and says so", async ([, coding, body]) => {
  upstream.answerWith((response) => response.writeHead(200, { "content-encoding": coding }).end(body));
  await (await call("v1/chat/completions")).arrayBuffer().catch(() => {});
  expect(await answered()).toMatchObject({ usage: { tokens: NO_TOKENS, ending: "unread" } });
});

test("b127: an answer whose head names its coding or its type in several lines is passed on, and is counted", async () => {
  upstream.answerWith((response) => {
    response.writeHead(200, ["Content-Encoding", "gzip", "Content-Encoding", "identity"]);
    response.end(gzipSync(JSON.stringify(chat)));
  });
  expect((await call("v1/chat/completions")).status).toBe(200);
  expect(await answered()).toMatchObject({ usage: { ending: "unread" } });
  upstream.answerWith((response) => {
    response.writeHead(200, ["Content-Type", "application/json", "Content-Type", "text/event-stream"]);
    response.end(JSON.stringify(chat));
  });
  expect(await (await call("v1/chat/completions")).json()).toEqual(chat);
  expect(await answered(2)).toMatchObject({ usage: { tokens: { input: 5, output: 7 }, ending: "reported" } });
});

test.each(["v1/embeddings", "v1/images/generations", "v1beta/models/m:batchEmbedContents"])(
  "b231: an answer of %s, which may be too long to be decoded beside it, is asked for in no coding",
  async (path) => {
    upstream.answerWith((response) => response.end("{}"));
    await (await call(path, { model: "m" })).text();
    expect(upstream.received[0]?.headers["accept-encoding"]).toBe("identity");
  },
);

test("errors, counts of tokens and refused calls are not counted", async () => {
  upstream.answerWith((response) => response.writeHead(429).end(JSON.stringify(chat)));
  expect((await call("v1/chat/completions")).status).toBe(429);
  upstream.answerWith((response) => response.end('{"input_tokens":5}'));
  await (await call("v1/messages/count_tokens")).text();
  await call("v1/unknown");
  upstream.answerWith((response) => response.end(JSON.stringify(chat)));
  await (await call("v1/chat/completions")).text();
  await answered();
  expect(harness.answered).toHaveLength(1);
});

test("only the answer of the fallback that was passed on is counted", async () => {
  const fallbacks = [{ upstream: "openai", upstreamModel: "spare" }];
  harness.index.applyGateway({ ...gateway, routes: [routeOf("fast", { fallbacks })] });
  upstream.answerWith((response, { body }) =>
    response.writeHead(body.includes("spare") ? 200 : 500).end(JSON.stringify({ usage: chat.usage })),
  );
  await (await call("v1/chat/completions", { model: "fast" })).text();
  expect(await answered()).toMatchObject({ askedModel: "spare", usage: { tokens: { input: 5 } } });
  expect(harness.answered).toHaveLength(1);
});
