/** Rows that the gateway's table does not have: an operation of each kind takes its row and nothing else. */
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import type { OperationRow } from "../../../domain/access/gateway-operations.ts";
import type { KeyRecord } from "../../../domain/access/key-record.ts";
import { scopeSet } from "../../../domain/access/scopes.ts";
import { gatewayPaths } from "../../../server/gateway/described.ts";
import { callerDialect } from "../../../server/gateway/errors/caller-dialect.ts";
import type { Harness } from "../harness.ts";
import { requestHead, sendRaw } from "../raw-http.ts";
import { PROVIDER_KEY, routeOf, startGateway, upstreamOf } from "./gateway.ts";
import { rawUpstream } from "./raw-upstream.ts";
import { startUpstream, type Upstream } from "./upstream.ts";

vi.mock("../../../domain/access/gateway-operations.ts", async (load) => {
  const original = await load<typeof import("../../../domain/access/gateway-operations.ts")>();
  const kept = {
    scope: "gateway:generate",
    kind: "generate",
    body: "none",
    models: "none",
    usage: "unread",
    fallback: "never",
  } as const;
  const asked = { scope: "gateway:embed", kind: "embed", models: "in the body", fallback: "until answered" } as const;
  const rows = {
    "gateway.list_notes": {
      ...kept,
      served: [{ method: "GET", path: "v1/notes", dialect: "openai" }],
      answer: "json",
      summary: "List notes",
    },
    "gateway.read_note": {
      ...kept,
      served: [{ method: "GET", path: "v1/notes/{id}/content", dialect: "openai" }],
      answer: "bytes",
      summary: "Read a note",
    },
    "gateway.delete_note": {
      ...kept,
      served: [{ method: "DELETE", path: "v1/notes/{id}", dialect: "openai" }],
      answer: "json",
      summary: "Delete a note",
    },
    "gateway.delete_text": {
      ...kept,
      scope: "gateway:embed",
      kind: "embed",
      served: [{ method: "DELETE", path: "v1/notes/{id}.txt", dialect: "openai" }],
      answer: "json",
      summary: "Delete a note's text",
    },
    "gateway.describe_model": {
      ...kept,
      served: [{ method: "GET", path: "v1/described/{model}", dialect: "openai" }],
      answer: "json",
      models: "in the path",
      fallback: "until answered",
      summary: "Describe a model",
    },
    "gateway.run_tuned": {
      ...asked,
      served: [{ method: "POST", path: "v1/tuned/{model}/run", dialect: "openai" }],
      body: "json",
      answer: "json",
      models: "in the path",
      usage: "unread",
      summary: "Run a tuned model",
      example: {},
    },
    "gateway.read_beta": {
      ...kept,
      served: [{ method: "GET", path: "v1beta/notes/{id}", dialect: "openai" }],
      answer: "json",
      summary: "Read a note's draft",
    },
    "gateway.hear": {
      ...asked,
      served: [{ method: "POST", path: "v1/sounds/heard", dialect: "openai" }],
      body: "form",
      answer: "json",
      usage: { bounds: {} },
      summary: "Hear",
      example: { model: "fast", file: "" },
    },
    "gateway.say": {
      ...asked,
      served: [{ method: "POST", path: "v1/sounds/spoken", dialect: "openai" }],
      body: "json",
      answer: "bytes",
      usage: { bounds: { most: ["max_tokens"] } },
      fallback: "never",
      summary: "Speak",
      example: { model: "fast", input: "Hello" },
    },
  } satisfies Record<string, OperationRow>;
  const GATEWAY_OPERATIONS = { ...original.GATEWAY_OPERATIONS, ...rows };
  return { ...original, GATEWAY_OPERATIONS, SERVED_OPERATIONS: Object.keys(GATEWAY_OPERATIONS) };
});

let upstream: Upstream;
let second: Upstream;
let harness: Harness;
let key: string;
let plain: string;
let routed: string;

beforeAll(async () => {
  upstream = await startUpstream();
  second = await startUpstream();
  harness = await startGateway();
  const upstreams = [upstreamOf(upstream.url), upstreamOf(second.url, "openai", { name: "second" })];
  const fallbacks = [{ upstream: "second", upstreamModel: "other" }];
  plain = harness.addGateway({ upstreams }).publicId;
  routed = harness.addGateway({ upstreams, routes: [routeOf("fast", { fallbacks })] }).publicId;
  key = harness.addKey();
});
beforeEach(() => {
  upstream.answerWith((response) => response.end('{"object":"list"}'));
  for (const { received } of [upstream, second]) received.length = 0;
});
afterAll(async () => {
  await harness.close();
  await upstream.close();
  await second.close();
});

