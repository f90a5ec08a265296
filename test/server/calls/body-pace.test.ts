import { expect, test } from "vitest";
import { BodyPace } from "../../../server/calls/body-pace.ts";

const SECOND = 1_000;

/** Whether, and when, a body is too slow that brings `bytesOf(second)` in each second, for five minutes. */
function tooSlowAfter(bytesOf: (second: number) => number, flowing: (second: number) => boolean | null = () => true) {
  const pace = new BodyPace();
  const request = { complete: false, readableFlowing: flowing(0), socket: { bytesRead: 500 } };
  for (let second = 0; second < 300; second++) {
    request.readableFlowing = flowing(second);
    if (pace.isTooSlow(request, second * SECOND)) return second;
    request.socket.bytesRead += bytesOf(second);
  }
  return undefined;
}

test("b81: a body that stands still is too slow after 30 seconds, and so is one of a byte a second", () => {
  expect(tooSlowAfter(() => 0)).toBe(30);
  expect(tooSlowAfter(() => 1)).toBe(30);
  expect(tooSlowAfter(() => 1_000)).toBe(30);
});

test("b81: a body that came fast at first and then trickles is too slow 30 seconds later", () => {
  expect(tooSlowAfter((second) => (second < 60 ? 1 << 20 : 1))).toBe(90);
});

test("b81: a body of 1 KiB a second goes on, also in pieces with 29 seconds in between", () => {
  expect(tooSlowAfter(() => 1_024)).toBeUndefined();
  expect(tooSlowAfter((second) => (second % 29 === 0 ? 30 * 1_024 : 0))).toBeUndefined();
});

test("b81: time in which the server, or an upstream, does not read the body does not count", () => {
  expect(
    tooSlowAfter(
      () => 0,
      () => false,
    ),
  ).toBeUndefined();
  expect(
    tooSlowAfter(
      () => 0,
      () => null,
    ),
  ).toBeUndefined();
  expect(
    tooSlowAfter(
      () => 0,
      (second) => second >= 100,
    ),
  ).toBe(129);
});
