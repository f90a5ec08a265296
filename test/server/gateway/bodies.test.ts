import { createHash, randomBytes } from "node:crypto";
import { request as httpRequest } from "node:http";
import { connect } from "node:net";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { scopeSet } from "../../../domain/access/scopes.ts";
import type { Harness } from "../harness.ts";
import { requestHead } from "../raw-http.ts";
import { allDialects, routeOf, startGateway } from "./gateway.ts";
import { startUpstream, type Upstream } from "./upstream.ts";

let upstream: Upstream;
let harness: Harness;
let key: string;
let plain: string;
let routed: string;

beforeAll(async () => {
  upstream = await startUpstream();
  harness = await startGateway();
  key = harness.addKey();
  plain = harness.addGateway(allDialects(upstream.url)).publicId;
  routed = harness.addGateway({
    ...allDialects(upstream.url),
    routes: [routeOf("fast"), routeOf("gem", { upstream: "gemini" })],
  }).publicId;
});
beforeEach(() => {
  upstream.received.length = 0;
  upstream.answerWith((response) => response.end("{}"));
});
afterAll(async () => {
  await harness.close();
  await upstream.close();
});

const post = (path: string, body: NonNullable<RequestInit["body"]>, headers: Record<string, string> = {}, as = key) =>
  fetch(`${harness.url}/g/${path}`, {
    method: "POST",
    body,
    headers: { "x-api-key": as, "content-type": "application/json", ...headers },
    ...(body instanceof ReadableStream && { duplex: "half" }),
  });
const hash = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

test.each([
  ["nothing", 0],
  ["a small body", 1_000],
  ["a body of 8 MiB", 8 << 20],
])("bytes in are bytes out: %s", async (_what, size) => {
  const body = randomBytes(size);
  expect((await post(`${plain}/v1/embeddings`, body, { "content-type": "application/octet-stream" })).status).toBe(200);
  expect(hash(upstream.received[0]?.body ?? Buffer.of(1))).toBe(hash(body));
  expect(upstream.received[0]?.headers["content-length"]).toBe(String(size));
});

test("bytes in are bytes out: a body in chunks, larger than any that is read", async () => {
  const pieces = Array.from({ length: 40 }, () => randomBytes(1 << 20));
  const stream = new ReadableStream({
    start(controller) {
      for (const piece of pieces) controller.enqueue(piece);
      controller.close();
    },
  });
  expect((await post(`${plain}/v1/embeddings`, stream)).status).toBe(200);
  expect(hash(upstream.received[0]?.body ?? Buffer.of())).toBe(hash(Buffer.concat(pieces)));
  expect(upstream.received[0]?.headers["transfer-encoding"]).toBe("chunked");
});

test("bytes out are bytes back, with their encoding and without a change of it", async () => {
  const packed = gzipSync("x".repeat(100_000));
  upstream.answerWith((response) =>
    response.writeHead(200, { "content-encoding": "gzip", "X-Case": "Kept" }).end(packed),
  );
  const { body, headers } = await rawAnswer();
  expect(hash(body)).toBe(hash(packed));
  expect(headers).toContain("X-Case");
  expect(headers).toContain("gzip");
});

test("an upstream's headers are its own however it spelt or ordered those of its last answer", async () => {
  const heads = [
    ["X-Case", "1", "x-other", "2", "Content-Type", "text/plain"],
    ["x-CASE", "3", "X-Other", "4", "x-thing", "5", "x-Thing", "6", "content-type", "text/html"],
    ["X-Case", "1"],
    ["y-case", "7", "Set-Cookie", "a=b", "X-Other", "8"],
  ];
  for (const head of heads) {
    upstream.answerWith((response) => response.writeHead(200, head).end("{}"));
    const { headers } = await rawAnswer();
    const own = head.filter((_, i) => head[i - (i % 2)] !== "Set-Cookie");
    expect(headers.slice(0, own.length)).toEqual(own);
    expect(headers).not.toContain("a=b");
  }
});

