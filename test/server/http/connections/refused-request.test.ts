import { once } from "node:events";
import type { AddressInfo, Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { products } from "../../../../processes/products.ts";
import { AnswerBudget, answerLimits } from "../../../../server/http/answers/answer-budget.ts";
import { createListener } from "../../../../server/http/connections/listener.ts";
import { LingeringSockets } from "../../../../server/http/connections/refused-request.ts";
import { NIGHTLY } from "../../../env/nightly.ts";
import { until } from "../../../env/until.ts";
import { type Harness, startHarness } from "../../harness.ts";
import { requestHead } from "../../raw-http.ts";
import { answers, type Caller, isDisconnected, openCaller, sendEndlessly, statusesOf } from "../sockets.ts";

/** A chunk of one byte, many times: what costs the parser most for each byte sent. */
const CHUNKS = Buffer.from("1\r\nx\r\n".repeat(4_096));
const MCP = "/api/v1/memory/mcp";
const JSON_TYPE = "Content-Type: application/json";

let harness: Harness;
let key: string;
let limited: string;
beforeAll(async () => {
  harness = await startHarness({ mounts: products() });
  key = harness.addKey();
  limited = harness.addKey({ rateLimit: { requestsPerMinute: 1, burst: 1, scope: "Replica" } });
  const { publicId } = harness.addGateway({ publicId: "limited" });
  await fetch(`${harness.url}/g/${publicId}/v1/models`, { headers: { "x-api-key": limited } });
});
afterAll(() => harness.close());

function start(requestLine: string, headers: readonly string[]): Caller {
  const caller = openCaller(harness.port);
  caller.socket.write(requestHead(requestLine, headers));
  return caller;
}

const REFUSALS: readonly [name: string, status: number, requestLine: string, headers: () => string[]][] = [
  ["memory without a key", 401, "POST /atoms HTTP/1.1", () => []],
  [
    "memory with a media type it does not read",
    415,
    "POST /atoms HTTP/1.1",
    () => [`X-API-Key: ${key}`, "Content-Type: text/csv"],
  ],
  ["a method that is not served", 405, "PUT /atoms HTTP/1.1", () => [`X-API-Key: ${key}`]],
  ["MCP by another Host", 403, `POST ${MCP} HTTP/1.1`, () => [`X-API-Key: ${key}`, JSON_TYPE]],
  ["the gateway without a key", 401, "POST /g/some/v1/chat/completions HTTP/1.1", () => [JSON_TYPE]],
  [
    "the gateway beyond a rate limit",
    429,
    "POST /g/limited/v1/chat/completions HTTP/1.1",
    () => [`X-API-Key: ${limited}`],
  ],
  ["the management API without a token", 401, "POST /api/v1/keys HTTP/1.1", () => [JSON_TYPE]],
  ["a path that is not there", 404, "POST /nowhere HTTP/1.1", () => [JSON_TYPE]],
  ["a head beyond 16 KiB", 431, "POST /atoms HTTP/1.1", () => [`X-Filler: ${"x".repeat(20_000)}`]],
];

const ENDLESS: readonly [shape: string, framing: string, piece: Buffer][] = [
  ["an endless body in chunks", "Transfer-Encoding: chunked", CHUNKS],
  ["an endless body of a declared length", "Content-Length: 9000000000", Buffer.alloc(65_536, "x")],
];

describe.concurrent.each(REFUSALS)("b82: %s", (name, status, requestLine, headers) => {
  const at = REFUSALS.findIndex(([each]) => each === name);
  // By day each refusal meets one of them.
  test.each(ENDLESS.filter((_, n) => NIGHTLY || n === at % ENDLESS.length))(
    "b82: %s is answered, and its connection is closed",
    async (_shape, framing, piece) => {
      const caller = start(requestLine, [...headers(), framing]);
      sendEndlessly(caller, piece);
      await isDisconnected(caller);
      expect(statusesOf(caller)).toEqual([status]);
      expect(caller.text()).toMatch(/^connection: close/im);
    },
  );
});

test("b82: a replica that is not current refuses an endless body with 503, and closes the connection", async () => {
  harness.setCurrent(false);
  const caller = start("POST /atoms HTTP/1.1", [`X-API-Key: ${key}`, "Transfer-Encoding: chunked"]);
  sendEndlessly(caller, CHUNKS);
  await isDisconnected(caller);
  harness.setCurrent(true);
  expect(statusesOf(caller)).toEqual([503]);
});

test("b82: a body declared too large is refused with 413, and nothing more is parsed", async () => {
  const caller = start("POST /atoms HTTP/1.1", [`X-API-Key: ${key}`, JSON_TYPE, "Content-Length: 9000000000"]);
  sendEndlessly(caller, Buffer.alloc(65_536, " "));
  await isDisconnected(caller);
  expect(statusesOf(caller)).toEqual([413]);
});

test("b82: an answer that is no refusal ends an endless request as well", async () => {
  const caller = start("GET /openapi.json HTTP/1.1", ["Transfer-Encoding: chunked"]);
  sendEndlessly(caller, CHUNKS);
  await isDisconnected(caller);
  expect(statusesOf(caller)).toEqual([200]);
  expect(caller.text()).toMatch(/^connection: close/im);
});

test("b82: a caller that never goes on with its body is let go", async () => {
  const silent = start("POST /atoms HTTP/1.1", ["Content-Length: 9000000000"]);
  const small = start("POST /atoms HTTP/1.1", ["Content-Length: 100"]);
  await Promise.all([isDisconnected(silent), isDisconnected(small)]);
  expect(statusesOf(silent)).toEqual([401]);
  expect(statusesOf(small)).toEqual([401]);
});

test.each([
  ["POST /nowhere", "application/json"],
  ["OPTIONS /nowhere", "application/json"],
  ["POST /dashboard/nowhere", "application/x-www-form-urlencoded"],
])(
  "b475: %s, where nothing is, is answered before its body comes, and its connection is closed",
  async (target, type) => {
    const caller = openCaller(harness.port);
    caller.socket.write(
      `${target} HTTP/1.1\r\nHost: 127.0.0.1:${harness.port}\r\nContent-Type: ${type}\r\nContent-Length: 9\r\n\r\n`,
    );
    await isDisconnected(caller);
    expect(statusesOf(caller)).toEqual([404]);
  },
);

test.each(["Host: keys.example.net", "Origin: https://example.net"])(
  "b54: an unknown page of the console is refused to a foreign caller as any other, with %s",
  async (foreign) => {
    const host = foreign.startsWith("Host") ? "" : `Host: 127.0.0.1:${harness.port}\r\n`;
    const caller = openCaller(harness.port);
    caller.socket.write(`POST /dashboard/nowhere HTTP/1.1\r\n${host}${foreign}\r\nContent-Length: 0\r\n\r\n`);
    await answers(caller, 1);
    expect(statusesOf(caller)).toEqual([403]);
    caller.socket.destroy();
  },
);

test("b82: a refused request without a body keeps its connection", async () => {
  const caller = start("GET /atoms HTTP/1.1", []);
  await answers(caller, 1);
  caller.socket.write(requestHead("GET /atoms HTTP/1.1", [`X-API-Key: ${limited}`]));
  await answers(caller, 2);
  expect(statusesOf(caller)).toEqual([401, 429]);
  expect(caller.text()).not.toMatch(/^connection: close/im);
  caller.socket.destroy();
});

test("b82: a refused request with a small body keeps its connection, and the body is no request", async () => {
  const body = requestHead("GET /smuggled HTTP/1.1");
  const caller = start("POST /atoms HTTP/1.1", [`Content-Length: ${body.length}`]);
  await answers(caller, 1);
  caller.socket.write(body + requestHead("GET /nowhere HTTP/1.1"));
  await answers(caller, 2);
  expect(statusesOf(caller)).toEqual([401, 404]);
  expect(caller.text()).not.toMatch(/^connection: close/im);
  caller.socket.destroy();
});

test("b82: a body that is there whole and is no JSON keeps its connection", async () => {
  const caller = start("POST /atoms HTTP/1.1", [`X-API-Key: ${key}`, JSON_TYPE, "Content-Length: 1"]);
  caller.socket.write("{");
  await answers(caller, 1);
  caller.socket.write(requestHead("GET /nowhere HTTP/1.1"));
  await answers(caller, 2);
  expect(statusesOf(caller)).toEqual([400, 404]);
  expect(caller.text()).not.toMatch(/^connection: close/im);
  caller.socket.destroy();
});

test("b82: however many small bodies follow their refusals on a connection, it leaves nothing behind", async () => {
  const connected: Promise<Socket[]> = once(harness.app.server, "connection");
  const caller = openCaller(harness.port);
  const [served] = await connected;
  if (served === undefined) throw new Error("no connection");
  const head = requestHead("POST /atoms HTTP/1.1", [JSON_TYPE, "Content-Length: 1"]);
  const { socket } = caller;
  // What ends it was wrapped once for each request: some thousands of them ended the process.
  const kept = () => [served.destroySoon, ...["close", "end", "error"].map((name) => served.listenerCount(name))];
  let before: unknown[] = [];
  const most = NIGHTLY ? 12_000 : 200;
  const { promise, resolve } = Promise.withResolvers<void>();
  let refused = 0;
  let tail = "";
  socket.on("data", (chunk) => {
    tail += chunk.toString("latin1");
    if (!/\r\n\r\n.*\}$/s.test(tail)) return;
    tail = "";
    // The last one is followed by a request that asks for the connection to be closed.
    if (++refused === 20) before = kept();
    if (refused === most) resolve();
    else socket.write(`x${head}`);
  });
  socket.write(head);
  await promise;
  expect(kept()).toEqual(before);
  socket.write(`x${requestHead("GET /openapi.json HTTP/1.1", ["Connection: close"])}`);
  await isDisconnected(caller);
  expect((await fetch(`${harness.url}/openapi.json`)).status).toBe(200);
});

