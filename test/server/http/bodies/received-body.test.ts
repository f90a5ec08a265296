import { randomBytes } from "node:crypto";
import { array, assert, asyncProperty, integer } from "fast-check";
import { expect, test } from "vitest";
import { copiesOf, LARGE_BODY, ReceivedBody, releaseLargeBody } from "../../../../server/http/bodies/received-body.ts";

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
    { numRuns: 20, examples: [[[LARGE_BODY - 1]], [[LARGE_BODY]], [[LARGE_BODY - 1, 1]], [[MIB, MIB, MIB, MIB]]] },
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
  let turns = 0;
  const turn = () => {
    turns += 1;
    next = setImmediate(turn);
  };
  let next = setImmediate(turn);
  const joined = await receive(Array.from({ length: 80 }, () => piece));
  clearImmediate(next);
  expect(joined.equals(Buffer.concat(Array.from({ length: 80 }, () => piece)))).toBe(true);
  expect(turns).toBeGreaterThanOrEqual(6);
});

test("b83: what a socket is given of a large body are copies, and none once it is released", async () => {
  const body = await receive([randomBytes(2 * MIB)]);
  const copies = [...copiesOf([body.subarray(0, 70_000), body.subarray(70_000)], () => false)];
  expect(Buffer.concat(copies).equals(body)).toBe(true);
  expect(copies.some(({ buffer }) => buffer === body.buffer)).toBe(false);
  let isReleased = false;
  const cut = copiesOf([body], () => isReleased);
  expect(cut.next().done).toBe(false);
  isReleased = true;
  expect(cut.next().done).toBe(true);
});
