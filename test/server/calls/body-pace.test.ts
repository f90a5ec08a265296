import { afterAll, beforeAll, expect, test } from "vitest";
import type { RoutePlugin } from "../../../server/app.ts";
import { managementToken } from "../../../server/auth/management/management-token.ts";
import { logoutRoute } from "../../../server/auth/session/backchannel-route.ts";
import { BodyPace } from "../../../server/calls/body-pace.ts";
import { leakRoutes } from "../../../server/leaks/routes.ts";
import { until } from "../../env/until.ts";
import { holdBack } from "../auth/held-back.ts";
import { type Harness, startHarness } from "../harness.ts";

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

const TOKEN = "a-token-of-the-installation-0123456789";
const managed: RoutePlugin = (app) => {
  app.post("/held", { config: { management: true } }, async () => "done");
};

let server: Harness;
beforeAll(async () => {
  server = await startHarness({
    mounts: [
      { at: "", routes: managed },
      { at: "/api/v1", routes: leakRoutes },
      { at: "/dashboard", routes: logoutRoute },
    ],
    managementToken: managementToken("bootstrap-token", TOKEN),
  });
});
afterAll(() => server.close());

const AUTHORIZED = [`Authorization: Bearer ${TOKEN}`];

test.each([
  ["of the management API", "POST /held", AUTHORIZED],
  ["in chunks", "POST /held", [...AUTHORIZED, "Transfer-Encoding: chunked"]],
  ["in which a member reports a leak", "POST /api/v1/leaks", AUTHORIZED],
  ["in which a stranger reports a leak", "POST /api/v1/leaks", []],
  ["in which an issuer reports a sign-out", "POST /dashboard/backchannel-logout", []],
])("b475: a body without a key, %s, that does not go on is answered 408", async (_what, target, headers) => {
  const request = holdBack(server, target, "{}", headers);
  let now = server.clock.monotonic();
  await until("the answer", () => {
    now += 10_000;
    server.streams.cutSlowBodies(now);
    return request.text();
  });
  const { status, text } = await request.answer;
  expect([status, text]).toEqual([408, expect.stringContaining("too slowly")]);
});
