/** The limits of a gateway's routes, as callers that name them meet them (docs/decisions/rate-limits.md). */
import { afterEach, beforeEach, expect, test } from "vitest";
import type { KeyRecord } from "../../../domain/access/key-record.ts";
import type { LimitSpec } from "../../../domain/access/rate-limit.ts";
import { InstallationLimits } from "../../../server/limits/installation-limits.ts";
import { until } from "../../env/until.ts";
import type { Harness, HarnessOptions } from "../harness.ts";
import { cellsInMemory } from "../limits/cells.ts";
import { routeOf, startGateway, upstreamOf } from "./gateway.ts";
import { startUpstream, type Upstream } from "./upstream.ts";

let upstream: Upstream;
let harness: Harness;
beforeEach(async () => {
  upstream = await startUpstream();
  await start({});
});
afterEach(async () => {
  await harness.close();
  await upstream.close();
});

async function start(options: HarnessOptions): Promise<void> {
  harness = await startGateway(options);
}

/** Declares a gateway of these routes, each by its limits; again, as the feed brings a change of it. */
function declare(limits: Readonly<Record<string, LimitSpec>>): void {
  const fallbacks = [{ upstream: "second", upstreamModel: "other" }];
  harness.addGateway({
    ...{ gatewayId: "gw_main", publicId: "main" },
    upstreams: [
      upstreamOf(upstream.url),
      upstreamOf(upstream.url, "openai", { name: "second" }),
      upstreamOf(upstream.url, "anthropic"),
      upstreamOf(upstream.url, "gemini"),
    ],
    routes: [
      routeOf("free"),
      ...Object.entries(limits).map(([model, rateLimit]) => {
        const dialect = model === "claude" ? "anthropic" : model === "gem" ? "gemini" : "openai";
        return routeOf(model, { upstream: dialect, fallbacks: dialect === "openai" ? fallbacks : [], rateLimit });
      }),
    ],
  });
}

const PATHS: Readonly<Record<string, string>> = {
  claude: "/v1/messages",
  gem: "/v1beta/models/gem:generateContent",
};

