import { connect, createServer, type Server, type Socket } from "node:net";
import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, expect, test } from "vitest";
import { until } from "../../env/until.ts";
import type { Harness } from "../harness.ts";
import { startGateway, upstreamOf } from "./gateway.ts";
import { rawUpstream } from "./raw-upstream.ts";
import { startUpstream, type Upstream } from "./upstream.ts";

const MB = 1 << 20;

let harness: Harness;
let upstream: Upstream;
let key: string;
/** Another tenant's gateway: whatever happens at the first one, it answers. */
let bystander: string;
const ends: Server[] = [];

beforeEach(async () => {
  harness = await startGateway();
  upstream = await startUpstream();
  key = harness.addKey();
  bystander = harness.addGateway({ upstreams: [upstreamOf(upstream.url)] }).publicId;
});
afterEach(async () => {
  expect((await ask(bystander)).status).toBe(200);
  await harness.close();
  await upstream.close();
  for (const server of ends.splice(0)) server.close();
});

const ask = (publicId: string): Promise<Response> =>
  fetch(`${harness.url}/g/${publicId}/v1/embeddings`, { method: "POST", headers: { "x-api-key": key }, body: "{}" });

/** A gateway whose upstream sends these bytes, whatever it is asked, and hangs up. */
async function gatewayOf(bytes: string | Buffer): Promise<string> {
  const hostile = await rawUpstream((socket) => socket.end(bytes));
  ends.push(hostile);
  return harness.addGateway({ upstreams: [upstreamOf(hostile.url)] }).publicId;
}

test.each([
  ["two lengths that differ", "content-length: 2\r\ncontent-length: 3\r\n\r\n{}}"],
  ["a length and chunks", "content-length: 2\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"],
  ["a length that is no number", "content-length: 2x\r\n\r\n{}"],
  ["a header's name with a space", "x a: 1\r\ncontent-length: 2\r\n\r\n{}"],
  ["a header's value with a NUL", "x-a: \0\r\ncontent-length: 2\r\n\r\n{}"],
])("b41: an upstream's answer with %s is 502, and nothing of it is shown", async (_what, rest) => {
  const answer = await ask(await gatewayOf(`HTTP/1.1 200 OK\r\nx-canary: yes\r\n${rest}`));
  expect([answer.status, answer.headers.get("x-canary")]).toEqual([502, null]);
});

test.each([
  ["a bare line feed", "x-a: 1\nset-cookie: evil=1\r\n"],
  ["a bare carriage return", "x-a: 1\rset-cookie: evil=1\r\n"],
  ["a folded line", "x-a: 1\r\n set-cookie: evil=1\r\n"],
])("b40: an upstream cannot slip a header to a client behind %s", async (_what, header) => {
  const answer = await ask(await gatewayOf(`HTTP/1.1 200 OK\r\n${header}content-length: 2\r\n\r\n{}`));
  expect(answer.headers.get("set-cookie")).toBeNull();
  expect([200, 502]).toContain(answer.status);
});

test("b43: an upstream's head without an end is 502", async () => {
  let sent = 0;
  const hostile = await rawUpstream((socket) => {
    socket.write("HTTP/1.1 200 OK\r\n");
    const more = (): void => {
      if (socket.destroyed || sent > 16 * MB) return;
      sent += 1_024;
      socket.write(`x-${sent}: ${"x".repeat(1_000)}\r\n`, more);
    };
    more();
  });
  ends.push(hostile);
  const { publicId } = harness.addGateway({ upstreams: [upstreamOf(hostile.url)] });
  expect((await ask(publicId)).status).toBe(502);
  expect(sent).toBeLessThan(16 * MB);
});

test("b43: an upstream's interim answers without an end are 502", async () => {
  let sent = 0;
  const interim = "HTTP/1.1 103 Early Hints\r\n\r\n".repeat(1_000);
  const hostile = await rawUpstream((socket) => {
    const more = (): void => {
      if (socket.destroyed || sent > 64 * MB) return;
      sent += interim.length;
      socket.write(interim, more);
    };
    more();
  });
  ends.push(hostile);
  const { publicId } = harness.addGateway({ upstreams: [upstreamOf(hostile.url)] });
  expect((await ask(publicId)).status).toBe(502);
  expect(sent).toBeLessThan(16 * MB);
});

