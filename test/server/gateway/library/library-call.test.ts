/** Calls of models for libraries whose limits have to be asked for, or whose time ends. */
import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest";
import type { KeyRecord } from "../../../../domain/access/key-record.ts";
import { keyDigest } from "../../../../domain/key/secret/key-format.ts";
import type { BudgetGrants } from "../../../../server/budgets/budget-grants.ts";
import { EMBEDDING_FORMATS } from "../../../../server/gateway/library/embedding-formats.ts";
import { createLibraryCaller } from "../../../../server/gateway/library/library-call.ts";
import { postForLibrary } from "../../../../server/gateway/library/library-post.ts";
import { createAddressGuard } from "../../../../server/gateway/upstream/addresses.ts";
import { createUpstreamPools } from "../../../../server/gateway/upstream/pools.ts";
import { InstallationLimits } from "../../../../server/limits/installation-limits.ts";
import { until } from "../../../env/until.ts";
import { budgetsOn, ledgerInMemory } from "../../budgets/ledger.ts";
import type { Harness } from "../../harness.ts";
import { cellsInMemory } from "../../limits/cells.ts";
import { PROVIDER_KEY, routeOf, startGateway, upstreamOf } from "../gateway.ts";
import { rawUpstream } from "../raw-upstream.ts";
import { startUpstream, type Upstream } from "../upstream.ts";

const LIMIT = { requestsPerMinute: 60, burst: 2, scope: "Installation" } as const;

let upstream: Upstream;
let harness: Harness;
let cells: ReturnType<typeof cellsInMemory>;
let cellsClock: { now: number };
let caller: ReturnType<typeof createLibraryCaller>;
beforeEach(async () => {
  upstream = await startUpstream();
  cellsClock = { now: 1_000_000 };
  cells = cellsInMemory(cellsClock);
  cells.database.answersAfter = 1;
  const limits = () => new InstallationLimits({ draw: cells.draw, threads: () => 1, monotonic: () => cellsClock.now });
  harness = await startGateway({ limits });
  harness.addGateway({
    publicId: "main",
    upstreams: [upstreamOf(upstream.url)],
    routes: [routeOf("meaning", { upstream: "openai" })],
  });
  caller = createLibraryCaller(harness.deps, { formats: EMBEDDING_FORMATS, userAgent: "test" });
});
afterEach(async () => {
  await caller.close();
  await harness.close();
  await upstream.close();
});

/** Calls of one key, all of which wait for its cell. */
async function callWith(fields: Partial<KeyRecord>, number: number) {
  const key = harness.addKey({ rateLimit: LIMIT, ...fields });
  const call = { digest: keyDigest(key), publicId: "main", model: "meaning", timeoutMs: 5_000, maxAnswer: 1_000 };
  const calls = Array.from({ length: number }, () => caller.call({ ...call, body: () => ({}) }));
  await until("the cell is asked", () => cells.database.draws === 1);
  return { key, call, calls, answer: () => cells.passTo(cellsClock.now + 1) };
}

test("b124: a library's call that its team's limit of concurrent calls refuses costs its key's rate nothing", async () => {
  upstream.answerWith((response) => setTimeout(() => response.end("{}"), 50));
  const { call, calls, answer } = await callWith({ teamLimits: { rate: null, concurrent: 1 } }, 2);
  await answer();
  expect((await Promise.all(calls)).map(({ kind }) => kind).toSorted()).toEqual(["answered", "failed"]);
  expect(await caller.call({ ...call, body: () => ({}) })).toMatchObject({ kind: "answered" });
});

test("b370: a library calls no gateway that does not serve what it asks", async () => {
  harness.addGateway({ publicId: "main", upstreams: [upstreamOf(upstream.url)], operations: ["generate"] });
  const call = { digest: keyDigest(harness.addKey()), publicId: "main", timeoutMs: 5_000, maxAnswer: 1_000 };
  expect(await caller.call({ ...call, model: "meaning", body: () => ({}) })).toMatchObject({
    ...{ kind: "failed", why: "the gateway does not serve embed: add embed to its spec.operations" },
  });
  expect(upstream.received).toEqual([]);
});

test("b23: a library's key that was revoked while its limit was asked for calls no model", async () => {
  const { key, calls, answer } = await callWith({}, 1);
  harness.changeKey(key, { state: "revoked" });
  await answer();
  expect(await Promise.all(calls)).toMatchObject([{ kind: "failed", why: expect.stringContaining("revoked") }]);
  expect(upstream.received).toEqual([]);
});

