import { request as httpRequest, type IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import OpenAI from "openai";
import { afterEach, beforeEach, expect, test } from "vitest";
import { until } from "../../env/until.ts";
import type { Harness } from "../harness.ts";
import { allDialects, startGateway } from "./gateway.ts";
import { startUpstream, type Upstream } from "./upstream.ts";

let upstream: Upstream;
let harness: Harness;
let key: string;
let id: string;

beforeEach(async () => {
  upstream = await startUpstream();
  harness = await startGateway();
  key = harness.addKey();
  id = harness.addGateway(allDialects(upstream.url)).publicId;
});
afterEach(async () => {
  await harness.close();
  await upstream.close();
});

/** Begins a call and resolves with its response's head; the body is the test's to read. */
function open(path = "v1/chat/completions", as = key): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    httpRequest(
      `${harness.url}/g/${id}/${path}`,
      {
        method: "POST",
        headers: { "x-api-key": as, "content-type": "application/json", "content-length": 2 },
        agent: false,
      },
      resolve,
    )
      .on("error", reject)
      .end("{}");
  });
}

/** Collects a body as it comes; `ended` says whether it ended as HTTP says, or was broken. */
function collect(response: IncomingMessage) {
  const got = { text: "", ended: false, broken: false };
  response.setEncoding("utf8");
  response.on("data", (chunk: string) => {
    got.text += chunk;
  });
  response.on("end", () => {
    got.ended = true;
  });
  response.on("error", () => {
    got.broken = true;
  });
  return got;
}

const sse = { "content-type": "text/event-stream" };

test("the head and each event arrive before the next is sent", async () => {
  const sent: string[] = [];
  let next: (() => void) | undefined;
  upstream.answerWith((response) => {
    response.writeHead(200, sse).flushHeaders();
    next = () => {
      sent.push(`data: ${sent.length}\n\n`);
      response.write(sent.at(-1));
    };
  });
  const response = await open();
  const got = collect(response);
  for (let i = 0; i < 20; i++) {
    next?.();
    await until(`event ${i}`, () => got.text === sent.join(""));
  }
  expect(response.headers["content-type"]).toBe("text/event-stream");
});

test("a client that reads slowly slows the upstream down, and gets every byte in the end", async () => {
  const total = 32 << 20;
  let written = 0;
  upstream.answerWith((response) => {
    response.writeHead(200, sse);
    const piece = Buffer.alloc(1 << 20, 0x61);
    const more = () => {
      while (written < total) {
        written += piece.length;
        if (!response.write(piece)) {
          response.once("drain", more);
          return;
        }
      }
      response.end();
    };
    more();
  });
  const response = await open();
  const before = process.memoryUsage().arrayBuffers;
  let last = -1;
  let standing = 0;
  await until("the upstream is held up", () => {
    standing = written === last ? standing + 1 : 0;
    last = written;
    return standing === 10;
  });
  expect(written).toBeLessThan(24 << 20);
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(24 << 20);
  let read = 0;
  for await (const chunk of response) read += chunk.length;
  expect(read).toBe(total);
});

test.each(["before the answer's head", "within the answer"])(
  "a client that goes away %s aborts the upstream's call",
  async (when) => {
    let upstreamSocket: Socket | undefined;
    upstream.answerWith((response, _received, request) => {
      upstreamSocket = request.socket;
      if (when === "within the answer") response.writeHead(200, sse).write("data: 1\n\n");
    });
    const request = httpRequest(`${harness.url}/g/${id}/v1/embeddings`, {
      method: "POST",
      headers: { "x-api-key": key, "content-length": 2 },
    });
    request.on("error", () => {});
    let answered = false;
    request.on("response", (response) => {
      answered = true;
      response.on("error", () => {}).resume();
    });
    request.end("{}");
    await until("the upstream is called", () => upstreamSocket);
    if (when === "within the answer") await until("an answer", () => answered);
    request.destroy();
    await until("the upstream's socket is closed", () => upstreamSocket?.destroyed);
    await until("nothing is tracked any more", () => harness.streams.size === 0);
  },
);

test("c43: a client that goes away while it sends aborts the upstream's call", async () => {
  let upstreamSocket: Socket | undefined;
  upstream.onHead((request) => {
    upstreamSocket = request.socket;
  });
  const request = httpRequest(`${harness.url}/g/${id}/v1/embeddings`, {
    method: "POST",
    headers: { "x-api-key": key, "content-length": 1_000_000 },
  });
  request.on("error", () => {});
  request.write("half of it");
  await until("the upstream is called", () => upstreamSocket);
  request.destroy();
  await until("the upstream's socket is closed", () => upstreamSocket?.destroyed);
  await until("nothing is tracked any more", () => harness.streams.size === 0);
});