async function ask(key: string, model = "fast") {
  const path = PATHS[model] ?? "/v1/chat/completions";
  const answer = await fetch(`${harness.url}/g/main${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify(model === "gem" ? {} : { model }),
  });
  const text = await answer.text();
  const header = (name: string) => answer.headers.get(name);
  return { status: answer.status, rate: header("ratelimit"), retryAfter: header("retry-after"), text };
}

const statusesOf = async (keys: readonly string[], model?: string) => {
  const statuses: number[] = [];
  for (const key of keys) statuses.push((await ask(key, model)).status);
  return statuses;
};

const rateOf = (burst: number) => ({ requestsPerMinute: 60, burst });
const limitedTo = (burst: number): Partial<KeyRecord> => ({ rateLimit: { ...rateOf(burst), scope: "Replica" } });

test("b124: a route lets as many calls through as it declares, of all keys, and other models are none of them", async () => {
  declare({ fast: rateOf(2), slow: rateOf(1) });
  const [a, b] = [harness.addKey(), harness.addKey()];
  expect(await statusesOf([a, b, a, b])).toEqual([200, 200, 429, 429]);
  expect([await statusesOf([a, b], "slow"), await statusesOf([a, b], "free"), await statusesOf([a], "m")]).toEqual([
    [200, 429],
    [200, 200],
    [200],
  ]);
  expect(upstream.received).toHaveLength(6);
  harness.clock.advance(1_000);
  expect(await statusesOf([b, a])).toEqual([200, 429]);
});

test("b124: a call that the route refuses costs its key and its team nothing, and one that they refuse the route", async () => {
  declare({ fast: rateOf(1), slow: rateOf(9) });
  const teamLimits = { rate: { ...rateOf(3), scope: "Replica" as const }, concurrent: null };
  harness.index.applyTeam({
    ...{ teamId: "team-a", name: "a", cluster: "c", defaultLibraryId: null, allowedCIDRs: null, limits: teamLimits },
    ...{ members: [], revoked: [] },
  });
  const key = harness.addKey({ ...limitedTo(2), teamLimits });
  const answers = [await ask(key), await ask(key), await ask(key)];
  expect(answers.map(({ status, rate }) => [status, rate])).toEqual([
    [200, '"key";r=1;t=1, "team";r=2;t=1, "route";r=0;t=1'],
    [429, '"key";r=1;t=1, "team";r=2;t=1, "route";r=0;t=1'],
    [429, '"key";r=1;t=1, "team";r=2;t=1, "route";r=0;t=1'],
  ]);
  // It has one left, and then its own limit refuses it before the route is known.
  expect(await statusesOf([key, key, key], "slow")).toEqual([200, 429, 429]);
  const others = Array.from({ length: 3 }, () => harness.addKey({ teamId: "team-a" }));
  expect((await ask(others[0] ?? "", "slow")).rate).toBe('"route";r=7;t=2');
});

test.each([
  ["fast", { error: { type: "rate_limit_error", code: "rate_limited" } }],
  ["claude", { type: "error", error: { type: "rate_limit_error" } }],
  ["gem", { error: { code: 429, status: "RESOURCE_EXHAUSTED" } }],
])(
  "b124: says in the caller's own format that it is the route's limit, and when to try again: %s",
  async (model, body) => {
    declare({ [model]: rateOf(1) });
    const key = harness.addKey();
    expect(await ask(key, model)).toMatchObject({ status: 200, rate: '"route";r=0;t=1' });
    const refused = await ask(key, model);
    expect(refused).toMatchObject({ status: 429, rate: '"route";r=0;t=1', retryAfter: "1" });
    expect(JSON.parse(refused.text)).toMatchObject(body);
    expect(refused.text).toContain("The route's rate limit is used up: try again in 1 s.");
    const { keyId } = harness.recordOf(key);
    expect(harness.refused.at(-1)).toMatchObject({ code: "rate_limited", cause: "route_rate_limited", keyId });
  },
);

test("b124: a call that is passed on to a fallback counts once", async () => {
  declare({ fast: rateOf(2) });
  upstream.answerWith((response, { body }) => {
    if (body.includes("real-fast")) response.writeHead(503).end("{}");
    else response.end("{}");
  });
  const key = harness.addKey();
  expect(await statusesOf([key, key, key])).toEqual([200, 200, 429]);
  expect(upstream.received).toHaveLength(4);
});

test("b124: a call that goes nowhere is not counted", async () => {
  declare({ fast: rateOf(1), gem: rateOf(1) });
  const key = harness.addKey({ allowedModels: ["other"] });
  expect(await statusesOf([key, key])).toEqual([403, 403]);
  expect(await statusesOf([harness.addKey()])).toEqual([200]);
});

test("b124: a route has as many calls under way as it declares, until each has ended", async () => {
  declare({ fast: { concurrent: 2 } });
  const held: (() => void)[] = [];
  upstream.answerWith((response) => held.push(() => response.end("{}")));
  const [a, b] = [harness.addKey(limitedTo(3)), harness.addKey()];
  const open = [ask(a), ask(b)];
  await until("two are under way", () => held.length === 2);
  const refused = await ask(a);
  expect(refused).toMatchObject({ status: 429, retryAfter: "1", rate: '"key";r=2;t=1' });
  expect(refused.text).toContain(
    "The route has reached its limit of concurrent calls: try again when one of them has ended.",
  );
  expect(harness.refused.at(-1)).toMatchObject({ cause: "route_too_many_calls" });
  for (const end of held.splice(0)) end();
  expect((await Promise.all(open)).map(({ status }) => status)).toEqual([200, 200]);
  await until("they have ended", () => harness.streams.figures().calls === 0);
  const again = ask(b);
  await until("another is under way", () => held.length === 1);
  held[0]?.();
  expect((await again).status).toBe(200);
});

test("b124: a route's limit changes and ends with its declaration, and keeps what was spent while it has one", async () => {
  const key = harness.addKey();
  declare({ fast: rateOf(1), slow: rateOf(1) });
  expect([await statusesOf([key, key]), await statusesOf([key, key], "slow")]).toEqual([
    [200, 429],
    [200, 429],
  ]);
  declare({ fast: rateOf(2), slow: {} });
  expect([await statusesOf([key, key]), await statusesOf([key, key], "slow")]).toEqual([
    [200, 429],
    [200, 200],
  ]);
  harness.index.removeGateway("gw_main");
  declare({ fast: rateOf(1) });
  expect(await statusesOf([key, key])).toEqual([200, 429]);
});

test("b124: a limit of the installation is asked for, and a call that it refuses has cost its key nothing", async () => {
  await harness.close();
  await start({
    limits({ monotonic }) {
      const { draw } = cellsInMemory({ now: monotonic() });
      return new InstallationLimits({ draw, threads: () => 4, monotonic });
    },
  });
  declare({ fast: { ...rateOf(2), scope: "Installation" }, slow: rateOf(9) });
  const key = harness.addKey({ rateLimit: { ...rateOf(3), scope: "Installation" } });
  expect(await statusesOf([key, key, key, key])).toEqual([200, 200, 429, 429]);
  expect(await statusesOf([key, key], "slow")).toEqual([200, 429]);
});

test("b124: a call of a route without limits has no cell asked or charged", async () => {
  declare({ fast: rateOf(1) });
  const key = harness.addKey();
  const answer = await ask(key, "free");
  expect([answer.status, answer.rate]).toEqual([200, null]);
});
