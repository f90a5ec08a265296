/** Limits of tokens, as callers of models meet them (docs/decisions/token-limits.md). */
import { afterEach, beforeEach, expect, test } from "vitest";
import type { KeyRecord } from "../../../domain/access/key-record.ts";
import type { LimitScope, LimitSpec } from "../../../domain/access/rate-limit.ts";
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

async function start(options: HarnessOptions, route?: LimitSpec): Promise<void> {
  await harness?.close();
  harness = await startGateway(options);
  harness.addGateway({
    ...{ gatewayId: "gw_main", publicId: "main" },
    upstreams: [upstreamOf(upstream.url), upstreamOf(upstream.url, "anthropic"), upstreamOf(upstream.url, "gemini")],
    routes: route === undefined ? [] : [routeOf("fast", { rateLimit: route }), routeOf("free")],
  });
}

const WITH_CELLS: HarnessOptions = {
  limits({ monotonic }) {
    const { draw } = cellsInMemory({ now: monotonic() });
    return new InstallationLimits({ draw, threads: () => 4, monotonic });
  },
};

const limitedTo = (tokensPerMinute: number, scope: LimitScope = "Replica"): Partial<KeyRecord> => ({
  tokenLimit: { tokensPerMinute, scope },
});
const teamOf = (tokensPerMinute: number): Partial<KeyRecord> => {
  const limits = { rate: null, concurrent: null, tokens: { tokensPerMinute, scope: "Replica" as const } };
  harness.index.applyTeam({
    ...{ teamId: "team-a", name: "a", cluster: "c", defaultLibraryId: null, allowedCIDRs: null, limits },
    ...{ members: [], revoked: [] },
  });
  return { teamLimits: limits };
};

const BODY = { model: "fast", max_tokens: 500 };
/** Bytes of the body, and what it lets the answer have. */
const RESERVED = JSON.stringify(BODY).length + 500;
const used = (prompt_tokens: number, completion_tokens = 0) =>
  JSON.stringify({ usage: { prompt_tokens, completion_tokens } });

type Asking = { readonly path?: string; readonly body?: object; readonly signal?: AbortSignal };

