import { BlockList, type LookupFunction, type Socket } from "node:net";
import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest";
import { createAddressGuard } from "../../../server/gateway/upstream/addresses.ts";
import { createUpstreamPools } from "../../../server/gateway/upstream/pools.ts";
import { until } from "../../env/until.ts";
import type { Harness } from "../harness.ts";
import { PROVIDER_KEY, routeOf, startGateway, upstreamOf } from "./gateway.ts";
import { rawUpstream } from "./raw-upstream.ts";
import { startUpstream, type Upstream } from "./upstream.ts";

let harness: Harness;
let upstream: Upstream;
beforeEach(async () => {
  harness = await startGateway();
  upstream = await startUpstream((response, { headers, connection }) =>
    response.end(JSON.stringify({ authorization: headers.authorization, connection })),
  );
});
afterEach(async () => {
  await harness.close();
  await upstream.close();
});

const ask = async (publicId: string, key: string, body: string | ReadableStream = "{}") => {
  const answer = await fetch(`${harness.url}/g/${publicId}/v1/embeddings`, {
    method: "POST",
    headers: { "x-api-key": key, "content-type": "application/json" },
    body,
    ...(body instanceof ReadableStream && { duplex: "half" }),
  });
  return { status: answer.status, body: await answer.text() };
};

const answerOf = (body: string) => `HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`;

test("b42: an upstream that speaks on an idle socket loses it, and its words reach no client", async () => {
  let idle: Socket | undefined;
  const malicious = await rawUpstream((socket, connection) => {
    idle = socket;
    socket.write(answerOf(`own ${connection}`));
  });
  const { publicId } = harness.addGateway({ upstreams: [upstreamOf(malicious.url)] });
  expect((await ask(publicId, harness.addKey())).body).toBe("own 1");
  idle?.write(answerOf("poison"));
  await until("the socket is closed", () => idle?.destroyed);
  expect((await ask(publicId, harness.addKey())).body).toBe("own 2");
  malicious.close();
});

test("b42: a second answer behind the first, in one write, reaches no client", async () => {
  const malicious = await rawUpstream((socket, connection) => {
    socket.write(answerOf(`own ${connection}`) + answerOf("poison"));
  });
  const { publicId } = harness.addGateway({ upstreams: [upstreamOf(malicious.url)] });
  for (let i = 1; i <= 20; i++) expect((await ask(publicId, harness.addKey())).body).toBe(`own ${i}`);
  malicious.close();
});

test("b42: an answer that is written while the next request is on its way is never that request's", async () => {
  let poisoned = 0;
  const malicious = await rawUpstream((socket) => {
    socket.write(answerOf("own"));
    // As soon as the answer is out, and so at every moment at which the next request may come.
    for (const later of [setImmediate, (write: () => void) => setTimeout(write, 1)]) {
      later(() => {
        if (!socket.destroyed) socket.write(answerOf("poison"));
      });
    }
  });
  const { publicId } = harness.addGateway({ upstreams: [upstreamOf(malicious.url)] });
  const key = harness.addKey();
  for (let i = 0; i < 100; i++) if ((await ask(publicId, key)).body === "poison") poisoned++;
  // An answer that arrives after its request was written cannot be distinguished from the request's own: the promise is that it
  // stays with the gateway whose upstream sent it. What comes before that is dropped.
  const other = harness.addGateway({ upstreams: [upstreamOf(upstream.url)] });
  expect((await ask(other.publicId, key)).body).not.toMatch("poison");
  expect(poisoned).toBeLessThan(100);
  malicious.close();
});

/** What an upstream does with each request: on a connection the first is 1, with the number of all of them. */
type Does = (socket: Socket, request: { readonly onSocket: number; readonly inAll: number }) => void;

async function upstreamThat(does: Does) {
  const onSockets = new WeakMap<Socket, number>();
  const seen = { requests: 0 };
  const server = await rawUpstream((socket) => {
    const onSocket = (onSockets.get(socket) ?? 0) + 1;
    onSockets.set(socket, onSocket);
    does(socket, { onSocket, inAll: ++seen.requests });
  });
  onTestFinished(() => {
    server.close();
  });
  const { publicId } = harness.addGateway({ upstreams: [upstreamOf(server.url)] });
  return { seen, publicId };
}

