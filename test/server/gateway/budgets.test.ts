/** Budgets, as callers of models meet them (docs/decisions/budgets.md). */
import { afterEach, beforeEach, expect, test } from "vitest";
import type { KeyRecord } from "../../../domain/access/key-record.ts";
import type { Budget } from "../../../domain/budget/budget.ts";
import { until } from "../../env/until.ts";
import { budgetsOn, ledgerInMemory } from "../budgets/ledger.ts";
import type { Harness } from "../harness.ts";
import { startGateway, upstreamOf } from "./gateway.ts";
import { startUpstream, type Upstream } from "./upstream.ts";

let upstream: Upstream;
let harness: Harness;
let ledger: ReturnType<typeof ledgerInMemory>;
beforeEach(async () => {
  upstream = await startUpstream();
  ledger = ledgerInMemory();
  harness = await startGateway({ budgets: (clock) => budgetsOn(ledger.write, clock) });
  harness.addGateway({
    ...{ gatewayId: "gw_main", publicId: "main" },
    upstreams: [upstreamOf(upstream.url), upstreamOf(upstream.url, "anthropic"), upstreamOf(upstream.url, "gemini")],
  });
});
afterEach(async () => {
  await harness.close();
  await upstream.close();
});

const BODY = { model: "fast", max_tokens: 500 };
/** Bytes of the body, and what it lets the answer have. */
const RESERVED = JSON.stringify(BODY).length + 500;
const answerUsing = (prompt_tokens: number) =>
  upstream.answerWith((response) => response.end(JSON.stringify({ usage: { prompt_tokens, completion_tokens: 0 } })));
const monthly = (tokens: number, fields: Partial<Budget> = {}): Budget => ({
  ...{ tokens, period: "Month", timeZone: "UTC", onExhausted: "Refuse" },
  ...fields,
});
const budgeted = (...items: Budget[]): Partial<KeyRecord> => ({ budgets: { owner: "team-a c/ns/reader", items } });

async function ask(key: string, path = "/v1/chat/completions", body: object = BODY, gateway = "main") {
  const answer = await fetch(`${harness.url}/g/${gateway}${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const [retryAfter, mayRetry] = [answer.headers.get("retry-after"), answer.headers.get("x-should-retry")];
  return { status: answer.status, retryAfter, mayRetry, text: await answer.text() };
}

test("b129: a key is charged what the answer reports, and refused where its call may use more than is left", async () => {
  answerUsing(400);
  const key = harness.addKey(budgeted(monthly(RESERVED + 500)));
  expect((await ask(key)).status).toBe(200);
  expect((await ask(key)).status).toBe(200);
  const refused = await ask(key);
  expect(refused).toMatchObject({ status: 429, retryAfter: "3600", mayRetry: "false" });
  expect(JSON.parse(refused.text).error).toMatchObject({ code: "budget_exceeded", type: "insufficient_quota" });
  expect(harness.refused.at(-1)).toMatchObject({ code: "budget_exceeded", cause: "budget_exceeded" });
  expect(upstream.received).toHaveLength(2);
  // A smaller one fits.
  expect((await ask(key, "/v1/chat/completions", { max_tokens: 10 })).status).toBe(200);
});

test("b231: a key whose calls ask Google for JSONP is charged what their answers report", async () => {
  upstream.answerWith((response, { url }) => {
    const usage = '{"usageMetadata":{"promptTokenCount":60000,"totalTokenCount":60000}}';
    const isScript = url.includes("callback");
    response.writeHead(200, { "content-type": isScript ? "text/javascript" : "application/json" });
    response.end(isScript ? `f(${usage});` : usage);
  });
  const key = harness.addKey(budgeted(monthly(70_000)));
  const path = "/v1beta/models/gem:generateContent?callback=f";
  expect((await ask(key, path, { contents: [] })).status).toBe(200);
  expect((await ask(key, path, { generationConfig: { maxOutputTokens: 10_000 } })).status).toBe(429);
});

test("b306: a call that is asked once more on a fresh socket is charged once", async () => {
  const served = new WeakSet<object>();
  upstream.answerWith((response, _received, { socket }) => {
    if (served.has(socket)) socket.resetAndDestroy();
    else response.end(JSON.stringify({ usage: { prompt_tokens: 400, completion_tokens: 0 } }));
    served.add(socket);
  });
  const key = harness.addKey(budgeted(monthly(RESERVED + 800)));
  const statuses: number[] = [];
  for (let i = 0; i < 4; i++) statuses.push((await ask(key)).status);
  expect(statuses).toEqual([200, 200, 200, 429]);
  expect(upstream.received).toHaveLength(4);
  expect(harness.answered.map(({ usage }) => usage.tokens.input)).toEqual([400, 400, 400]);
});

test.each([
  ["/v1/chat/completions", BODY, { error: { type: "insufficient_quota", code: "budget_exceeded" } }],
  ["/v1/messages", BODY, { type: "error", error: { type: "rate_limit_error" } }],
  [
    "/v1beta/models/gem:generateContent",
    { generationConfig: { maxOutputTokens: 500 } },
    { error: { code: 429, status: "RESOURCE_EXHAUSTED" } },
  ],
])("b129: says in the caller's own format which budget, and when it resets: %s", async (path, body, shown) => {
  const key = harness.addKey(budgeted(monthly(100, { timeZone: "Europe/Berlin" })));
  const refused = await ask(key, path, body);
  expect(refused.status).toBe(429);
  expect(JSON.parse(refused.text)).toMatchObject(shown);
  expect(refused.text).toContain("budget_exceeded");
  const most = JSON.stringify(body).length + 500;
  expect(refused.text).toContain(
    `This key's budget of 100 tokens a month has no room for this call, which may use ${most}: 0 are used. It resets at 2026-11-30T23:00:00.000Z (Europe/Berlin).`,
  );
});