function ask(path: string, init: RequestInit = {}, as: string | Partial<KeyRecord> = key) {
  const bearer = typeof as === "string" ? as : harness.addKey(as);
  return fetch(`${harness.url}/g/${path}`, {
    ...init,
    headers: { ...init.headers, authorization: `Bearer ${bearer}` },
  });
}

function formOf(fields: Readonly<Record<string, string>>): FormData {
  const form = new FormData();
  form.append("file", new Blob([Buffer.from([0, 255, 13, 10, 45, 45])], { type: "audio/mpeg" }), "a b.mp3");
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  return form;
}

const BILL = Buffer.from('{"usage":{"prompt_tokens":0,"completion_tokens":1}}');
const ONE_ROUTE = { allowedModels: ["fast"] };

test.each([
  ["GET", "v1/notes?after=1", "/v1/notes?after=1"],
  ["GET", "v1/notes/n%20-1/content", "/v1/notes/n%20-1/content"],
  ["DELETE", "v1/notes/n-1", "/v1/notes/n-1"],
])("%s %s is forwarded as it is asked, with the upstream's credential and without a body", async (method, path, at) => {
  for (const id of [plain, routed]) {
    const answer = await ask(`${id}/${path}`, { method });
    expect([answer.status, await answer.text()]).toEqual([200, '{"object":"list"}']);
  }
  expect(upstream.received).toMatchObject([
    { method, url: at, headers: { authorization: `Bearer ${PROVIDER_KEY}` }, body: Buffer.alloc(0) },
    { method, url: at },
  ]);
  expect(upstream.received[0]?.headers).not.toHaveProperty("content-length");
  expect(upstream.received[0]?.headers).not.toHaveProperty("transfer-encoding");
});

test.each([
  ["GET", "v1/notes/n-1/content"],
  ["DELETE", "v1/notes/n-1"],
])(
  "b115, b306: %s %s passes over an unasked 100, and is asked once more where a reused socket is closed",
  async (method, path) => {
    const answered = new Set<number>();
    const server = await rawUpstream((socket, connection) => {
      if (answered.has(connection)) socket.resetAndDestroy();
      else socket.write("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}");
      answered.add(connection);
    });
    onTestFinished(() => void server.close());
    const { publicId } = harness.addGateway({ upstreams: [upstreamOf(server.url)] });
    for (let i = 0; i < 3; i++) expect((await ask(`${publicId}/${path}`, { method })).status).toBe(200);
    expect(answered.size).toBe(3);
  },
);

test("an answer that says that nothing has changed passes, and is no redirect", async () => {
  upstream.answerWith((response) => response.writeHead(304, { etag: '"1"' }).end());
  const answer = await ask(`${plain}/v1/notes`, { headers: { "if-none-match": '"1"' } });
  expect([answer.status, answer.headers.get("etag"), await answer.text()]).toEqual([304, '"1"', ""]);
  upstream.answerWith((response) => response.writeHead(302, { location: "/v1/files" }).end());
  expect((await ask(`${plain}/v1/notes`)).status).toBe(502);
});

test("a body's other models are found by the format of its operation, also where the path names the model", async () => {
  const run = async (body: object) => {
    const headers = { "content-type": "application/json" };
    const init = { method: "POST", body: JSON.stringify(body), headers };
    return (await ask(`${routed}/v1/tuned/fast/run`, init, ONE_ROUTE)).status;
  };
  expect(await run({ tools: [{ type: "image_generation", model: "slow" }] })).toBe(400);
  expect(await run({ model: "slow" })).toBe(400);
  expect(await run({ model: "fast", input: "Hello" })).toBe(200);
  expect(upstream.received).toMatchObject([{ url: "/v1/tuned/real-fast/run" }]);
});

test("a path that is served under v1beta alone is listed where one is not found", async () => {
  const answer = await ask(`${plain}/v1/none`);
  expect([answer.status, await answer.text()]).toEqual([404, expect.stringContaining("v1beta/notes/{id}")]);
});

test("a body that an operation does not have stays here, and the connection goes on", async () => {
  const answer = await ask(`${plain}/v1/notes/n-1`, { method: "DELETE", body: "x".repeat(100_000) });
  expect(answer.status).toBe(200);
  expect((await ask(`${plain}/v1/notes`)).status).toBe(200);
  expect(upstream.received.map(({ body }) => body.length)).toEqual([0, 0]);
});