test.each<[string, (socket: Socket) => void]>([
  ["resets", (socket) => socket.resetAndDestroy()],
  ["closes", (socket) => socket.end()],
])(
  "b306: an upstream that %s a reused socket at the next request is asked once more, on a fresh one",
  async (_, end) => {
    const { seen, publicId } = await upstreamThat((socket, { onSocket, inAll }) => {
      if (onSocket === 1) socket.write(answerOf(`answer ${inAll}`));
      else end(socket);
    });
    const key = harness.addKey();
    const bodies: string[] = [];
    for (let i = 0; i < 4; i++) bodies.push((await ask(publicId, key)).body);
    expect(bodies).toEqual(["answer 1", "answer 3", "answer 4", "answer 6"]);
    expect(seen.requests).toBe(6);
    expect(harness.answered).toHaveLength(4);
  },
);

test("b306: a socket that is reset while it is idle costs the next call nothing", async () => {
  const { seen, publicId } = await upstreamThat((socket, { inAll }) => {
    socket.write(answerOf(`answer ${inAll}`), () => setImmediate(() => socket.resetAndDestroy()));
  });
  const key = harness.addKey();
  for (let i = 1; i <= 20; i++) expect((await ask(publicId, key)).status).toBe(200);
  expect(seen.requests).toBe(20);
});

test("b306: a call is asked for no third time, and a fresh socket's reset is the call's end", async () => {
  const { seen, publicId } = await upstreamThat((socket, { inAll }) => {
    if (inAll === 1) socket.write(answerOf("answer"));
    else socket.resetAndDestroy();
  });
  const key = harness.addKey();
  const statuses: number[] = [];
  const requests: number[] = [];
  for (let i = 0; i < 3; i++) {
    statuses.push((await ask(publicId, key)).status);
    requests.push(seen.requests);
  }
  expect([statuses, requests]).toEqual([
    [200, 502, 502],
    [1, 3, 4],
  ]);
});

test.each(["H", "HTTP/1.1 103 Early Hints\r\n\r\n", "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n"])(
  "b306: a call of whose answer %j came is not asked again",
  async (begun) => {
    const { seen, publicId } = await upstreamThat((socket, { onSocket }) => {
      if (onSocket === 1) socket.write(answerOf("answer"));
      else socket.write(begun, () => setTimeout(() => socket.resetAndDestroy(), 20));
    });
    const key = harness.addKey();
    expect((await ask(publicId, key)).status).toBe(200);
    await ask(publicId, key).catch(() => {});
    expect(seen.requests).toBe(2);
  },
);

/** Has the upstream reset each connection at its second request's head. */
function resetReused(): { heads: number } {
  const seen = { heads: 0 };
  const sockets = new WeakSet<Socket>();
  upstream.onHead(({ socket }) => {
    seen.heads += 1;
    if (sockets.has(socket)) socket.resetAndDestroy();
    sockets.add(socket);
  });
  return seen;
}

test("b306: a large body that was read for its model is sent once more, whole", async () => {
  const seen = resetReused();
  const { publicId } = harness.addGateway({ upstreams: [upstreamOf(upstream.url)], routes: [routeOf("fast")] });
  const key = harness.addKey();
  const body = JSON.stringify({ model: "fast", input: "x".repeat(3 << 20) });
  expect((await ask(publicId, key, body)).status).toBe(200);
  expect((await ask(publicId, key, body)).status).toBe(200);
  const sent = upstream.received.map((received) => received.body);
  expect(sent).toHaveLength(2);
  expect(sent[1]?.equals(sent[0] ?? Buffer.alloc(0))).toBe(true);
  expect(seen.heads).toBe(3);
});

test("b306: a body that passed as a stream cannot be sent again: its call is 502", async () => {
  const seen = resetReused();
  const { publicId } = harness.addGateway({ upstreams: [upstreamOf(upstream.url)] });
  const key = harness.addKey();
  expect((await ask(publicId, key)).status).toBe(200);
  const inChunks = new Blob(["{}"]).stream();
  const { status, body } = await ask(publicId, key, inChunks);
  expect([status, JSON.parse(body).error.code, seen.heads]).toEqual([502, "bad_gateway", 2]);
});

test("b306: a call whose key is revoked as its socket is reset is not asked again", async () => {
  const key = harness.addKey();
  const { seen, publicId } = await upstreamThat((socket, { onSocket }) => {
    if (onSocket === 1) socket.write(answerOf("answer"));
    else {
      harness.changeKey(key, { state: "revoked" });
      socket.resetAndDestroy();
    }
  });
  expect((await ask(publicId, key)).status).toBe(200);
  expect((await ask(publicId, key)).status).toBe(401);
  expect(seen.requests).toBe(2);
});