async function ask(key: string, { path = "/v1/chat/completions", body = BODY, signal }: Asking = {}) {
  const answer = await fetch(`${harness.url}/g/main${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify(body),
    ...(signal && { signal }),
  });
  const header = (name: string) => answer.headers.get(name);
  const [rate, policy, retryAfter] = [header("ratelimit"), header("ratelimit-policy"), header("retry-after")];
  return { status: answer.status, rate, policy, retryAfter, text: await answer.text() };
}

const restOf = async (key: string): Promise<number> => {
  upstream.answerWith((response) => response.writeHead(500).end("{}"));
  const body = { max_tokens: 1 };
  const { rate } = await ask(key, { body });
  return Number(/-tokens";r=(\d+)/.exec(rate ?? "")?.[1]) + JSON.stringify(body).length + body.max_tokens;
};

test.each<[string, LimitScope, HarnessOptions]>([
  ["by each replica", "Replica", {}],
  ["by all replicas", "Installation", WITH_CELLS],
])("b128: a key is charged what the answer reports, counted %s", async (_, scope, options) => {
  await start(options);
  upstream.answerWith((response) => response.end(used(40, 2)));
  const key = harness.addKey(limitedTo(1_000, scope));
  expect(await ask(key)).toMatchObject({
    status: 200,
    policy: '"key-tokens";q=1000;w=60;qu="tokens"',
    rate: `"key-tokens";r=${1_000 - RESERVED};t=${Math.ceil(RESERVED * 0.06)}`,
  });
  await until("it is settled", async () => (await restOf(key)) === 1_000 - 42);
});

test("an upstream's report of its own limits stays the client's", async () => {
  upstream.answerWith((response) => response.writeHead(200, { ratelimit: '"theirs";r=7' }).end(used(40, 2)));
  expect(await ask(harness.addKey(limitedTo(1_000)))).toMatchObject({
    policy: '"key-tokens";q=1000;w=60;qu="tokens"',
    rate: '"theirs";r=7',
  });
});

test.each<LimitScope>(["Replica", "Installation"])(
  "b128: calls under way are admitted while what they may use fits, and more when it was not used: %s",
  async (scope) => {
    await start(WITH_CELLS);
    const held: (() => void)[] = [];
    upstream.answerWith((response) => held.push(() => response.end(used(10))));
    const key = harness.addKey(limitedTo(RESERVED * 2, scope));
    const open = [ask(key), ask(key)];
    await until("two are under way", () => held.length === 2);
    const refused = await ask(key);
    expect(refused.status).toBe(429);
    const lasts = (harness.refused.at(-1)?.until ?? 0) - harness.clock.now();
    expect(String(Math.ceil(lasts / 1_000))).toBe(refused.retryAfter);
    for (const end of held.splice(0)) end();
    expect((await Promise.all(open)).map(({ status }) => status)).toEqual([200, 200]);
    upstream.answerWith((response) => response.end(used(10)));
    // A refusal by the installation's cell is remembered for a moment.
    harness.clock.advance(200);
    await until("there is room again", async () => (await ask(key)).status === 200);
  },
);

test("b128: what was used beyond the reservation is owed: later calls wait for it, and for no more than an hour", async () => {
  upstream.answerWith((response) => response.end(used(3_000)));
  const key = harness.addKey(limitedTo(1_000));
  expect((await ask(key)).status).toBe(200);
  // 3,000 are owed of 1,000 a minute: it fits again when no more than what the burst lets is.
  expect(await ask(key)).toMatchObject({ status: 429, retryAfter: String(Math.ceil((2_000 + RESERVED) * 0.06)) });
  harness.clock.advance((2_000 + RESERVED) * 60);
  upstream.answerWith((response) => response.end(used(900_000_000)));
  expect((await ask(key)).status).toBe(200);
  harness.clock.advance(61 * 60_000);
  expect((await ask(key)).status).toBe(200);
});

test.each([
  ["/v1/chat/completions", BODY, { error: { type: "rate_limit_error", code: "rate_limited" } }],
  ["/v1/messages", BODY, { type: "error", error: { type: "rate_limit_error" } }],
  [
    "/v1beta/models/gem:generateContent",
    { generationConfig: { maxOutputTokens: 500 } },
    { error: { code: 429, status: "RESOURCE_EXHAUSTED" } },
  ],
])(
  "b128: says in the caller's own format whose tokens are used up, and when the call fits: %s",
  async (path, body, shown) => {
    upstream.answerWith(() => {});
    const leaving = new AbortController();
    const key = harness.addKey(limitedTo(600));
    const open = ask(key, { path, body, signal: leaving.signal }).catch(() => {});
    await until("one is under way", () => upstream.received.length === 1);
    const refused = await ask(key, { path, body });
    expect(refused.status).toBe(429);
    expect(JSON.parse(refused.text)).toMatchObject(shown);
    const most = JSON.stringify(body).length + 500;
    const wait = Math.ceil((2 * most - 600) / 10);
    expect(refused.retryAfter).toBe(String(wait));
    expect(refused.text).toContain(
      `This key's limit of 600 tokens a minute has no room for this call, which may use ${most}: try again in ${wait} s.`,
    );
    expect(harness.refused.at(-1)).toMatchObject({ code: "rate_limited", cause: "token_limited" });
    leaving.abort();
    await open;
  },
);

test("b128: says what is reserved for a call, and keeps that where nothing is reported", async () => {
  upstream.answerWith((response) => response.end("{}"));
  const key = harness.addKey(limitedTo(600));
  expect((await ask(key)).status).toBe(200);
  expect((await ask(key)).text).toContain(
    "This key's limit of 600 tokens a minute has no room for this call, which may use 533: try again in 47 s.",
  );
});

test("b128: a call that may use more than a minute's worth passes while nothing is owed, and is settled", async () => {
  upstream.answerWith((response) => response.end(used(10)));
  const key = harness.addKey(limitedTo(100));
  expect((await ask(key)).status).toBe(200);
  expect(await restOf(key)).toBe(90);
});