test("b43: an upstream's few interim answers are left out of its answer", async () => {
  const interim = "HTTP/1.1 103 Early Hints\r\nx-canary: yes\r\n\r\n".repeat(10);
  const answer = await ask(await gatewayOf(`${interim}HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}`));
  expect([answer.status, answer.headers.get("x-canary"), await answer.text()]).toEqual([200, null, "{}"]);
});

test("b43: an error that unpacks to far more than is inspected is 502, and is not unpacked", async () => {
  const bomb = gzipSync(Buffer.alloc(64 * MB));
  const head = `HTTP/1.1 400 Bad\r\ncontent-encoding: gzip\r\ncontent-length: ${bomb.length}\r\n\r\n`;
  const id = await gatewayOf(Buffer.concat([Buffer.from(head), bomb]));
  const before = process.memoryUsage().rss;
  for (let i = 0; i < 8; i++) expect((await ask(id)).status).toBe(502);
  expect(process.memoryUsage().rss - before).toBeLessThan(64 * MB);
});

test("b43: an answer that is longer than it said is no part of the next one", async () => {
  const id = await gatewayOf("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}HTTP/1.1 200 OK\r\n\r\npoison");
  for (let i = 0; i < 5; i++) expect(await (await ask(id)).text()).toBe("{}");
});

test("b43: a body without an end for an upstream that does not read is held up, not kept", async () => {
  const sockets: Socket[] = [];
  const deaf = createServer((socket) => sockets.push(socket.on("error", () => {}).pause()));
  ends.push(deaf);
  await new Promise<void>((resolve) => deaf.listen(0, "127.0.0.1", resolve));
  const address = deaf.address();
  const port = typeof address === "object" ? address?.port : 0;
  const { publicId } = harness.addGateway({ upstreams: [upstreamOf(`http://127.0.0.1:${port}`)] });
  const before = process.memoryUsage().arrayBuffers;
  const client = connect(harness.port, "127.0.0.1");
  client.on("error", () => {});
  client.write(`POST /g/${publicId}/v1/embeddings HTTP/1.1\r\nHost: x\r\nx-api-key: ${key}\r\n`);
  client.write("Transfer-Encoding: chunked\r\n\r\n");
  const piece = Buffer.from(`10000\r\n${"x".repeat(0x10000)}\r\n`);
  let taken = 0;
  const more = (): void => {
    taken += piece.length;
    if (taken < 256 * MB) client.write(piece, more);
  };
  more();
  let last = -1;
  let standing = 0;
  await until("the client is held up", () => {
    standing = taken === last ? standing + 1 : 0;
    last = taken;
    return standing === 20;
  });
  expect(taken).toBeLessThan(32 * MB);
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(32 * MB);
  client.destroy();
  await until("the upstream's socket is closed", () => {
    for (const socket of sockets) socket.resume();
    return sockets.every(({ destroyed }) => destroyed);
  });
  await until("nothing is tracked any more", () => harness.streams.size === 0);
});

test("b43: clients that say what they will send, and send nothing, take no upstream's socket", async () => {
  const clients = Array.from({ length: 200 }, () => {
    const client = connect(harness.port, "127.0.0.1");
    client.on("error", () => {});
    client.write(`POST /g/${bystander}/v1/embeddings HTTP/1.1\r\nHost: x\r\nx-api-key: ${key}\r\n`);
    client.write("Content-Length: 1000\r\n\r\n{");
    return client;
  });
  await until("all are let through", () => harness.streams.size === clients.length);
  expect(upstream.connections).toBe(0);
  for (const client of clients) client.destroy();
  await until("nothing is tracked any more", () => harness.streams.size === 0);
});