test.each([
  ["GET", "v1/notes/..%2F..%2Fadmin/content"],
  ["GET", "v1/notes/../content"],
  ["GET", "v1/notes/a%2fb/content"],
  ["GET", "v1/notes//content"],
  ["GET", "v1/notes/inf_0123456789abcdef/content"],
  ["DELETE", "v1/notes/a/b"],
  ["DELETE", "v1/notes/a:cancel"],
  ["DELETE", "v1/notes/a%3Acancel"],
  ["DELETE", "v1/notes/a%3Fb"],
  ["POST", "v1/notes"],
])("%s %s is no operation, though a row is near", async (method, path) => {
  const head = requestHead(`${method} /g/${plain}/${path} HTTP/1.1`, [`authorization: Bearer ${key}`]);
  expect((await sendRaw(harness.port, head)).status).toBe(404);
  expect(upstream.received).toHaveLength(0);
});

test("a path that two rows match is the one's that says more of it, with the scope of that", async () => {
  const asked = async (scope: "gateway:embed" | "gateway:generate") => {
    const held = { scopes: scopeSet([scope]) };
    return (await ask(`${plain}/v1/notes/n-1.txt`, { method: "DELETE" }, held)).status;
  };
  expect([await asked("gateway:generate"), await asked("gateway:embed")]).toEqual([403, 200]);
  expect(upstream.received).toMatchObject([{ url: "/v1/notes/n-1.txt" }]);
});

test("a key that is held to models may not ask for what names none, and a query may not name one beside the path", async () => {
  expect((await ask(`${plain}/v1/notes`, {}, ONE_ROUTE)).status).toBe(403);
  expect((await ask(`${plain}/v1/notes`, {}, { scopes: scopeSet(["gateway:embed"]) })).status).toBe(403);
  expect((await ask(`${routed}/v1/described/fast`, {}, ONE_ROUTE)).status).toBe(200);
  expect((await ask(`${routed}/v1/described/slow`, {}, ONE_ROUTE)).status).toBe(403);
  expect((await ask(`${routed}/v1/described/fast?model=slow`)).status).toBe(400);
  expect(upstream.received).toMatchObject([{ method: "GET", url: "/v1/described/real-fast" }]);
});

test("the next upstream of a route is asked by an operation that may, and by no other", async () => {
  upstream.answerWith((response) => response.writeHead(503).end("{}"));
  expect((await ask(`${routed}/v1/described/fast`)).status).toBe(200);
  expect(second.received).toMatchObject([{ method: "GET", url: "/v1/described/other" }]);
  const body = JSON.stringify({ model: "fast", input: "Hello" });
  const headers = { "content-type": "application/json" };
  expect((await ask(`${routed}/v1/sounds/spoken`, { method: "POST", body, headers })).status).toBe(503);
  expect(second.received).toHaveLength(1);
});

test.each([
  ["sound", "audio/mpeg", Buffer.from([0, 1, 2, 255, 254, 10])],
  ["sound that holds a bill", "audio/mpeg", BILL],
  ["JSON that holds a bill", "application/json", BILL],
  ["events that hold a bill", "text/event-stream", Buffer.from(`data: ${BILL}\n\ndata: [DONE]\n\n`)],
])(
  "b368: %s, as %s, of an operation that answers in bytes passes as it is, and counts in full",
  async (_what, type, sound) => {
    upstream.answerWith((response) => response.writeHead(200, { "content-type": type }).end(sound));
    const body = JSON.stringify({ model: "m", input: "Hello", max_tokens: 60 });
    const init = { method: "POST", body, headers: { "content-type": "application/json" } };
    const limited = harness.addKey({ tokenLimit: { tokensPerMinute: 150, scope: "Replica" } });
    const answer = await ask(`${plain}/v1/sounds/spoken`, init, limited);
    expect(answer.headers.get("content-type")).toBe(type);
    expect(Buffer.from(await answer.arrayBuffer()).equals(sound)).toBe(true);
    expect((await ask(`${plain}/v1/sounds/spoken`, init, limited)).status).toBe(429);
  },
);

test("a form's model is its route's at each upstream, and every other byte passes as it came", async () => {
  upstream.answerWith((response) => response.writeHead(503).end("{}"));
  const sent = new Request("http://x", { method: "POST", body: formOf({ model: "fast", language: "de" }) });
  const type = sent.headers.get("content-type") ?? "";
  const body = Buffer.from(await sent.arrayBuffer());
  const init = { method: "POST", body, headers: { "content-type": type } };
  expect((await ask(`${routed}/v1/sounds/heard`, init, ONE_ROUTE)).status).toBe(200);
  const bodies = [upstream, second].map(({ received }) => received[0]?.body.toString("latin1"));
  const as = (model: string) => body.toString("latin1").replace("\r\n\r\nfast\r\n", `\r\n\r\n${model}\r\n`);
  expect(bodies).toEqual([as("real-fast"), as("other")]);
  expect(second.received[0]?.headers["content-type"]).toBe(type);
  expect(second.received[0]?.headers["content-length"]).toBe(String(as("other").length));
});