test("b331: a library's call that may wait is made again while its upstream's limit refuses it, until the server stops", async () => {
  const waiting = createLibraryCaller(harness.deps, { formats: EMBEDDING_FORMATS, userAgent: "test" });
  const call = { digest: keyDigest(harness.addKey()), publicId: "main", model: "meaning", timeoutMs: 5_000 };
  const callFor = (waitMs: number) => waiting.call({ ...call, waitMs, maxAnswer: 1_000, body: () => ({}) });
  upstream.answerWith((response) => {
    response.writeHead(upstream.received.length < 3 ? 429 : 200, { "retry-after": "1" }).end("{}");
  });
  expect(await callFor(500)).toMatchObject({ kind: "failed", isLimited: true });
  expect(await callFor(5_000)).toMatchObject({ kind: "answered" });
  expect(upstream.received).toHaveLength(3);
  upstream.answerWith((response) => response.writeHead(429, { "retry-after": "30" }).end());
  const stopped = callFor(60_000);
  await until("its upstream refuses it", () => upstream.received.length === 4);
  await waiting.close();
  expect(await stopped).not.toMatchObject({ isLimited: true });
});

test.each([
  ["answers", 200],
  ["is reset too", "ECONNRESET"],
])("b306: a library's call whose reused socket is reset is asked once more, on one that %s", async (_, end) => {
  const { config, clock } = harness.deps;
  const guard = createAddressGuard(config.allowedPrivateUpstreams);
  // One connection, so that the second call finds the first one's.
  const pools = createUpstreamPools(guard, clock.monotonic, { calls: 1, queued: 1, queuedMs: 1_000 });
  onTestFinished(() => pools.close());
  const sockets = new Set<object>();
  upstream.answerWith((response, _received, { socket }) => {
    if (sockets.has(socket) || (sockets.size === 1 && end !== 200)) socket.resetAndDestroy();
    else response.end("{}");
    sockets.add(socket);
  });
  const target = pools.poolOf("gw", { ...upstreamOf(upstream.url), credential: PROVIDER_KEY }, "team-a");
  const post = () =>
    postForLibrary(target, {
      ...{ path: "/v1/embeddings", headers: {}, body: "{}", signal: AbortSignal.timeout(5_000), maxAnswer: 1_000 },
      ...({ operation: "gateway.embeddings", dialect: "openai", teamId: "team-a" } as const),
      ...{ onSent: () => {}, onHead: () => {}, onUsage: () => {} },
    }).then(
      ({ status }) => status,
      ({ code }) => code,
    );
  expect([await post(), await post()]).toEqual([200, end]);
  expect(upstream.received).toHaveLength(3);
});

test("b340: an answer to a library's call that has its upstream's credential in place of a model's name counts as one that names none", async () => {
  upstream.answerWith((response) => response.end(JSON.stringify({ model: PROVIDER_KEY, usage: { prompt_tokens: 5 } })));
  const call = { digest: keyDigest(harness.addKey()), publicId: "main", model: "meaning", timeoutMs: 5_000 };
  expect(await caller.call({ ...call, maxAnswer: 1_000, body: () => ({}) })).toMatchObject({ kind: "answered" });
  expect(harness.answered.map(({ usage }) => [usage.tokens.input, usage.model])).toEqual([[5, undefined]]);
});

/** What a budget is charged for a call that its time limit ends, once nothing of it is reserved any more. */
async function chargedForLate(url: string): Promise<{ readonly kind: string; readonly spent: number }> {
  const ledger = ledgerInMemory();
  let budgets: BudgetGrants | undefined;
  const other = await startGateway({
    budgets(clock) {
      budgets = budgetsOn(ledger.write, clock);
      return budgets;
    },
  });
  const late = createLibraryCaller(other.deps, { formats: EMBEDDING_FORMATS, userAgent: "test" });
  other.addGateway({
    ...{ publicId: "main", upstreams: [upstreamOf(url)] },
    routes: [routeOf("meaning", { upstream: "openai" })],
  });
  const items = [{ tokens: 1_000, period: "Month", timeZone: "UTC", onExhausted: "Refuse" }] as const;
  const key = other.addKey({ budgets: { owner: "team-a c/ns/reader", items } });
  const call = { digest: keyDigest(key), publicId: "main", model: "meaning", timeoutMs: 200, maxAnswer: 1_000 };
  try {
    const { kind } = await late.call({ ...call, body: () => ({ input: "abc" }) });
    await budgets?.endRound();
    await budgets?.endRound();
    return { kind, spent: ledger.sumOf("key team-a c/ns/reader tokens Month", "2026-11-01").spent };
  } finally {
    await late.close();
    await other.close();
  }
}

test("b200: a library's call that its time limit ends is charged what it had reserved, once its upstream has some of it", async () => {
  const silent = await rawUpstream((socket) => setTimeout(() => socket.destroy(), 2_000));
  const body = JSON.stringify({ input: "abc" });
  expect(await chargedForLate(silent.url)).toEqual({ kind: "failed", spent: body.length });
  // It never answers TLS's greeting.
  expect(await chargedForLate(silent.url.replace("http:", "https:"))).toEqual({ kind: "failed", spent: 0 });
  silent.close();
});