test("b129: a team's budget bounds all of its keys, and says so", async () => {
  answerUsing(RESERVED);
  const teamLimits = { rate: null, concurrent: null, budgets: [monthly(RESERVED, { period: "Total" })] };
  harness.index.applyTeam({
    ...{ teamId: "team-a", name: "a", cluster: "c", defaultLibraryId: null, allowedCIDRs: null, limits: teamLimits },
    ...{ members: [], revoked: [] },
  });
  const [one, other] = [harness.addKey({ teamLimits }), harness.addKey({ teamLimits })];
  expect((await ask(one)).status).toBe(200);
  const refused = await ask(other);
  expect(refused).toMatchObject({ status: 429, retryAfter: null, mayRetry: "false" });
  expect(refused.text).toContain(`The team's budget of ${RESERVED} tokens in all`);
  expect(harness.refused.at(-1)).toMatchObject({ cause: "team_budget_exceeded" });
});

test("b149: what teams share bounds the keys of all of them, and says whose it is", async () => {
  answerUsing(RESERVED);
  const shared = [{ owner: "c1/staging", items: [monthly(RESERVED, { period: "Total" })] }];
  const teamLimits = { rate: null, concurrent: null, shared };
  const [one, other] = [harness.addKey({ teamLimits }), harness.addKey({ teamLimits, teamId: "team-b" })];
  for (const teamId of ["team-a", "team-b"]) {
    harness.index.applyTeam({
      ...{ teamId, name: teamId, cluster: "c1", defaultLibraryId: null, allowedCIDRs: null, limits: teamLimits },
      ...{ members: [], revoked: [] },
    });
  }
  harness.addGateway({ gatewayId: "gw_b", publicId: "b", teamId: "team-b", upstreams: [upstreamOf(upstream.url)] });
  expect((await ask(one)).status).toBe(200);
  const refused = await ask(other, undefined, undefined, "b");
  expect(refused).toMatchObject({ status: 429, retryAfter: null, mayRetry: "false" });
  expect(refused.text).toContain(`PlatformKeyPolicy staging's shared budget of ${RESERVED} tokens in all`);
  expect(harness.refused.at(-1)).toMatchObject({ cause: "policy_budget_exceeded" });
});

test("b129: where calls under way hold what is left, says to try again soon", async () => {
  const held: (() => void)[] = [];
  upstream.answerWith((response) => held.push(() => response.end(JSON.stringify({ usage: { prompt_tokens: 10 } }))));
  const key = harness.addKey(budgeted(monthly(RESERVED + 100)));
  const open = ask(key);
  await until("one is under way", () => held.length === 1);
  expect(await ask(key)).toMatchObject({ status: 429, retryAfter: "2", mayRetry: null });
  for (const end of held) end();
  expect((await open).status).toBe(200);
  answerUsing(1);
  expect((await ask(key)).status).toBe(200);
});

test("b301: what Anthropic's compaction used is charged, which the message's own figures leave out", async () => {
  const iterations = [
    { type: "compaction", input_tokens: 180_000, output_tokens: 3_500 },
    { type: "message", input_tokens: 23_000, output_tokens: 1_000 },
  ];
  const usage = { input_tokens: 23_000, output_tokens: 1_000, iterations };
  upstream.answerWith((response) => response.end(JSON.stringify({ model: "claude-x", usage })));
  const key = harness.addKey(budgeted(monthly(100_000, { period: "Day" })));
  expect((await ask(key, "/v1/messages")).status).toBe(200);
  await until("it is charged", () => harness.answered.length === 1);
  expect(harness.answered.at(-1)).toMatchObject({ usage: { tokens: { input: 203_000, output: 4_500 } } });
  const refused = await ask(key, "/v1/messages");
  expect(refused.status).toBe(429);
  expect(refused.text).toContain("207,500 are used");
});

test("b129: a budget that alerts lets its calls pass", async () => {
  answerUsing(5_000);
  const key = harness.addKey(budgeted(monthly(10, { onExhausted: "Alert" })));
  expect([(await ask(key)).status, (await ask(key)).status]).toEqual([200, 200]);
});

test("b129: is not known while the database is away and nothing is held: 503, and the upstream is not asked", async () => {
  ledger.database.isAway = true;
  const key = harness.addKey(budgeted(monthly(10_000)));
  const refused = await ask(key);
  expect(refused.status).toBe(503);
  expect(refused.text).toContain("cannot be asked for room while the database does not answer");
  expect(harness.refused.at(-1)).toMatchObject({ code: "unavailable", cause: "budget_unknown" });
  expect(upstream.received).toHaveLength(0);
});

test("b129: a call that a budget refuses costs limits of requests and tokens nothing", async () => {
  const tokenLimit = { tokensPerMinute: 10_000, scope: "Replica" } as const;
  const rateLimit = { requestsPerMinute: 1, burst: 1, scope: "Replica" } as const;
  const key = harness.addKey({ ...budgeted(monthly(10)), tokenLimit, rateLimit });
  expect((await ask(key)).status).toBe(429);
  harness.changeKey(key, { budgets: undefined });
  answerUsing(1);
  expect((await ask(key)).status).toBe(200);
});

test("b129: a key without budgets asks nothing of them", async () => {
  answerUsing(10);
  const key = harness.addKey();
  expect((await ask(key)).status).toBe(200);
  expect(ledger.database.writes).toBe(0);
});
