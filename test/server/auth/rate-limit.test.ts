import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { scopeSet } from "../../../domain/access/scopes.ts";
import { keyDigest, mintKey } from "../../../domain/key/secret/key-format.ts";
import { type Harness, indexedKey, keyRecord } from "../harness.ts";
import { startLimited } from "./limited-harness.ts";

let limited: Awaited<ReturnType<typeof startLimited>>;
let harness: Harness;
let call: typeof limited.call;
let post: typeof limited.post;
beforeAll(async () => {
  limited = await startLimited();
  ({ harness, call, post } = limited);
});
afterAll(() => limited.close());

/** A key that may make `burst` requests at once, and one a second. */
const limitedTo = (burst: number) => ({ rateLimit: { requestsPerMinute: 60, burst, scope: "Replica" as const } });

test("a key is let through until its burst is used up, learns what is left, and is let through again once its time has come", async () => {
  const key = harness.addKey(limitedTo(2));
  const answers = [await call(key), await call(key), await call(key)];
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 429]);
  expect(answers.map(({ headers }) => headers.get("ratelimit"))).toEqual([
    '"key";r=1;t=1',
    '"key";r=0;t=2',
    '"key";r=0;t=2',
  ]);
  expect(answers[0]?.headers.get("ratelimit-policy")).toBe('"key";q=60;w=60;keyplane-burst=2');
  expect(answers[2]?.headers.get("retry-after")).toBe("1");
  expect(await answers[2]?.json()).toMatchObject({
    status: 429,
    code: "rate_limited",
    detail: "This key's rate limit is used up: try again in 1 s.",
  });
  harness.clock.advance(1_000);
  expect((await call(key)).status).toBe(200);
  expect((await call(key)).status).toBe(429);
});

test("a key without a limit gets no headers about one", async () => {
  const { status, headers } = await call(harness.addKey());
  expect([status, headers.get("ratelimit"), headers.get("ratelimit-policy")]).toEqual([200, null, null]);
});

test("a request that is refused for another reason costs nothing", async () => {
  const key = harness.addKey({ ...limitedTo(1), scopes: scopeSet(["memory:read"]) });
  expect((await post(key, "/atoms", {})).status).toBe(403);
  expect((await call(key, "/g/main/v1/models")).status).toBe(403);
  expect((await call(key)).status).toBe(200);
  expect((await call(key)).status).toBe(429);
  expect((await post(key, "/atoms", {})).status).toBe(403);
});

test("the versions of a key share its limit, and a change of the key does not give it a new one", async () => {
  const [old, next] = [mintKey(randomBytes), mintKey(randomBytes)];
  const record = keyRecord(limitedTo(2));
  const versions = (fields: Partial<typeof record>) => [
    indexedKey(keyDigest(old), { ...record, ...fields, versionState: "retiring" }),
    indexedKey(keyDigest(next), { ...record, ...fields, version: 2 }),
  ];
  harness.index.applyKey(record.keyId, versions({}));
  expect([(await call(old)).status, (await call(next)).status, (await call(old)).status]).toEqual([200, 200, 429]);
  harness.index.applyKey(record.keyId, versions({ namespace: "a-prod" }));
  expect((await call(next)).status).toBe(429);
  harness.index.applyKey(record.keyId, versions(limitedTo(3)));
  expect([(await call(next)).status, (await call(old)).status]).toEqual([200, 429]);
  harness.index.applyKey(record.keyId, versions({ rateLimit: null }));
  expect((await call(next)).status).toBe(200);
});

test("a limit is one key's alone, also where a key that is gone has left its place", async () => {
  const [one, other] = [harness.addKey(limitedTo(1)), harness.addKey(limitedTo(1))];
  expect([(await call(one)).status, (await call(one)).status, (await call(other)).status]).toEqual([200, 429, 200]);
  harness.index.removeKey(harness.index.findKey(keyDigest(one))?.keyId ?? "");
  expect((await call(harness.addKey(limitedTo(1)))).status).toBe(200);
  expect((await call(other)).status).toBe(429);
});

test("a refusal is counted, and handed to the audit log with its key", async () => {
  const key = harness.addKey(limitedTo(1));
  await call(key);
  await call(key);
  const { keyId } = harness.index.findKey(keyDigest(key)) ?? {};
  expect(harness.refused.at(-1)).toMatchObject({ code: "rate_limited", cause: "rate_limited", keyId, route: "/atoms" });
  expect(await harness.metrics.registry.metrics()).toMatch(/keyplane_refusals_total\{cause="rate_limited"\} [1-9]/);
});

describe("a refusal for the rate is in the caller's own format:", () => {
  test.each([
    ["OpenAI", "/g/main/v1/chat/completions", { error: { type: "rate_limit_error", code: "rate_limited" } }],
    ["Anthropic", "/g/main/v1/messages", { type: "error", error: { type: "rate_limit_error" } }],
    ["Gemini", "/g/main/v1beta/models/m:generateContent", { error: { code: 429, status: "RESOURCE_EXHAUSTED" } }],
  ])("%s, and the answers before it say what is left", async (_, path, body) => {
    const key = harness.addKey(limitedTo(1));
    const first = await post(key, path, { model: "m" });
    await first.arrayBuffer();
    expect([first.status, first.headers.get("ratelimit")]).toEqual([200, '"key";r=0;t=1']);
    const second = await post(key, path, { model: "m" });
    expect([second.status, second.headers.get("retry-after")]).toEqual([429, "1"]);
    expect(await second.json()).toMatchObject(body);
  });

  test("MCP", async () => {
    const key = harness.addKey(limitedTo(1));
    const list = { jsonrpc: "2.0", id: 1, method: "tools/list" };
    const accept = { accept: "application/json, text/event-stream" };
    expect((await post(key, "/api/v1/memory/mcp", list, accept)).status).toBe(200);
    const second = await post(key, "/api/v1/memory/mcp", list, accept);
    expect([second.status, second.headers.get("retry-after")]).toEqual([429, "1"]);
    expect(await second.json()).toMatchObject({ jsonrpc: "2.0", error: { code: -32_000 } });
  });
});