test.each([
  ["v1/chat/completions", 'data: {"error":{', {}],
  ["v1/chat/completions", 'data: {"error":{', { "content-encoding": "identity" }],
  ["v1beta/models/m:streamGenerateContent?alt=sse", 'data: {"error":{"code":503', {}],
  ["v1/messages", 'event: error\ndata: {"type":"error"', {}],
])(
  "b24: a revoked key's stream on %s ends with an event that says so (%s, %j), and the upstream is aborted",
  async (path, event, coding) => {
    let upstreamSocket: Socket | undefined;
    upstream.answerWith((response, _received, request) => {
      upstreamSocket = request.socket;
      response.writeHead(200, { ...sse, ...coding }).write("data: 1\n\n");
    });
    const got = collect(await open(path));
    await until("the first event", () => got.text !== "");
    harness.changeKey(key, { state: "revoked" });
    await until("the end", () => got.ended);
    expect(got.text.startsWith(`data: 1\n\n${event}`)).toBe(true);
    expect(got.text).toContain("The answer was ended: its key may no longer be used, or this server is stopping.");
    await until("the upstream's socket is closed", () => upstreamSocket?.destroyed);
    expect(harness.streams.size).toBe(0);
  },
);

test("b24: a stream that is cut within an event, or that is no event stream, is broken and never completed", async () => {
  for (const [headers, piece] of [
    [sse, "data: half an eve"],
    [{ "content-type": "application/json" }, '{"half":'],
    [{ ...sse, "content-encoding": "gzip" }, "data: 1\n\n"],
  ] as const) {
    const own = harness.addKey();
    upstream.answerWith((response) => response.writeHead(200, headers).write(piece));
    const got = collect(await open("v1/chat/completions", own));
    await until("the first bytes", () => got.text === piece);
    harness.changeKey(own, { state: "revoked" });
    await until("the break", () => got.broken);
    expect([got.text, got.ended]).toEqual([piece, false]);
  }
});

test("b23: a key that is revoked while the upstream thinks gets no answer of it, and leaves nothing behind", async () => {
  let finish: (() => void) | undefined;
  upstream.answerWith((response) => {
    finish = () => response.end('{"late":true}');
  });
  const answer = open();
  await until("the upstream is called", () => finish);
  harness.changeKey(key, { state: "revoked" });
  const response = await answer;
  const got = collect(response);
  finish?.();
  await until("the end", () => got.ended);
  expect([response.statusCode, got.text.includes("late")]).toEqual([401, false]);
  expect(harness.streams.size).toBe(0);
  expect((await open()).statusCode).toBe(401);
});

test("b23: a key that is revoked once an answer's head alone has come gets 401", async () => {
  let isAnswered = false;
  upstream.answerWith((response) => {
    response.writeHead(200, { "content-type": "application/json" }).flushHeaders();
    isAnswered = true;
  });
  const answer = open();
  await until("the head is sent", () => isAnswered);
  upstream.answerWith((response) => response.end("{}"));
  expect((await open("v1/chat/completions", harness.addKey())).statusCode).toBe(200);
  harness.changeKey(key, { state: "revoked" });
  expect((await answer).statusCode).toBe(401);
});

test("the official SDK raises the event that ends a cut stream", async () => {
  upstream.answerWith((response) =>
    response.writeHead(200, sse).write('data: {"choices":[{"delta":{"content":"a"}}]}\n\n'),
  );
  const client = new OpenAI({ baseURL: `${harness.url}/g/${id}/v1`, apiKey: key });
  const stream = await client.chat.completions.create({ model: "m", messages: [], stream: true });
  const read = (async () => {
    for await (const chunk of stream) if (chunk.choices.length > 0) harness.changeKey(key, { state: "revoked" });
  })();
  await expect(read).rejects.toBeInstanceOf(OpenAI.APIError);
});

test("c43: an upstream that dies within an answer breaks a plain one, which is 502 without a byte, and ends a stream with an error", async () => {
  upstream.answerWith((response) => {
    response.writeHead(200, sse).write("data: 1\n\n", () => response.destroy());
  });
  const stream = collect(await open());
  await until("the end", () => stream.ended);
  expect(stream.text).toMatch(/^data: 1\n\ndata: \{"error":\{.*"code":"bad_gateway"/);
  upstream.answerWith((response) => {
    response.writeHead(200, { "content-length": 100 }).write("{", () => response.destroy());
  });
  const broken = collect(await open());
  await until("the break", () => broken.broken);
  expect(broken.ended).toBe(false);
  upstream.answerWith((response, _received, { socket }) => {
    response.writeHead(200, { "content-length": 100 }).flushHeaders();
    socket.end();
  });
  expect((await open()).statusCode).toBe(502);
  expect(harness.streams.size).toBe(0);
});
