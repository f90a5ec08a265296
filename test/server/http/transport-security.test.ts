import { once } from "node:events";
import { type IncomingMessage, request, type ServerResponse } from "node:http";
import { request as requestTls } from "node:https";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { AnswerBudget, answerLimits } from "../../../server/http/answers/answer-budget.ts";
import { createListener } from "../../../server/http/connections/listener.ts";
import { LingeringSockets } from "../../../server/http/connections/refused-request.ts";
import { makeCertificate } from "../../env/certificate.ts";
import { allDialects, startGateway } from "../gateway/gateway.ts";
import { startUpstream, type Upstream } from "../gateway/upstream.ts";
import type { Harness } from "../harness.ts";
import { sendRaw } from "../raw-http.ts";

const HOST = "keys.example.com";
const OURS = ["max-age=31536000"];

let upstream: Upstream;
let server: Harness;
let key: string;
let gateway: string;
beforeAll(async () => {
  upstream = await startUpstream();
  server = await startGateway({ config: { publicUrl: new URL(`https://${HOST}`) } });
  key = server.addKey();
  gateway = `/g/${server.addGateway(allDialects(upstream.url)).publicId}`;
});
afterAll(async () => {
  await server.close();
  await upstream.close();
});

/** The status, and every value of Strict-Transport-Security. */
async function ask(port: number, path: string, headers: Record<string, string> = {}, method = "GET") {
  const call = request({ port, path, method, headers: { host: HOST, ...headers } });
  call.end(method === "POST" ? "{}" : undefined);
  const [answer]: IncomingMessage[] = await once(call, "response");
  answer?.resume();
  return [answer?.statusCode, valuesOf(answer)];
}

function valuesOf(answer: IncomingMessage | undefined): string[] {
  const { rawHeaders = [] } = answer ?? {};
  return rawHeaders.filter((_, i) => rawHeaders[i - 1]?.toLowerCase() === "strict-transport-security" && i % 2 === 1);
}

test("every answer of an https public URL says to come over TLS alone, once, refusals too", async () => {
  const { port } = server;
  const embeddings = `${gateway}/v1/embeddings`;
  // Refusals share their heads: each is asked for twice.
  for (let i = 0; i < 2; i++) {
    expect(await ask(port, "/openapi.json")).toEqual([200, OURS]);
    expect(await ask(port, "/nowhere")).toEqual([404, OURS]);
    expect(await ask(port, embeddings, {}, "POST")).toEqual([401, OURS]);
    expect(await ask(port, `${gateway}/v1/models`, { "x-api-key": key })).toEqual([200, OURS]);
    expect(await ask(port, embeddings, { "x-api-key": key }, "POST")).toEqual([200, OURS]);
    const upgrade = { "x-api-key": key, upgrade: "websocket", connection: "upgrade" };
    expect(await ask(port, embeddings, upgrade, "POST")).toEqual([426, OURS]);
  }
  const { status, head } = await sendRaw(port, `GET / HTTP/1.1\r\nHost: ${HOST}\r\nHost: ${HOST}\r\n\r\n`);
  expect([status, head.match(/^strict-transport-security: .*$/gim)]).toEqual([
    400,
    OURS.map((value) => `strict-transport-security: ${value}`),
  ]);
});

test.each([200, 400, 500])("what an upstream says of its own host with a %d is not said of ours", async (status) => {
  const theirs = "max-age=1; includeSubDomains; preload";
  upstream.answerWith((response) => response.writeHead(status, { "Strict-Transport-Security": theirs }).end("{}"));
  const headers = { "x-api-key": key };
  expect(await ask(server.port, `${gateway}/v1/embeddings`, headers, "POST")).toEqual([status, OURS]);
  const local = { ...headers, host: "localhost" };
  expect(await ask(server.port, `${gateway}/v1/embeddings`, local, "POST")).toEqual([status, []]);
});

