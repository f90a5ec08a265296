import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createSecureServer } from "node:https";
import { setImmediate as turn } from "node:timers/promises";
import { array, assert, asyncProperty, integer } from "fast-check";
import { Client } from "undici";
import { expect, test } from "vitest";
import {
  BodyCopies,
  LARGE_BODY,
  ReceivedBody,
  releaseLargeBody,
} from "../../../../server/http/bodies/received-body.ts";
import { makeCertificate } from "../../../env/certificate.ts";
import { examples } from "../../../env/nightly.ts";

const MIB = 1024 * 1024;

async function receive(pieces: readonly Buffer[]): Promise<Buffer> {
  const received = new ReceivedBody();
  for (const piece of pieces) received.add(Buffer.from(piece));
  expect(received.size).toBe(pieces.reduce((size, { length }) => size + length, 0));
  return received.joined();
}

test("b83: a body in any pieces is the same body, whatever was in its memory before", async () => {
  const lengths = array(integer({ min: 0, max: 3 * MIB }), { maxLength: 5 });
  await assert(
    asyncProperty(lengths, async (made) => {
      const pieces = made.map((length) => randomBytes(length));
      const body = await receive(pieces);
      expect(body.equals(Buffer.concat(pieces))).toBe(true);
      releaseLargeBody(body);
    }),
    {
      numRuns: examples(8),
      examples: [[[LARGE_BODY - 1]], [[LARGE_BODY]], [[LARGE_BODY - 1, 1]], [[MIB, MIB, MIB, MIB]]],
    },
  );
});

test("b83: the pieces of a large body are freed as they come, and its own memory is another's once it is released", async () => {
  const received = new ReceivedBody();
  const pieces = Array.from({ length: 80 }, () => Buffer.allocUnsafeSlow(64 * 1024).fill("a"));
  for (const piece of pieces) received.add(piece);
  expect(pieces.filter(({ length }) => length > 0).length).toBeLessThan(LARGE_BODY / (64 * 1024));
  const first = await received.joined();
  const second = await receive([Buffer.alloc(5 * MIB, "b")]);
  expect(second.buffer).not.toBe(first.buffer);
  releaseLargeBody(first);
  releaseLargeBody(first);
  const third = await receive([Buffer.alloc(4 * MIB, "c")]);
  expect(third.buffer).toBe(first.buffer);
  const fourth = await receive([Buffer.alloc(4 * MIB, "d")]);
  expect(fourth.buffer).not.toBe(third.buffer);
  expect([second, third, fourth].map((body) => new Set(body).size)).toEqual([1, 1, 1]);
  for (const body of [second, third, fourth]) releaseLargeBody(body);
});

test("b83: a large body is copied together in slices, other work between them", async () => {
  const piece = randomBytes(100_000);
  let iterations = 0;
  const iteration = () => {
    iterations += 1;
    next = setImmediate(iteration);
  };
  let next = setImmediate(iteration);
  const joined = await receive(Array.from({ length: 80 }, () => piece));
  clearImmediate(next);
  expect(joined.equals(Buffer.concat(Array.from({ length: 80 }, () => piece)))).toBe(true);
  expect(iterations).toBeGreaterThanOrEqual(6);
});

test("b83: what a socket is given of a large body are copies in one buffer, and none once it is released", async () => {
  const body = await receive([randomBytes(2 * MIB)]);
  const copies: Buffer[] = [];
  const buffers = new Set<ArrayBufferLike>();
  for await (const copy of new BodyCopies([body], () => false)) {
    copies.push(Buffer.from(copy));
    buffers.add(copy.buffer);
  }
  expect(Buffer.concat(copies).equals(body)).toBe(true);
  expect(buffers.size).toBe(1);
  expect(buffers.has(body.buffer)).toBe(false);
  let isReleased = false;
  const cut = new BodyCopies([body], () => isReleased);
  const taken: number[] = [];
  for await (const copy of cut) {
    taken.push(copy.length);
    isReleased = true;
  }
  expect(taken).toHaveLength(1);
});

test.each(["http", "https"])(
  "b83: an upstream that reads slowly has each byte of a large body over %s, whatever it is made of",
  async (scheme) => {
    const received = createHash("sha256");
    const readSlowly = async (request: IncomingMessage, response: ServerResponse) => {
      for await (const chunk of request) {
        received.update(chunk);
        await turn();
      }
      response.end();
    };
    const { cert, key } = makeCertificate();
    const upstream = scheme === "http" ? createServer(readSlowly) : createSecureServer({ cert, key }, readSlowly);
    upstream.listen(0, "127.0.0.1");
    await once(upstream, "listening");
    const address = upstream.address();
    const port = typeof address === "object" ? address?.port : undefined;
    const whole = randomBytes(9 * MIB);
    const parts = [0, 70_000, 70_003, 300_000, 5 * MIB].map((from, i, all) => whole.subarray(from, all[i + 1]));
    const client = new Client(`${scheme}://127.0.0.1:${port}`, { connect: { ca: cert } });
    const headers = { "content-length": `${whole.length}` };
    const { body } = await client.request({
      ...{ path: "/", method: "POST", headers },
      body: new BodyCopies(parts, () => false),
    });
    await body.dump();
    await client.close();
    upstream.close();
    expect(received.digest("hex")).toBe(createHash("sha256").update(whole).digest("hex"));
  },
);