test("b366: the part of a form's model is written anew also where the model stays", async () => {
  const part = (head: string) => `--b\r\n${head}\r\n\r\nm\r\n--b--\r\n`;
  const body = part("Content-Type: text/plain; charset=UTF-8\r\ncontent-disposition: form-data;name=model");
  const headers = { "content-type": 'multipart/form-data; boundary="b"' };
  const held = { allowedModels: ["m"] };
  expect((await ask(`${plain}/v1/sounds/heard`, { method: "POST", body, headers }, held)).status).toBe(200);
  expect(upstream.received[0]?.body.toString()).toBe(part('Content-Disposition: form-data; name="model"'));
});

test("a form that names another model than is allowed, or another one besides, is refused, and nothing is sent", async () => {
  const send = async (fields: Readonly<Record<string, string>>, as: Partial<KeyRecord> = ONE_ROUTE, id = routed) =>
    (await ask(`${id}/v1/sounds/heard`, { method: "POST", body: formOf(fields) }, as)).status;
  expect(await send({ model: "slow" })).toBe(403);
  expect(await send({})).toBe(403);
  expect(await send({ model: "fast", Model: "slow" })).toBe(400);
  expect(await send({ model: "fast", "extra_body[model]": "slow" })).toBe(400);
  const form = () => ({ method: "POST", body: formOf({ model: "fast" }) });
  expect((await ask(`${routed}/v1/sounds/heard?model=slow`, form(), ONE_ROUTE)).status).toBe(400);
  const compressed = { ...form(), headers: { "content-encoding": "gzip" } };
  expect((await ask(`${routed}/v1/sounds/heard`, compressed, ONE_ROUTE)).status).toBe(415);
  const json = { method: "POST", body: '{"model":"fast"}', headers: { "content-type": "application/json" } };
  const answer = await ask(`${routed}/v1/sounds/heard`, json);
  expect(answer.status).toBe(415);
  expect(await answer.text()).toContain("multipart/form-data");
  expect(upstream.received).toHaveLength(0);
});

test("b371: a form passes as it comes where no model matters, and is read where its tokens count", async () => {
  const init = () => ({ method: "POST", body: formOf({ model: "m" }) });
  expect((await ask(`${plain}/v1/sounds/heard`, init())).status).toBe(200);
  expect(upstream.received[0]?.headers["content-type"]).toMatch(/^multipart\/form-data; boundary=/);
  const as = { tokenLimit: { tokensPerMinute: 1_000_000, scope: "Replica" } } as const;
  expect((await ask(`${plain}/v1/sounds/heard`, init(), as)).status).toBe(200);
  const headers = { "content-type": "multipart/form-data; boundary=b" };
  const unframed = { method: "POST", body: "--b\r\n\r\n\r\n--b--", headers };
  expect((await ask(`${plain}/v1/sounds/heard`, unframed, as)).status).toBe(400);
  const json = { method: "POST", body: "{}", headers: { "content-type": "application/json" } };
  expect((await ask(`${plain}/v1/sounds/heard`, json, as)).status).toBe(415);
  expect(upstream.received).toHaveLength(2);
});

test("the description has each by its row: its body, its answer, and what it is refused with", () => {
  const paths = gatewayPaths();
  const list = paths["/g/{publicId}/v1/notes"]?.get;
  expect(list?.requestBody).toBeUndefined();
  expect(list?.responses[200]?.description).toBe("What the upstream answered, byte by byte.");
  expect(list?.parameters.map(({ name }) => name)).toEqual(["publicId"]);
  expect(Object.keys(list?.responses ?? {})).toEqual(expect.arrayContaining(["502", "504", "default"]));
  expect(Object.keys(list?.responses ?? {})).not.toContain("415");
  expect(paths["/g/{publicId}/v1/notes/{id}"]?.delete?.parameters.map(({ name }) => name)).toEqual(["publicId", "id"]);
  const heard = paths["/g/{publicId}/v1/sounds/heard"]?.post;
  expect(Object.keys(heard?.requestBody?.content ?? {})).toEqual(["multipart/form-data"]);
  const spoken = paths["/g/{publicId}/v1/sounds/spoken"]?.post;
  expect(Object.keys(spoken?.responses[200]?.content ?? {})).toEqual(["*/*"]);
});

test("a refusal below a row's path has the format of the row, whichever client asks", () => {
  const asAnthropic = ["anthropic-version", "2023-06-01"];
  const dialects = ["v1/notes/x", "v1/sounds", "v1/files"].map((path) =>
    callerDialect("GET", path, asAnthropic, "/", "x-goog-api-key"),
  );
  expect(dialects).toEqual(["openai", "openai", "anthropic"]);
});