test("b128: a stream is settled by its last report, and one that is cut by what has come", async () => {
  const key = harness.addKey(limitedTo(10_000));
  upstream.answerWith((response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(`data: {"choices":[]}\n\ndata: {"choices":[],"usage":{"prompt_tokens":30,"completion_tokens":9}}\n\n`);
  });
  await ask(key);
  await until("it is settled", async () => (await restOf(key)) === 10_000 - 39);
  const piece = 'data: {"choices":[{"delta":{"content":"a"}}]}\n\n';
  upstream.answerWith((response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(piece);
  });
  const leaving = new AbortController();
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const cut = await fetch(`${harness.url}/g/main/v1/chat/completions`, {
    ...{ method: "POST", headers, body: JSON.stringify(BODY), signal: leaving.signal },
  });
  await cut.body?.getReader().read();
  leaving.abort();
  await until("it is settled", async () => (await restOf(key)) === 10_000 - 39 - (RESERVED - 500) - piece.length);
});

test("b128: a caller who leaves before the answer has used what was reserved, and a call that no upstream does nothing", async () => {
  const key = harness.addKey(limitedTo(10_000));
  upstream.answerWith(() => {});
  const leaving = new AbortController();
  const open = ask(key, { signal: leaving.signal }).catch(() => {});
  await until("it is under way", () => upstream.received.length === 1);
  leaving.abort();
  await open;
  const left = 10_000 - RESERVED;
  await until("it is settled", async () => (await restOf(key)) === left);
  upstream.answerWith((response) => response.destroy());
  expect((await ask(key)).status).toBe(502);
  expect(await restOf(key)).toBe(left);
});

test("b128: an answer that reports nothing keeps what was reserved", async () => {
  upstream.answerWith((response) => response.end("{}"));
  const key = harness.addKey(limitedTo(10_000));
  await ask(key);
  expect(await restOf(key)).toBe(10_000 - RESERVED);
});

test("b128: a call that the tokens of one owner refuse costs no other owner any, nor a request", async () => {
  await start({}, { tokensPerMinute: RESERVED });
  const key = harness.addKey({
    ...limitedTo(10_000),
    ...teamOf(9_000),
    rateLimit: { requestsPerMinute: 60, burst: 5, scope: "Replica" },
  });
  upstream.answerWith((response) => response.end("{}"));
  const [passed, refused] = [await ask(key), await ask(key)];
  const rest = [`"key-tokens";r=${10_000 - RESERVED};`, `"team-tokens";r=${9_000 - RESERVED};`, '"route-tokens";r=0;'];
  for (const item of [...rest, '"key";r=4;']) {
    expect(passed.rate).toContain(item);
    expect(refused.rate).toContain(item);
  }
  expect([passed.status, refused.status]).toEqual([200, 429]);
  expect(refused.text).toContain(`The route's limit of ${RESERVED} tokens a minute`);
  expect((await ask(key, { body: { ...BODY, model: "free" } })).status).toBe(200);
});

test("b128: to embed counts what is read alone, and what lists models or counts tokens counts nothing", async () => {
  const key = harness.addKey(limitedTo(100));
  upstream.answerWith((response) => response.end("{}"));
  const body = { input: "abc" };
  expect((await ask(key, { path: "/v1/embeddings", body })).rate).toBe(
    `"key-tokens";r=${100 - JSON.stringify(body).length};t=${Math.ceil(JSON.stringify(body).length * 0.6)}`,
  );
  expect(await ask(key, { path: "/v1/messages/count_tokens" })).toMatchObject({ rate: null });
});

test("b128: a limit of tokens ends with its declaration, and what was used is kept while there is one", async () => {
  upstream.answerWith((response) => response.end(used(900)));
  const key = harness.addKey(limitedTo(1_000));
  await ask(key);
  harness.changeKey(key, limitedTo(2_000));
  const { rate } = await ask(key);
  expect(Number(/r=(\d+)/.exec(rate ?? "")?.[1])).toBeLessThan(2_000 - RESERVED);
  harness.changeKey(key, { tokenLimit: null });
  expect(await ask(key)).toMatchObject({ status: 200, rate: null });
});