/** An answer as it comes off the wire: its head's names and values in turn. */
function rawAnswer(): Promise<{ body: Buffer; headers: string[] }> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      `${harness.url}/g/${plain}/v1/embeddings`,
      { method: "POST", headers: { "x-api-key": key, "content-length": 2 } },
      async (response) => {
        const chunks: Buffer[] = [];
        for await (const chunk of response) chunks.push(chunk);
        resolve({ body: Buffer.concat(chunks), headers: response.rawHeaders });
      },
    );
    request.on("error", reject).end("{}");
  });
}

test("a route's model is the one thing that is replaced in a body", async () => {
  const body = '{ "messages" : [ {"model":"fast"} ] ,\n "model"\t:"fast", "n":1.0, "é":"\\u00e9" }';
  const answer = await post(`${routed}/v1/chat/completions`, body);
  expect([answer.status, answer.headers.get("x-keyplane-route-id")]).toEqual([200, "rt-fast"]);
  expect(upstream.received[0]?.body.toString()).toBe(body.replace(':"fast",', ':"real-fast",'));
});

test("a model that is no route passes byte by byte where there are routes", async () => {
  const body = '{ "model" : "other" ,"x":  1}';
  const answer = await post(`${routed}/v1/chat/completions`, body);
  expect([answer.status, answer.headers.get("x-keyplane-route-id")]).toEqual([200, null]);
  expect(upstream.received[0]?.body.toString()).toBe(body);
});

test("an upstream cannot claim a route of ours in its answer", async () => {
  upstream.answerWith((response) => response.writeHead(200, { "x-keyplane-route-id": "rt-forged" }).end("{}"));
  const answer = await post(`${routed}/v1/chat/completions`, '{"model":"other"}');
  expect(answer.headers.get("x-keyplane-route-id")).toBeNull();
});

test("Gemini's model is replaced in the path, and where the body repeats it", async () => {
  const body = JSON.stringify({ requests: [{ model: "models/gem", content: {} }] });
  const answer = await post(`${routed}/v1beta/models/gem:batchEmbedContents`, body);
  expect([answer.status, answer.headers.get("x-keyplane-route-id")]).toEqual([200, "rt-gem"]);
  expect(upstream.received[0]?.url).toBe("/v1beta/models/real-gem:batchEmbedContents");
  expect(upstream.received[0]?.body.toString()).toBe(body.replace("models/gem", "models/real-gem"));
  const other = JSON.stringify({ requests: [{ model: "models/other", content: {} }] });
  expect((await post(`${routed}/v1beta/models/gem:batchEmbedContents`, other)).status).toBe(400);
});

test.each([
  ["a duplicate model", '{"model":"fast","model":"other"}', {}, 400],
  ["an escaped model", '{"mod\\u0065l":"fast"}', {}, 400],
  ["no JSON", "model=fast", {}, 400],
  ["a compressed body", '{"model":"fast"}', { "content-encoding": "gzip" }, 415],
])("%s is refused where a route may apply, and passes where none can", async (_what, body, headers, status) => {
  expect((await post(`${routed}/v1/embeddings`, body, headers)).status).toBe(status);
  expect(upstream.received).toHaveLength(0);
  expect((await post(`${plain}/v1/embeddings`, body, headers)).status).toBe(200);
  expect(upstream.received[0]?.body.toString()).toBe(body);
});

test.each([
  ["declared", (size: number) => `Content-Length: ${size}`, () => ""],
  ["undeclared", () => "Transfer-Encoding: chunked", (size: number) => `${size.toString(16)}\r\n`],
])(
  "more than 32 MiB, %s, is 413 where a route may apply, and its connection is closed",
  async (_how, framing, chunk) => {
    const size = (32 << 20) + 1;
    const head = requestHead(`POST /g/${routed}/v1/embeddings HTTP/1.1`, [`X-API-Key: ${key}`, framing(size)]);
    const text = await exchange([Buffer.from(head + chunk(size)), Buffer.alloc(size, 0x20)]);
    expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 413"]);
    expect(text).toMatch(/^connection: close/im);
    expect(upstream.received).toHaveLength(0);
  },
);