test("b82: what follows a refused request on its connection is never a request", async () => {
  const used = harness.used.length;
  const caller = start("POST /atoms HTTP/1.1", ["Transfer-Encoding: chunked"]);
  await answers(caller, 1);
  caller.socket.write(`0\r\n\r\n${requestHead("GET /atoms HTTP/1.1", [`X-API-Key: ${key}`])}`);
  await isDisconnected(caller);
  expect(statusesOf(caller)).toEqual([401]);
  expect(harness.used).toHaveLength(used);
});

test("b82: connections beyond those that may linger are ended at once", async () => {
  const lingering = new LingeringSockets(2);
  const listener = createListener(
    (_request, response) => response.writeHead(401).end(),
    null,
    lingering,
    new AnswerBudget(answerLimits(1)),
  );
  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
  const most = { lingering: 0 };
  listener.on("request", (_request, response) => {
    response.on("close", () => {
      most.lingering = Math.max(most.lingering, lingering.size);
    });
  });
  const { port } = listener.address() as AddressInfo;
  const callers = Array.from({ length: 20 }, () => openCaller(port));
  for (const { socket } of callers) socket.write(requestHead("POST / HTTP/1.1", ["Content-Length: 9000000000"]));
  await Promise.all(callers.map((caller) => answers(caller, 1)));
  await Promise.all(callers.map(isDisconnected));
  expect(most.lingering).toBe(2);
  await until("no connection lingers", () => lingering.size === 0);
  await new Promise((resolve) => listener.close(resolve));
});