test.each(["localhost", "LocalHost.:8080", "keyplane.localhost:1", "127.0.0.1", "127.1.2.3:8080", "[::1]:8080"])(
  "nothing is said of %s, which is the caller's own machine",
  async (host) => {
    expect(await ask(server.port, "/openapi.json", { host })).toEqual([200, []]);
  },
);

test.each(["localhost.example.com", "notlocalhost", "127.0.0.1.example.com"])(
  "%s is another's machine for all its looks",
  async (host) => {
    expect(await ask(server.port, "/openapi.json", { host })).toEqual([200, OURS]);
  },
);

test.each([null, new URL(`http://${HOST}`)])(
  "nothing is said where clients come without TLS (%s)",
  async (publicUrl) => {
    const plain = await startGateway({ config: { publicUrl } });
    expect(await ask(plain.port, "/openapi.json")).toEqual([200, []]);
    await plain.close();
  },
);

test("a listener with a certificate says it of the name that it was called by", async (context) => {
  const { cert, key: tlsKey } = makeCertificate();
  const tls = { cert: Buffer.from(cert), key: Buffer.from(tlsKey) };
  const route: Parameters<typeof createListener>[0] = (_request, response) => response.end("served");
  const listener = createListener(route, tls, new LingeringSockets(1), new AnswerBudget(answerLimits(1)));
  context.onTestFinished(() => void listener.close());
  await once(listener.listen(0, "127.0.0.1"), "listening");
  const { port } = listener.address() as AddressInfo;
  for (const [host, values] of [
    [HOST, OURS],
    ["localhost", []],
  ] as const) {
    const isOurs = { ca: cert, checkServerIdentity: () => undefined };
    const call = requestTls({ host: "127.0.0.1", port, agent: false, headers: { host }, ...isOurs }).end();
    const [answer]: IncomingMessage[] = await once(call, "response");
    answer?.resume();
    expect(valuesOf(answer)).toEqual(values);
  }
});

test.each<[string, (response: ServerResponse) => unknown]>([
  ["a status alone", (response) => response.writeHead(200)],
  ["a status and headers", (response) => response.writeHead(200, { "x-own": "1" })],
  ["a reason", (response) => response.writeHead(200, "Fine")],
  ["a reason and headers", (response) => response.writeHead(200, "Fine", { "x-own": "1" })],
  ["a list of headers", (response) => response.writeHead(200, ["x-own", "1"])],
])("a head that is written with %s says it, and all else that it said", async (what, write) => {
  const listener = createListener(
    (_request, response) => {
      write(response);
      response.end();
    },
    null,
    new LingeringSockets(1),
    new AnswerBudget(answerLimits(1)),
    true,
  );
  await once(listener.listen(0, "127.0.0.1"), "listening");
  const { port } = listener.address() as AddressInfo;
  const { head } = await sendRaw(port, `GET / HTTP/1.1\r\nHost: ${HOST}\r\nConnection: close\r\n\r\n`);
  listener.close();
  expect(head).toContain(what.includes("reason") ? "HTTP/1.1 200 Fine" : "HTTP/1.1 200 OK");
  expect(head.match(/^(?:strict-transport-security|x-own): .*$/gim)).toEqual([
    ...(what.includes("headers") ? ["x-own: 1"] : []),
    `strict-transport-security: ${OURS[0]}`,
  ]);
});

test("a refusal in place of an answer that finds no room says it", async (context) => {
  const listener = createListener(
    (_request, response) => response.writeHead(200, { "content-length": 100_000 }).end("x".repeat(100_000)),
    null,
    new LingeringSockets(1),
    new AnswerBudget({ key: 1, team: 1, thread: 1 }),
    true,
  );
  context.onTestFinished(() => void listener.close());
  await once(listener.listen(0, "127.0.0.1"), "listening");
  const { port } = listener.address() as AddressInfo;
  expect(await ask(port, "/", { connection: "close" })).toEqual([503, OURS]);
});