test("b42: two gateways never share a socket, nor do two credentials of one", async () => {
  const key = harness.addKey();
  const connections = new Set<unknown>();
  for (const credential of ["sk-credential-one", "sk-credential-two"]) {
    const { publicId } = harness.addGateway({ upstreams: [upstreamOf(upstream.url, "openai", { credential })] });
    expect((await ask(publicId, key)).status).toBe(200);
    const last = upstream.received.at(-1);
    expect(last?.headers.authorization).toBe(`Bearer ${credential}`);
    connections.add(last?.connection);
  }
  expect(connections.size).toBe(2);
});

test("one gateway's requests share a socket, one after the other", async () => {
  const key = harness.addKey();
  const { publicId } = harness.addGateway({ upstreams: [upstreamOf(upstream.url)] });
  for (let i = 0; i < 10; i++) expect((await ask(publicId, key)).status).toBe(200);
  expect(upstream.connections).toBe(1);
});

test("b44: upstreams whose names and addresses join to the same text are each reached as themselves", async () => {
  const other = await startUpstream((response) => response.end('"other"'));
  const key = harness.addKey();
  const one = harness.addGateway({
    gatewayId: "gw",
    publicId: "one",
    upstreams: [upstreamOf(upstream.url, "openai", { name: 'a","b' })],
  });
  const two = harness.addGateway({
    gatewayId: 'gw","a',
    publicId: "two",
    upstreams: [upstreamOf(other.url, "openai", { name: "b" })],
  });
  const answers = await Promise.all(
    Array.from({ length: 40 }, (_, i) => ask(i % 2 === 0 ? one.publicId : two.publicId, key)),
  );
  expect(answers.map(({ body }, i) => (i % 2 === 0) === body.includes("authorization"))).toEqual(Array(40).fill(true));
  await other.close();
});

test("unused pools are closed, and opened again with the next call", async () => {
  const allowed = new BlockList();
  allowed.addSubnet("127.0.0.0", 8, "ipv4");
  let now = 0;
  const pools = createUpstreamPools(createAddressGuard(allowed), () => now);
  const record = { ...upstreamOf(upstream.url), credential: PROVIDER_KEY };
  const { pool } = pools.poolOf("gw", record, "team");
  expect(pools.poolOf("gw", { ...record }, "team").pool).toBe(pool);
  now = 6 * 60_000;
  pools.closeIdle();
  expect([pools.size, pool.closed]).toEqual([0, true]);
  expect(pools.poolOf("gw", record, "team").pool).not.toBe(pool);
  await pools.close();
});

test("b101: the name servers of one team's upstreams that answer nothing hold up no other team's connections", async () => {
  const allowed = new BlockList();
  allowed.addSubnet("127.0.0.0", 8, "ipv4");
  const { allows, lookup: resolve } = createAddressGuard(allowed);
  /** As Node does: two look-ups at once, the others behind them. */
  let free = 2;
  const lookup: LookupFunction = (name, options, callback) => {
    if (free === 0) return;
    free -= 1;
    if (name.endsWith(".invalid")) return;
    resolve("localhost", options, (...found) => {
      free += 1;
      callback(...found);
    });
  };
  const pools = createUpstreamPools({ allows, lookup }, () => performance.now());
  onTestFinished(() => pools.close());
  const { port } = new URL(upstream.url);
  const poolFor = (team: string, name: string) => {
    const record = { ...upstreamOf(`http://${name}:${port}`), credential: PROVIDER_KEY };
    return pools.poolOf(`the gateway ${name}`, record, team).pool;
  };
  for (const name of ["a.invalid", "b.invalid", "c.invalid"]) {
    poolFor("the slow team", name)
      .request({ method: "GET", path: "/" })
      .catch(() => {});
  }
  for (const name of ["d.localhost", "e.localhost"]) {
    const { statusCode, body } = await poolFor("another team", name).request({ method: "GET", path: "/" });
    await body.dump();
    expect(statusCode).toBe(200);
  }
});

/** A timer before each request, or an acknowledgement that is waited for, takes this and more. */
const LEAST_WAIT_MS = 40;

test("the next request on a connection waits for nothing: the quickest of many takes less than any timer", async () => {
  const key = harness.addKey();
  const { publicId } = harness.addGateway({ upstreams: [upstreamOf(upstream.url)] });
  const took: number[] = [];
  for (let i = 0; i < 60; i++) {
    const start = performance.now();
    await ask(publicId, key);
    took.push(performance.now() - start);
  }
  expect(Math.min(...took.slice(1))).toBeLessThan(LEAST_WAIT_MS);
});