/** Sends pieces on one connection; returns all that came back until the server closed it. */
function exchange(pieces: readonly Buffer[]): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(harness.port, "127.0.0.1");
    let text = "";
    socket.on("data", (chunk) => {
      text += chunk.toString("latin1");
    });
    // The server listens for a second after its refusal: a busy machine may be sending for longer.
    socket.on("error", () => {}).on("close", () => resolve(text));
    for (const piece of pieces) socket.write(piece);
  });
}

test("a model that names a route needs gateway:routes besides; another model does not", async () => {
  const generate = harness.addKey({ scopes: scopeSet(["gateway:generate"]) });
  expect((await post(`${routed}/v1/chat/completions`, '{"model":"fast"}', {}, generate)).status).toBe(403);
  expect((await post(`${routed}/v1beta/models/gem:generateContent`, "{}", {}, generate)).status).toBe(403);
  expect((await post(`${routed}/v1/chat/completions`, '{"model":"other"}', {}, generate)).status).toBe(200);
  expect(upstream.received).toHaveLength(1);
});

test("a gateway with routes only serves no other model", async () => {
  const { publicId } = harness.addGateway({
    ...allDialects(upstream.url),
    routesOnly: true,
    routes: [routeOf("fast")],
  });
  expect((await post(`${publicId}/v1/chat/completions`, '{"model":"fast"}')).status).toBe(200);
  expect((await post(`${publicId}/v1/chat/completions`, '{"model":"gpt-x"}')).status).toBe(404);
  expect((await post(`${publicId}/v1beta/models/gpt-x:generateContent`, "{}")).status).toBe(404);
  expect((await post(`${publicId}/v1/chat/completions`, "{}")).status).toBe(400);
});

test("a key with allowed models may name those alone, in body and path", async () => {
  const narrow = harness.addKey({ allowedModels: ["fast", "gem", "gpt-x"] });
  for (const [path, body, status] of [
    [`${plain}/v1/chat/completions`, '{"model":"gpt-x"}', 200],
    [`${plain}/v1/chat/completions`, '{"model":"gpt-y"}', 403],
    [`${plain}/v1/chat/completions`, "{}", 403],
    [`${plain}/v1/chat/completions`, '{"model":"gpt-x","Model":"gpt-y"}', 400],
    [`${plain}/v1beta/models/gem:embedContent`, '{"model":"models/gem"}', 200],
    [`${plain}/v1beta/models/gem:embedContent`, '{"model":"models/other"}', 400],
    [`${plain}/v1beta/models/other:generateContent`, "{}", 403],
    [`${routed}/v1/chat/completions`, '{"model":"fast"}', 200],
  ] as const) {
    expect([path, body, (await post(path, body, {}, narrow)).status]).toEqual([path, body, status]);
  }
});

test("a gateway without an upstream of the path's format is 404", async () => {
  const { publicId } = harness.addGateway({ upstreams: allDialects(upstream.url).upstreams.slice(0, 1) });
  expect((await post(`${publicId}/v1/messages`, "{}")).status).toBe(404);
});

test("a route of another format than the path is refused with the format to use", async () => {
  const answer = await post(`${routed}/v1/chat/completions`, '{"model":"gem"}');
  expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining("gemini")]);
});

test("an upstream whose credential cannot be read is 502, and nothing is sent to it", async () => {
  const upstreams = allDialects(upstream.url).upstreams.map((each) => ({ ...each, credential: null }));
  const { publicId } = harness.addGateway({ upstreams });
  expect((await post(`${publicId}/v1/embeddings`, "{}")).status).toBe(502);
  expect(upstream.received).toHaveLength(0);
});

test("an upstream that answers before it has read the body is shown to the client, whose connection is closed", async () => {
  const early = await startUpstream();
  early.refuseBodies(413);
  const { publicId } = harness.addGateway(allDialects(early.url));
  const large = Buffer.alloc(24 << 20);
  const head = (path: string, ...lines: string[]) =>
    Buffer.from(requestHead(`POST /g/${path}/v1/embeddings HTTP/1.1`, [`X-API-Key: ${key}`, ...lines]));
  const text = await exchange([head(publicId, `Content-Length: ${large.length}`), large]);
  expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 413"]);
  await early.close();
});
