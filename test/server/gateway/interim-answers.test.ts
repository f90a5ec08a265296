import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { createServer, type Server, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { setImmediate } from "node:timers/promises";
import { createServer as createTlsServer } from "node:tls";
import { buildConnector, Client } from "undici";
import { afterEach, beforeEach, expect, test } from "vitest";
import { passOverContinue } from "../../../server/gateway/upstream/continue-answers.ts";
import { watchReuse } from "../../../server/gateway/upstream/reused-socket.ts";
import { makeCertificate } from "../../env/certificate.ts";
import type { Harness } from "../harness.ts";
import { startGateway, upstreamOf } from "./gateway.ts";

let harness: Harness;
let key: string;
const ends: Server[] = [];

beforeEach(async () => {
  harness = await startGateway();
  key = harness.addKey();
});
afterEach(async () => {
  await harness.close();
  for (const server of ends.splice(0)) server.close();
});

/** Calls back for each request that has come whole: one whose body is `{}`. */
function answering(answer: (socket: Socket) => unknown) {
  return (socket: Socket): void => {
    let request = "";
    socket.on("error", () => {});
    socket.on("data", (piece) => {
      request += piece.toString("latin1");
      if (!request.endsWith("\r\n\r\n{}")) return;
      request = "";
      answer(socket);
    });
  };
}

/** A gateway whose upstream answers each request so, and how often it was connected to. */
async function gatewayOf(answer: (socket: Socket) => unknown) {
  let connections = 0;
  const server = createServer(answering(answer)).on("connection", () => void connections++);
  return { publicId: await gatewayTo(server), connections: () => connections };
}

async function gatewayTo(server: Server): Promise<string> {
  const port = await listen(server);
  return harness.addGateway({ upstreams: [upstreamOf(`http://127.0.0.1:${port}`)] }).publicId;
}

async function listen(server: Server): Promise<number> {
  ends.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return portOf(server);
}

function portOf(server: Server): number {
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("no port");
  return address.port;
}

const ask = (publicId: string): Promise<Response> =>
  fetch(`${harness.url}/g/${publicId}/v1/embeddings`, { method: "POST", headers: { "x-api-key": key }, body: "{}" });

/** Sends each piece in a packet of its own. */
async function send(socket: Socket, pieces: Iterable<string>): Promise<void> {
  for (const piece of pieces) {
    await new Promise((sent) => socket.write(piece, "latin1", sent));
    await setImmediate();
  }
}

const CONTINUE = "HTTP/1.1 100 Continue\r\n\r\n";
const PROCESSING = "HTTP/1.1 102 Processing\r\n\r\n";
const HINTS = "HTTP/1.1 103 Early Hints\r\nlink: </a>; rel=preload\r\nx-canary: 1\r\n\r\n";
const NAMED = "HTTP/1.1 100 Continue\r\nx-canary: HTTP/1.1 200\r\ncontent-length: 5\r\n\r\n";
/** What looks like an interim answer within a body is the body's. */
const BODY = `${CONTINUE}{"x":"HTTP/1.1 100"}`;
const FINAL = `HTTP/1.1 200 OK\r\nx-final: yes\r\ncontent-length: ${BODY.length}\r\n\r\n`;

test.each<[string, readonly string[]]>([
  ["100 in the answer's packet", [`${CONTINUE}${FINAL}${BODY}`]],
  ["100 in a packet of its own", [CONTINUE, FINAL, BODY]],
  ["100 several times", [CONTINUE.repeat(3), CONTINUE, `${FINAL}${BODY}`]],
  ["102", [PROCESSING, FINAL, BODY]],
  ["103 with headers", [HINTS, FINAL, BODY]],
  ["100 with headers", [NAMED, NAMED + FINAL, BODY]],
  ["100 without a reason", ["HTTP/1.1 100\r\n\r\n", FINAL, BODY]],
  ["100 behind empty lines", ["\r\n\r", `\n${CONTINUE}\r\n${CONTINUE}`, FINAL, BODY]],
  ["all of them, mixed", [HINTS, CONTINUE + PROCESSING, NAMED + HINTS + CONTINUE, FINAL, BODY]],
  ["100 byte by byte", [...`${HINTS}${CONTINUE}${NAMED}${PROCESSING}${CONTINUE}${FINAL}${BODY}`]],
])("b115: %s, unasked, is passed over, on each request of a connection", async (_what, pieces) => {
  const { publicId, connections } = await gatewayOf((socket) => send(socket, pieces));
  for (let i = 0; i < 3; i++) {
    const answer = await ask(publicId);
    const { headers } = answer;
    expect([answer.status, headers.get("x-final"), headers.get("x-canary")]).toEqual([200, "yes", null]);
    expect(await answer.text()).toBe(BODY);
  }
  expect(connections()).toBe(1);
});

test("b115: a stream of events comes whole behind interim answers, whatever its pieces begin with", async () => {
  const head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
  const events = [CONTINUE, HINTS, `data: 1\n\n`, CONTINUE];
  const { publicId } = await gatewayOf((socket) => {
    const chunks = events.flatMap((event) => [`${event.length.toString(16)}\r\n`, event, "\r\n"]);
    return send(socket, [CONTINUE, HINTS, head, ...chunks, "0\r\n\r\n"]);
  });
  for (let i = 0; i < 2; i++) expect(await (await ask(publicId)).text()).toBe(events.join(""));
});

test("b115: an answer that comes while its request is still sent stays as it is", async () => {
  const head = FINAL.replace("x-final: yes", "content-type: text/event-stream");
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.on("data", (piece) => {
      if (piece.includes("first")) void send(socket, [CONTINUE, head]);
      if (piece.includes("POST second")) void send(socket, [CONTINUE, BODY.slice(CONTINUE.length)]);
    });
  });
  const publicId = await gatewayTo(server);
  const path = `/g/${publicId}/v1/embeddings`;
  const call = request({ port: harness.port, path, method: "POST", headers: { "x-api-key": key } });
  call.write("first");
  const [answer]: IncomingMessage[] = await once(call, "response");
  call.write("POST second");
  if (answer === undefined) throw new Error("no answer");
  expect([answer.statusCode, await text(answer)]).toEqual([200, BODY]);
  call.destroy();
});

