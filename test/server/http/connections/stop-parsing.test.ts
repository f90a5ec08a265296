import { once } from "node:events";
import { type AddressInfo, connect as connectPlain, type Socket } from "node:net";
import { connect } from "node:tls";
import { describe, expect, test } from "vitest";
import { AnswerBudget, answerLimits } from "../../../../server/http/answers/answer-budget.ts";
import { createListener } from "../../../../server/http/connections/listener.ts";
import { LingeringSockets } from "../../../../server/http/connections/refused-request.ts";
import { makeCertificate } from "../../../env/certificate.ts";
import { requestHead } from "../../raw-http.ts";

const CHUNKS = 10_000;
/** A body that comes with its head in one read, and its end. */
const TINY_CHUNKS = `${"1\r\nx\r\n".repeat(CHUNKS)}0\r\n\r\n`;
const CHUNKED = "Transfer-Encoding: chunked";

type Route = Parameters<typeof createListener>[0];

const refuse: Route = (_request, response) => response.writeHead(401, { "content-length": 2 }).end("no");
const count: Route = (request, response) => {
  let bytes = 0;
  request.on("data", (piece: Buffer) => {
    bytes += piece.length;
  });
  request.on("end", () => response.end(`${bytes} bytes`));
};
/** Answers while the body comes, as a gateway does. */
const answerEarly: Route = (request, response) => {
  response.writeHead(200);
  count(request, response);
};

/** Sends text to a listener, and gives what came back and how many pieces of bodies its parsers have handed out. */
async function send(route: Route, text: string, overTls = false): Promise<{ answer: string; pieces: number }> {
  const { cert, key } = makeCertificate();
  const tls = overTls ? { cert: Buffer.from(cert), key: Buffer.from(key) } : null;
  const listener = createListener(route, tls, new LingeringSockets(8), new AnswerBudget(answerLimits(1)));
  let pieces = 0;
  listener.on(overTls ? "secureConnection" : "connection", (socket: Socket) => {
    countPieces(socket, () => pieces++);
  });
  await once(listener.listen(0, "127.0.0.1"), "listening");
  const { port } = listener.address() as AddressInfo;
  const caller = overTls
    ? connect({ host: "127.0.0.1", port, ca: cert, checkServerIdentity: () => undefined })
    : connectPlain(port, "127.0.0.1");
  let answer = "";
  caller.on("data", (piece: Buffer) => {
    answer += piece.toString("latin1");
  });
  caller.write(text);
  await once(caller, "close");
  await new Promise((resolve) => listener.close(resolve));
  return { answer, pieces };
}

/** Node's parser calls one of its numbered members with each piece of a body. */
function countPieces(socket: Socket, onPiece: () => void): void {
  const parser: unknown = Reflect.get(socket, "parser");
  if (typeof parser !== "object" || parser === null) throw new Error("the connection has no parser");
  const [place, onBody] =
    Object.entries(parser).find(([, member]) => typeof member === "function" && member.name === "parserOnBody") ?? [];
  if (place === undefined) throw new Error("the parser has no callback for bodies");
  Reflect.set(parser, Number(place), function (this: unknown, ...piece: unknown[]) {
    onPiece();
    return Reflect.apply(onBody, this, piece);
  });
  // Node gives a parser to one connection after the other.
  socket.once("close", () => Reflect.set(parser, Number(place), onBody));
}

const POST = requestHead("POST / HTTP/1.1", [CHUNKED]);
const LAST = requestHead("POST / HTTP/1.1", ["Content-Length: 3", "Connection: close"]);

describe("b111: what comes with the head of a request that is refused by it", () => {
  test.each([
    ["in the clear", false],
    ["over TLS", true],
  ])("is not parsed, %s", async (_name, overTls) => {
    const { answer, pieces } = await send(refuse, POST + TINY_CHUNKS, overTls);
    expect(answer).toMatch(/^HTTP\/1\.1 401 [\s\S]*connection: close[\s\S]*\r\n\r\nno$/i);
    // Over TLS a record ends at 16 KiB, and the next one comes in a turn of its own.
    expect(pieces).toBe(0);
  });

  test("is no further request", async () => {
    const { answer } = await send(refuse, POST + TINY_CHUNKS + LAST);
    expect(answer.match(/HTTP\/1\.1/g)).toHaveLength(1);
  });

  test("is read to its end where the request is taken, or answered while it comes", async () => {
    for (const route of [count, answerEarly]) {
      const { answer } = await send(route, `${POST}${TINY_CHUNKS}${route === count ? `${LAST}abc` : ""}`);
      expect(answer).toContain(`${CHUNKS} bytes`);
      if (route === count) expect(answer).toMatch(/\b3 bytes$/);
    }
  });

  test("goes on being read where it is small, for the next request of the connection", async () => {
    const { answer } = await send(refuse, `${requestHead("POST / HTTP/1.1", ["Content-Length: 3"])}abc${LAST}abc`);
    expect(answer.match(/HTTP\/1\.1 401/g)).toHaveLength(2);
  });
});
