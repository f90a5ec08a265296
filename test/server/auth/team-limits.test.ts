/** The limits of a team, as callers with its keys meet them (docs/decisions/rate-limits.md). */
import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { KeyRecord } from "../../../domain/access/key-record.ts";
import type { TeamRecord } from "../../../domain/access/membership.ts";
import type { DeclaredLimits } from "../../../domain/access/rate-limit.ts";
import { scopeSet } from "../../../domain/access/scopes.ts";
import { keyDigest, mintKey } from "../../../domain/key/secret/key-format.ts";
import { decide } from "../../../server/auth/decide.ts";
import { until } from "../../env/until.ts";
import { type Harness, indexedKey, keyRecord } from "../harness.ts";
import { startLimited } from "./limited-harness.ts";

let held: Promise<void> = Promise.resolve();
let limited: Awaited<ReturnType<typeof startLimited>>;
let harness: Harness;
let call: typeof limited.call;
let post: typeof limited.post;
beforeAll(async () => {
  limited = await startLimited(() => held);
  ({ harness, call, post } = limited);
});
afterAll(() => limited.close());
beforeEach(() => declareTeam(null));

/** Declares the limits of team-a, as the feed has it; keys are added with them. */
function declareTeam(limits: DeclaredLimits | null): DeclaredLimits | null {
  const team: TeamRecord = {
    ...{ teamId: "team-a", name: "a", cluster: "c", defaultLibraryId: null, allowedCIDRs: null },
    ...{ limits, members: [], revoked: [] },
  };
  // A team that has been without a limit begins with its whole burst.
  if (limits === null) harness.index.removeTeam("team-a");
  harness.index.applyTeam(team);
  return limits;
}

const rateOf = (burst: number) => ({ requestsPerMinute: 60, burst, scope: "Replica" as const });
const teamOf = (burst: number, concurrent: number | null = null) => declareTeam({ rate: rateOf(burst), concurrent });

const statusesOf = async (keys: readonly string[]) => {
  const statuses: number[] = [];
  for (const key of keys) statuses.push((await call(key)).status);
  return statuses;
};

describe("b124: the rate limit of a team", () => {
  test("bounds the requests of all its keys together, and no other team's", async () => {
    const teamLimits = teamOf(3);
    const [a, b] = [harness.addKey({ teamLimits }), harness.addKey({ teamLimits })];
    expect(await statusesOf([a, b, a, b, a])).toEqual([200, 200, 200, 429, 429]);
    expect((await call(harness.addKey({ teamId: "team-b" }))).status).toBe(200);
    harness.clock.advance(1_000);
    expect(await statusesOf([b, a])).toEqual([200, 429]);
  });

  test("holds beside the key's own, and the headers and the refusal say which is which", async () => {
    const teamLimits = teamOf(3);
    const key = harness.addKey({ teamLimits, rateLimit: rateOf(2) });
    const answers = [await call(key), await call(key), await call(key)];
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 429]);
    expect(answers.map(({ headers }) => headers.get("ratelimit"))).toEqual([
      '"key";r=1;t=1, "team";r=2;t=1',
      '"key";r=0;t=2, "team";r=1;t=2',
      '"key";r=0;t=2, "team";r=1;t=2',
    ]);
    expect(answers[0]?.headers.get("ratelimit-policy")).toBe(
      '"key";q=60;w=60;keyplane-burst=2, "team";q=60;w=60;keyplane-burst=3',
    );
    expect(await answers[2]?.json()).toMatchObject({
      detail: "This key's rate limit is used up: try again in 1 s.",
    });
    const other = harness.addKey({ teamLimits });
    expect(await statusesOf([other])).toEqual([200]);
    const refused = await call(other);
    expect([refused.status, refused.headers.get("ratelimit"), refused.headers.get("retry-after")]).toEqual([
      429,
      '"team";r=0;t=3',
      "1",
    ]);
    expect(await refused.json()).toMatchObject({
      code: "rate_limited",
      detail: "The team's rate limit is used up: try again in 1 s.",
    });
  });

  test("charges nothing to the key where the team's refuses, and nothing to the team where the key's does", async () => {
    const teamLimits = teamOf(2);
    const [a, b] = [harness.addKey({ teamLimits, rateLimit: rateOf(1) }), harness.addKey({ teamLimits })];
    // Of these one is the team's: the others are refused by the key's own.
    expect(await statusesOf([a, a, a, a])).toEqual([200, 429, 429, 429]);
    expect(await statusesOf([b, b])).toEqual([200, 429]);
    const c = harness.addKey({ teamLimits, rateLimit: rateOf(1) });
    expect(await statusesOf([c, c, c])).toEqual([429, 429, 429]);
    expect((await call(c)).headers.get("ratelimit")).toBe('"key";r=1;t=0, "team";r=0;t=2');
    harness.clock.advance(1_000);
    expect(await statusesOf([c])).toEqual([200]);
  });

  test("says how long the one of both refuses that does so for longer", async () => {
    const teamLimits = declareTeam({ rate: { requestsPerMinute: 2, burst: 1, scope: "Replica" }, concurrent: null });
    const key = harness.addKey({ teamLimits, rateLimit: rateOf(1) });
    expect((await call(key)).status).toBe(200);
    const refused = await call(key);
    expect([refused.headers.get("retry-after"), await refused.json()]).toMatchObject([
      "30",
      { detail: "The team's rate limit is used up: try again in 30 s." },
    ]);
  });

  test("costs nothing where a request is refused for another reason", async () => {
    const teamLimits = teamOf(1);
    const reader = harness.addKey({ teamLimits, scopes: scopeSet(["memory:read"]) });
    expect((await post(reader, "/atoms", {})).status).toBe(403);
    expect(await statusesOf([reader, reader])).toEqual([200, 429]);
  });

  test("goes on with what was spent where it changes, and ends with its declaration", async () => {
    const key = mintKey(randomBytes);
    const record = keyRecord({});
    // As the feed brings a team with its keys.
    const declare = (limits: DeclaredLimits | null) => {
      declareTeam(limits);
      harness.index.applyKey(record.keyId, [indexedKey(keyDigest(key), { ...record, teamLimits: limits })]);
    };
    declare({ rate: rateOf(1), concurrent: null });
    expect(await statusesOf([key, key])).toEqual([200, 429]);
    declare({ rate: rateOf(2), concurrent: null });
    expect(await statusesOf([key, key])).toEqual([200, 429]);
    declare(null);
    const free = await call(key);
    expect([free.status, free.headers.get("ratelimit")]).toEqual([200, null]);
  });

  test("is counted, and handed to the audit log with the key, under a cause of its own", async () => {
    const key = harness.addKey({ teamLimits: teamOf(1) });
    await call(key);
    await call(key);
    const { keyId } = harness.recordOf(key);
    expect(harness.refused.at(-1)).toMatchObject({ code: "rate_limited", cause: "team_rate_limited", keyId });
    expect(await harness.metrics.registry.metrics()).toMatch(
      /keyplane_refusals_total\{cause="team_rate_limited"\} [1-9]/,
    );
  });

  const SAID = "The team's rate limit is used up: try again in 1 s.";
  test.each([
    ["/g/main/v1/chat/completions", { error: { type: "rate_limit_error", code: "rate_limited", message: SAID } }],
    ["/g/main/v1/messages", { type: "error", error: { type: "rate_limit_error", message: `rate_limited: ${SAID}` } }],
    [
      "/g/main/v1beta/models/m:generateContent",
      { error: { code: 429, status: "RESOURCE_EXHAUSTED", message: `rate_limited: ${SAID}` } },
    ],
  ])("refuses in the caller's own format: %s", async (path, body) => {
    const key = harness.addKey({ teamLimits: teamOf(1) });
    const first = await post(key, path, { model: "m" });
    await first.arrayBuffer();
    expect([first.status, first.headers.get("ratelimit")]).toEqual([200, '"team";r=0;t=1']);
    const second = await post(key, path, { model: "m" });
    expect([second.status, second.headers.get("retry-after"), await second.json()]).toMatchObject([429, "1", body]);
  });

  test("refuses over MCP in words that a client shows", async () => {
    const key = harness.addKey({ teamLimits: teamOf(1) });
    const list = { jsonrpc: "2.0", id: 1, method: "tools/list" };
    const accept = { accept: "application/json, text/event-stream" };
    expect((await post(key, "/api/v1/memory/mcp", list, accept)).status).toBe(200);
    const second = await post(key, "/api/v1/memory/mcp", list, accept);
    expect([second.status, await second.text()]).toEqual([429, expect.stringContaining(SAID)]);
  });
});