test.each([
  ["100", CONTINUE],
  ["102", PROCESSING],
])("b115: an upstream that sends %s without an end is 502 at once", async (_what, interim) => {
  let sent = 0;
  const { publicId } = await gatewayOf((socket) => {
    const more = (): void => {
      if (socket.destroyed || sent > 1 << 26) return;
      sent += 1_000;
      socket.write(interim.repeat(1_000), more);
    };
    more();
  });
  expect((await ask(publicId)).status).toBe(502);
  expect(sent).toBeLessThan(1 << 20);
});

test.each([
  ["101 that no request asked for", "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n"],
  ["100 and an end", CONTINUE],
  ["a line that only looks like it", "HTTP/1.1 1000 Continue\r\n\r\n"],
])("b115: %s is 502", async (_what, bytes) => {
  const { publicId } = await gatewayOf((socket) => socket.end(bytes));
  expect((await ask(publicId)).status).toBe(502);
});

test("b115: an interim answer that comes over TLS is passed over as well", async () => {
  const { cert, key: tlsKey } = makeCertificate();
  const server = createTlsServer(
    { cert, key: tlsKey },
    answering((socket) => send(socket, [CONTINUE, FINAL, BODY])),
  );
  const port = await listen(server);
  const connect = buildConnector({ rejectUnauthorized: false, allowH2: false });
  const client = new Client(`https://localhost:${port}`, {
    allowH2: false,
    connect: (options, done) =>
      connect(options, (error, socket) => {
        if (error !== null) return done(error, null);
        passOverContinue(socket, watchReuse(socket));
        done(null, socket);
      }),
  });
  for (let i = 0; i < 2; i++) {
    const answer = await client.request({ method: "POST", path: "/", body: "{}" });
    expect([answer.statusCode, await answer.body.text()]).toEqual([200, BODY]);
  }
  await client.close();
});
