import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { connect } from "node:tls";
import { afterEach, describe, expect, test } from "vitest";
import { AnswerBudget, type AnswerLimits, GRACE_TICKS } from "../../../../server/http/answers/answer-budget.ts";
import { PacedResponse, PIECE, reserveAnswer } from "../../../../server/http/answers/paced-response.ts";
import { createListener, type TlsFiles } from "../../../../server/http/connections/listener.ts";
import { PipeliningLimit, type Route } from "../../../../server/http/connections/pipelining-limit.ts";
import { LingeringSockets } from "../../../../server/http/connections/refused-request.ts";
import { makeCertificate } from "../../../env/certificate.ts";
import { until } from "../../../env/until.ts";
import { requestHead, sendRaw } from "../../raw-http.ts";
import { answers, openCaller, statusesOf } from "../sockets.ts";

const MIB = 1 << 20;
/** More than a connection holds at both ends. */
const LARGE = 16 * MIB;
const KEY = {
  access: { key: { keyId: "key_1", teamId: "team_1" } },
  managementPrincipal: null,
  managementTeamId: null,
};

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** A listener that answers `/N` with N bytes, as the key of `KEY`; and what its answers hold. */
async function start(limits: Partial<AnswerLimits> = {}, tls: TlsFiles | null = null, route: Route = bytes) {
  const budget = new AnswerBudget({ key: 2 * LARGE, team: 2 * LARGE, thread: 2 * LARGE, ...limits });
  const lingering = new LingeringSockets(1);
  const oneAtATime = new PipeliningLimit(lingering).guard((request, response) => {
    if (response instanceof PacedResponse) response.asker = KEY;
    route(request, response);
  });
  const server = createListener(oneAtATime, tls, lingering, budget).listen(0, "127.0.0.1");
  await once(server, "listening");
  closers.push(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await until("nothing is held", () => budget.figures().heldBytes === 0);
  });
  const { port } = server.address() as AddressInfo;
  return { budget: budget, server, port, url: `http://127.0.0.1:${port}` };
}

const bytes: Route = ({ url = "" }, response) => {
  const length = Number(url.slice(1));
  response.writeHead(200, { "content-length": length, "content-type": "text/plain" });
  response.end("x".repeat(length));
};

/** Asks for a large answer, and reads nothing of it: resolves once its pieces no longer leave. */
async function readNothing(port: number, budget: AnswerBudget, requests = requestHead(`GET /${LARGE} HTTP/1.1`)) {
  const caller = openCaller(port);
  const before = budget.figures().heldBytes;
  caller.socket.pause();
  caller.socket.write(requests);
  let last = -1;
  let same = 0;
  await until("the pieces no longer leave", () => {
    const held = budget.figures().heldBytes - before;
    same = held > 0 && held === last ? same + 1 : 0;
    last = held;
    return same > 10;
  });
  return caller;
}

const tick = (budget: AnswerBudget, times: number) => {
  for (let n = 0; n < times; n++) budget.tick();
};

