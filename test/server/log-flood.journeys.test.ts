import { connect } from "node:net";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { products } from "../../processes/products.ts";
import { managementToken } from "../../server/auth/management/management-token.ts";
import { NIGHTLY } from "../env/nightly.ts";
import { until } from "../env/until.ts";
import { upstreamOf } from "./gateway/gateway.ts";
import { rawUpstream } from "./gateway/raw-upstream.ts";
import { startUpstream, type Upstream } from "./gateway/upstream.ts";
import { type Harness, startHarness } from "./harness.ts";
import { requestHead } from "./raw-http.ts";

const TOKEN = "kpt_the-token-of-this-installation";
const JSON_TYPE = "Content-Type: application/json";
const MAX_ALIKE = 5;

let harness: Harness;
let upstream: Upstream;
/** Those that the server has the head of. */
let requests = 0;
beforeAll(async () => {
  upstream = await startUpstream();
  harness = await startHarness({
    mounts: products(),
    managementToken: managementToken("bootstrap-token", TOKEN),
    sampling: { maxAlike: MAX_ALIKE, windowMs: 1_000 },
  });
  harness.app.server.on("request", () => requests++);
});
beforeEach(() => {
  harness.lines.length = 0;
});
afterAll(async () => {
  await harness.close();
  await upstream.close();
});

/** The log's warnings and errors. */
function complaints(): { level: number; msg: string; count?: number }[] {
  return harness.lines.map((line) => JSON.parse(line)).filter(({ level }) => level >= 40);
}

const connections = () =>
  new Promise<number>((resolve) => harness.app.server.getConnections((_error, count) => resolve(count)));

/** Sends a head and a part of its body, and leaves once that has been read. */
async function leaveInMidBody(requestLine: string, headers: readonly string[]): Promise<void> {
  const socket = connect(harness.port, "127.0.0.1");
  socket.on("error", () => {});
  const before = requests;
  const head = requestHead(requestLine, [JSON_TYPE, ...headers]).replace("localhost", `localhost:${harness.port}`);
  socket.write(`${head}{"text":`);
  await until("the request is there", () => requests > before);
  socket.resetAndDestroy();
}

test("b97: many callers that leave in mid-body leave no warning and no error in the log", async () => {
  const key = `X-API-Key: ${harness.addKey()}`;
  const { publicId } = harness.addGateway({ upstreams: [upstreamOf(upstream.url)] });
  const kinds: readonly (readonly [string, readonly string[]])[] = [
    ["POST /atoms HTTP/1.1", [key, "Content-Length: 1000"]],
    ["POST /atoms HTTP/1.1", [key, "Transfer-Encoding: chunked"]],
    ["POST /api/v1/memory/mcp HTTP/1.1", [key, "Accept: application/json, text/event-stream", "Content-Length: 1000"]],
    ["POST /api/v1/keys HTTP/1.1", [`Authorization: Bearer ${TOKEN}`, "Content-Length: 1000"]],
    [`POST /g/${publicId}/v1/embeddings HTTP/1.1`, [key, "Content-Length: 1000"]],
    [`POST /g/${publicId}/v1/embeddings HTTP/1.1`, [key, "Content-Length: 1000000"]],
  ];
  for (let i = 0; i < (NIGHTLY ? 50 : 10); i++) {
    for (const [line, headers] of kinds) await leaveInMidBody(line, headers);
  }
  await until("all connections are over", async () => (await connections()) === 0);
  expect(complaints()).toEqual([]);
});

test("b97: an upstream that fails hundreds of times is a few lines in the log, and one with the count of the others", async () => {
  const failing = await rawUpstream((socket) => socket.destroy());
  const { publicId } = harness.addGateway({ upstreams: [upstreamOf(failing.url)] });
  const headers = { "x-api-key": harness.addKey() };
  const ask = () => fetch(`${harness.url}/g/${publicId}/v1/embeddings`, { method: "POST", headers, body: "{}" });
  const failures = NIGHTLY ? 1_000 : 300;
  for (let done = 0; done < failures; done += 50) {
    const answers = await Promise.all(Array.from({ length: 50 }, ask));
    for (const answer of answers) {
      expect(answer.status).toBe(502);
      await answer.text();
    }
  }
  // A window begins with its first failure: as many lines as windows, each with its count.
  const failed = () => complaints().filter(({ msg }) => !msg.includes("leave it out"));
  const logged = () => failed().reduce((sum, { count = 1 }) => sum + count, 0);
  await until("every failure is logged", () => logged() === failures);
  const windows = failed().filter(({ count }) => count !== undefined).length;
  expect(windows).toBeGreaterThan(0);
  expect(failed().length).toBeLessThanOrEqual((windows + 2) * (MAX_ALIKE + 1));
  failing.close();
});

test("b97: what is about another gateway is not hidden by the flood of one", async () => {
  const failing = await rawUpstream((socket) => socket.destroy());
  const ids = Array.from({ length: 2 }, () => harness.addGateway({ upstreams: [upstreamOf(failing.url)] }));
  const headers = { "x-api-key": harness.addKey() };
  for (const { publicId } of [...Array(20).fill(ids[0]), ids[1]]) {
    await fetch(`${harness.url}/g/${publicId}/v1/embeddings`, { method: "POST", headers, body: "{}" });
  }
  expect(harness.lines.some((line) => line.includes(ids[1]?.gatewayId ?? "none"))).toBe(true);
  failing.close();
});
