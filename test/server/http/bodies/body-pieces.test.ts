import { array, assert, nat, property, uint8Array } from "fast-check";
import { expect, test } from "vitest";
import { BodyPieces } from "../../../../server/http/bodies/body-pieces.ts";

test("b83: a body in any pieces is the same body", () => {
  const piece = uint8Array({ maxLength: 50 }).chain((bytes) => nat(200).map((times) => [bytes, times] as const));
  assert(
    property(array(piece), (made) => {
      const pieces = new BodyPieces();
      const all = made.map(([bytes, times]) => Buffer.concat(Array.from({ length: times }, () => bytes)));
      for (const each of all) pieces.add(each);
      expect(pieces.size).toBe(Buffer.concat(all).length);
      expect(pieces.whole().equals(Buffer.concat(all))).toBe(true);
    }),
  );
});

test("b83: a body in one piece is that piece, and none is empty", () => {
  const pieces = new BodyPieces();
  expect(pieces.whole()).toHaveLength(0);
  const piece = Buffer.from("{}");
  pieces.add(piece);
  expect(pieces.whole()).toBe(piece);
});

test("b83: a megabyte in pieces of one byte, or of these and larger ones in turn, is held in few buffers", () => {
  const bytes = 1 << 20;
  const tiny = new BodyPieces();
  const one = Buffer.from("x");
  for (let i = 0; i < bytes; i += 1) tiny.add(one);
  expect(tiny.buffers).toBeLessThan(100);
  const mixed = new BodyPieces();
  const large = Buffer.alloc(2_048);
  for (let i = 0; i < bytes; i += 2_049) for (const piece of [one, large]) mixed.add(piece);
  expect(mixed.buffers).toBeLessThan(1_100);
});