describe("b109: an answer", () => {
  test.each([0, 1, PIECE - 1, PIECE, PIECE + 1, 3 * PIECE, LARGE])(
    "b109: of %d bytes comes whole, and the connection goes on",
    async (length) => {
      const { budget, port } = await start();
      const caller = openCaller(port);
      const ask = requestHead(`GET /${length} HTTP/1.1`);
      caller.socket.write(ask + ask + requestHead("GET /7 HTTP/1.1", ["Connection: close"]));
      await answers(caller, 3);
      await until("all has come", () => caller.state() !== "open");
      const bodies = caller
        .text()
        .split(/HTTP\/1\.1 200 OK[\s\S]*?\r\n\r\n/)
        .slice(1);
      expect(bodies.map((body) => body.length)).toEqual([length, length, 7]);
      expect(bodies.every((body) => /^x*$/.test(body))).toBe(true);
      expect(budget.figures()).toEqual({ heldBytes: 0, refused: 0, cut: 0 });
    },
  );

  test("b109: of a text beyond ASCII is as long as its head says", async () => {
    const text = "é漢🔑".repeat(100_000);
    const { url } = await start({}, null, (_request, response) => {
      response.writeHead(200, { "content-length": Buffer.byteLength(text) }).end(text);
    });
    expect(await (await fetch(url)).text()).toBe(text);
  });

  test("b109: has no body where HEAD asked for it, and takes no room", async () => {
    const { port, budget } = await start();
    const answer = await sendRaw(port, requestHead(`HEAD /${3 * LARGE} HTTP/1.1`));
    expect([answer.status, answer.body]).toEqual([200, ""]);
    expect(budget.figures()).toEqual({ heldBytes: 0, refused: 0, cut: 0 });
  });

  test("b109: that is not read holds what has not left, until another wants its room, and then is cut short", async () => {
    const { budget, port, url } = await start();
    const caller = await readNothing(port, budget);
    const { heldBytes } = budget.figures();
    expect(heldBytes).toBeGreaterThan(MIB);
    expect(heldBytes).toBeLessThan(LARGE);
    const wanted = 2 * LARGE - heldBytes + 1;
    expect((await fetch(`${url}/${wanted}`)).status).toBe(429);
    expect(caller.state()).toBe("open");
    tick(budget, GRACE_TICKS);
    const answer = await fetch(`${url}/${wanted}`);
    expect((await answer.arrayBuffer()).byteLength).toBe(wanted);
    caller.socket.resume();
    await until("the connection is reset", () => caller.state() === "reset");
    expect(caller.text().length).toBeLessThan(LARGE);
    expect(budget.figures()).toMatchObject({ refused: 1, cut: 1 });
  });

  test("b109: that is read goes on, however long it takes", async () => {
    const { budget, port } = await start({ thread: LARGE });
    const caller = await readNothing(port, budget);
    const from = budget.figures().heldBytes;
    caller.socket.resume();
    await until("pieces leave again", () => budget.figures().heldBytes < from);
    caller.socket.pause();
    tick(budget, GRACE_TICKS - 1);
    caller.socket.resume();
    await until("all has come", () => caller.text().length > LARGE);
    await until("nothing is held", () => budget.figures().heldBytes === 0);
    expect(budget.figures().cut).toBe(0);
  });

  test("b109: is cut behind others on its connection, and at its last piece, and over TLS", async () => {
    const { budget, port } = await start();
    const ask = requestHead(`GET /${LARGE} HTTP/1.1`, ["Connection: close"]);
    const callers = [
      await readNothing(port, budget, requestHead(`GET /${LARGE} HTTP/1.1`).repeat(3)),
      await readNothing(port, budget, ask),
    ];
    tick(budget, 600);
    expect(budget.figures()).toMatchObject({ heldBytes: 0, cut: 2 });
    for (const caller of callers) {
      caller.socket.resume();
      await until("the connection is reset", () => caller.state() === "reset");
    }

    const { cert, key } = makeCertificate();
    const overTls = await start({}, { cert: Buffer.from(cert), key: Buffer.from(key) });
    const secure = connect({ port: overTls.port, host: "127.0.0.1", rejectUnauthorized: false }).pause();
    const ended = new Promise((resolve) => secure.on("error", resolve));
    secure.write(requestHead(`GET /${LARGE} HTTP/1.1`));
    await until("it holds", () => overTls.budget.figures().heldBytes > MIB);
    tick(overTls.budget, 600);
    expect(overTls.budget.figures()).toMatchObject({ heldBytes: 0, cut: 1 });
    secure.resume();
    expect(await ended).toMatchObject({ code: "ECONNRESET" });
  });

  test("b109: that finds no room is refused with what to do, and one that changed something is cut", async () => {
    const { url, port } = await start({ key: MIB });
    const refused = await fetch(`${url}/${MIB + 1}`);
    expect(refused.status).toBe(429);
    expect(refused.headers.get("retry-after")).toBe("1");
    expect(refused.headers.get("content-type")).toBe("application/problem+json");
    expect(await refused.json()).toMatchObject({
      code: "rate_limited",
      detail: expect.stringContaining("unread answers"),
    });
    expect((await sendRaw(port, requestHead(`DELETE /${MIB + 1} HTTP/1.1`))).text).toBe("");
    expect((await fetch(`${url}/${MIB}`)).status).toBe(200);
  });

  test("b109: has its room before it is made, and holds what it is once it is sent", async () => {
    const seen: number[] = [];
    const { url, budget } = await start({ key: 3 * MIB }, null, (_request, response) => {
      expect(reserveAnswer(response)).toBeUndefined();
      seen.push(budget.figures().heldBytes);
      response.writeHead(200, { "content-length": 5 });
      seen.push(budget.figures().heldBytes);
      response.end("small");
    });
    expect(await (await fetch(url)).text()).toBe("small");
    expect(seen).toEqual([MIB, 5]);
  });

  test("b109: of a text that is kept for all holds a piece, however large it is", async () => {
    const text = Buffer.alloc(LARGE, "x");
    const { port, budget } = await start(
      { team: 2 * PIECE, thread: 2 * PIECE, key: 2 * PIECE },
      null,
      (_request, response) => {
        if (response instanceof PacedResponse) response.isShared = true;
        response.writeHead(200, { "content-length": LARGE }).end(text);
      },
    );
    const callers = [await readNothing(port, budget), await readNothing(port, budget)];
    expect(budget.figures().heldBytes).toBe(2 * PIECE);
    expect((await sendRaw(port, requestHead("GET / HTTP/1.1"))).status).toBe(429);
    callers[0]?.socket.resume();
    await until("it has all", () => (callers[0]?.text().length ?? 0) > LARGE);
    await until("a piece is held", () => budget.figures().heldBytes === PIECE);
    callers[1]?.socket.destroy();
  });

  test("b109: of a stream is its reader's while a piece is out, and its source's otherwise", async () => {
    let written = 0;
    const { port, budget } = await start({}, null, (_request, response) => {
      reserveAnswer(response);
      response.writeHead(200);
      const write = () => {
        while (written < LARGE) {
          written += PIECE;
          if (!response.write(Buffer.alloc(PIECE, "x"))) return response.once("drain", write);
        }
        return undefined;
      };
      write();
    });
    const caller = await readNothing(port, budget);
    expect(budget.figures().heldBytes).toBe(MIB);
    caller.socket.resume();
    await until("all that there is has come", () => written >= LARGE && caller.text().length > LARGE);
    tick(budget, 600);
    expect(budget.figures()).toMatchObject({ heldBytes: MIB, cut: 0 });
    caller.socket.destroy();
    await until("nothing is held", () => budget.figures().heldBytes === 0);

    written = 0;
    const unread = await readNothing(port, budget);
    tick(budget, 600);
    expect(budget.figures()).toMatchObject({ heldBytes: 0, cut: 1 });
    unread.socket.resume();
    await until("the connection is reset", () => unread.state() === "reset");
  });

  test("b109: of a stream whose piece is larger than what was taken takes more, and is cut where there is none", async () => {
    const { port, budget } = await start({ key: 2 * MIB }, null, (_request, response) => {
      reserveAnswer(response);
      response.writeHead(200);
      response.write(Buffer.alloc(2 * MIB, "x"), () => {
        expect(budget.figures().heldBytes).toBe(2 * MIB);
        response.write(Buffer.alloc(2 * MIB + 1, "y"));
      });
    });
    const caller = openCaller(port);
    caller.socket.write(requestHead("GET / HTTP/1.1"));
    await until("the connection is reset", () => caller.state() === "reset");
    expect(caller.text()).toMatch(/x$/);
    await until("nothing is held", () => budget.figures().heldBytes === 0);
  });

  test("b109: that is asked for when its caller has left takes no room", async () => {
    const left = Promise.withResolvers<void>();
    const { port, budget } = await start({}, null, (_request, response) => {
      response.once("close", () => {
        expect(reserveAnswer(response)).toBeUndefined();
        left.resolve();
      });
      response.flushHeaders();
    });
    const caller = openCaller(port);
    caller.socket.write(requestHead("GET / HTTP/1.1"));
    await answers(caller, 1);
    caller.socket.destroy();
    await left.promise;
    expect(budget.figures().heldBytes).toBe(0);
  });

  test("b109: whose caller leaves at any moment gives all back", async () => {
    const { port, budget } = await start({ key: 100 * LARGE, team: 100 * LARGE, thread: 100 * LARGE });
    const ask = requestHead(`GET /${MIB} HTTP/1.1`);
    await Promise.all(
      Array.from({ length: 60 }, async (_, n) => {
        const caller = openCaller(port);
        if (n % 3 === 0) caller.socket.pause();
        caller.socket.write(ask.repeat(1 + (n % 4)));
        if (n % 3 > 0) await until("so much has come", () => caller.text().length > n * 17_000);
        if (n % 2 === 0) caller.socket.destroy();
        else caller.socket.resetAndDestroy();
      }),
    );
    await until("nothing is held", () => budget.figures().heldBytes === 0);
  });

  test("b109: that is under way as its server stops is sent to its end", async () => {
    const { port, budget, server } = await start();
    const caller = await readNothing(port, budget);
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeIdleConnections();
    caller.socket.resume();
    await until("all has come", () => caller.text().length > LARGE);
    expect(statusesOf(caller)).toEqual([200]);
    caller.socket.destroy();
    await closed;
  });
});