test("b124: a team has as many calls under way as it declares, whichever of its keys they are made with", async () => {
  const answered = Promise.withResolvers<void>();
  held = answered.promise;
  const teamLimits = declareTeam({ rate: null, concurrent: 2 });
  const keys = [1, 2, 3].map(() => harness.addKey({ teamLimits }));
  const open = keys.slice(0, 2).map((key) => call(key));
  await until("two are under way", () => harness.streams.figures().calls === 2);
  const refused = await call(keys[2] ?? "");
  expect([refused.status, refused.headers.get("retry-after"), await refused.json()]).toMatchObject([
    429,
    "1",
    { detail: "The team has reached its limit of concurrent calls: try again when one of them has ended." },
  ]);
  expect(harness.refused.at(-1)).toMatchObject({ code: "rate_limited", cause: "team_too_many_calls" });
  answered.resolve();
  expect((await Promise.all(open)).map(({ status }) => status)).toEqual([200, 200]);
  await until("they have ended", () => harness.streams.figures().calls === 0);
  expect((await call(keys[2] ?? "")).status).toBe(200);
});

test("b124: a call of a team without a limit charges and asks nothing, and one of a team with a rate charges once", () => {
  const asked: string[] = [];
  const index = new Proxy(harness.deps.index, {
    get(view, name) {
      if (name === "chargeRates" || name === "judgeRates") asked.push(name);
      return Reflect.get(view, name);
    },
  });
  const stepsOf = (fields: Partial<KeyRecord>) => {
    const headers = ["authorization", `Bearer ${harness.addKey(fields)}`];
    asked.length = 0;
    const route = { product: "memory", operation: "atoms.list", publicId: undefined } as const;
    const decision = decide({ ...harness.deps, index }, headers, "/atoms", route, { ip: "127.0.0.1" });
    return "granted" in decision && decision.granted ? asked : ["refused"];
  };
  expect(stepsOf({})).toEqual([]);
  expect(stepsOf({ teamLimits: { rate: null, concurrent: 10 } })).toEqual([]);
  expect(stepsOf({ teamLimits: teamOf(5) })).toEqual(["chargeRates"]);
  expect(stepsOf({ teamLimits: teamOf(5), rateLimit: rateOf(2) })).toEqual(["chargeRates"]);
});
