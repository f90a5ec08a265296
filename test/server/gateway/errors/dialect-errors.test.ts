import { afterAll, beforeAll, expect, test } from "vitest";
import { scopeSet } from "../../../../domain/access/scopes.ts";
import type { Harness } from "../../harness.ts";
import { allDialects, routeOf, startGateway } from "../gateway.ts";

let harness: Harness;
let id: string;

beforeAll(async () => {
  harness = await startGateway();
  const routes = [
    routeOf("fast"),
    routeOf("slow"),
    routeOf("gem", { upstream: "gemini" }),
    routeOf("opus", { upstream: "anthropic" }),
    routeOf("gone", { upstream: "no-more" }),
  ];
  id = harness.addGateway({ ...allDialects("http://127.0.0.1:1"), routes }).publicId;
});
afterAll(() => harness.close());

const ask = async (path: string, headers: Record<string, string> = {}, method = "POST") => {
  const answer = await fetch(`${harness.url}/g/${id}/${path}`, { method, headers });
  const body = await answer.json();
  return { status: answer.status, headers: answer.headers, body };
};

const SHAPES = {
  openai: { error: { type: "authentication_error", code: "unauthorized", param: null } },
  gemini: { error: { code: 401, status: "UNAUTHENTICATED" } },
  anthropic: { type: "error", error: { type: "authentication_error" } },
};

test.each([
  ["POST", "v1/chat/completions", {}, "openai"],
  ["POST", "v1/nothing", {}, "openai"],
  ["POST", "", {}, "openai"],
  ["POST", "v1/messages", {}, "anthropic"],
  ["POST", "v1/messages/nothing", {}, "anthropic"],
  ["POST", "v1beta/models/m:generateContent", {}, "gemini"],
  ["POST", "v1beta/nothing", {}, "gemini"],
  ["POST", "v1/models/m:generateContent", {}, "gemini"],
  ["POST", "v1/files", {}, "openai"],
  ["POST", "v1/files", { authorization: "Bearer x" }, "openai"],
  ["POST", "v1/files", { "x-goog-api-key": "inf_bad" }, "gemini"],
  ["POST", "upload/v1/files?key=inf_bad", {}, "gemini"],
  ["POST", "upload/v1beta/files", {}, "gemini"],
  ["POST", "v1/files", { "anthropic-version": "2023-06-01", "x-api-key": "inf_bad" }, "anthropic"],
  ["POST", "v1/cachedContents", {}, "gemini"],
  ["GET", "v1/cachedContents/x", { authorization: "Bearer x" }, "gemini"],
  ["POST", "v1/fileSearchStores", {}, "gemini"],
  ["POST", "v1/operations", { "x-goog-api-key": "inf_bad" }, "gemini"],
  ["POST", "v1/chat/completions", { "x-goog-api-key": "inf_bad" }, "openai"],
  ["GET", "v1/chat/completions/x", { "x-goog-api-key": "inf_bad" }, "openai"],
  ["GET", "v1/models", {}, "openai"],
  ["GET", "v1/models/m", { authorization: "Bearer x" }, "openai"],
  ["GET", "v1/models", { "x-goog-api-key": "inf_bad" }, "gemini"],
  ["GET", "v1/models?key=inf_bad", {}, "gemini"],
  ["GET", "v1/models/m", { "anthropic-version": "2023-06-01", "x-api-key": "inf_bad" }, "anthropic"],
] as const)("401 on %s %s with %j has the shape of %s", async (method, path, headers, dialect) => {
  const answer = await ask(path, headers, method);
  expect(answer.status).toBe(401);
  expect(answer.body).toMatchObject(SHAPES[dialect]);
  expect(answer.headers.get("www-authenticate")).toBe("Bearer");
});

test("every cause of a 401 has one body for each shape", async () => {
  const keys = [
    "",
    "inf_bad",
    harness.addKey({ state: "revoked" }),
    harness.addKey({ state: "suspended" }),
    harness.addKey({ expiresAt: 0 }),
    harness.addKey({ teamId: "team-b" }),
  ];
  for (const path of ["v1/embeddings", "v1beta/models/m:generateContent", "v1/messages"]) {
    const bodies = new Set<string>();
    for (const key of keys) bodies.add(JSON.stringify((await ask(path, { "x-api-key": key })).body));
    expect(bodies.size).toBe(1);
  }
});

test("403, 404 and 503 have each shape's own words", async () => {
  const key = harness.addKey();
  const none = { "x-api-key": harness.addKey({ scopes: scopeSet(["memory:read"]) }) };
  expect((await ask("v1/embeddings", none)).body).toMatchObject({
    error: { code: "forbidden", type: "permission_error" },
  });
  expect((await ask("v1/messages", none)).body).toMatchObject({ error: { type: "permission_error" } });
  expect((await ask("v1beta/x", none)).body).toMatchObject({ error: { code: 403, status: "PERMISSION_DENIED" } });
  const some = { "x-api-key": key };
  expect((await ask("v1/nothing", some)).body).toMatchObject({
    error: { code: "not_found", type: "invalid_request_error" },
  });
  expect((await ask("v1/messages/x", some)).body).toMatchObject({ error: { type: "not_found_error" } });
  expect((await ask("v1beta/x", some)).body).toMatchObject({ error: { code: 404, status: "NOT_FOUND" } });
  harness.setCurrent(false);
  const stale = await ask("v1beta/models/m:generateContent", some);
  harness.setCurrent(true);
  expect(stale).toMatchObject({ status: 503, body: { error: { code: 503, status: "UNAVAILABLE" } } });
});

test("models are listed in the shape that the key's carrier or the version header asks for, and those of that format", async () => {
  const key = harness.addKey();
  const lists = await Promise.all([
    ask("v1/models", { authorization: `Bearer ${key}` }, "GET"),
    ask("v1/models", { "x-goog-api-key": key }, "GET"),
    ask(`v1/models?key=${key}`, {}, "GET"),
    ask("v1/models", { "x-api-key": key, "anthropic-version": "2023-06-01" }, "GET"),
    ask("v1beta/models", { authorization: `Bearer ${key}` }, "GET"),
  ]);
  expect(lists.map(({ body }) => body)).toMatchObject([
    { object: "list", data: [{ id: "fast" }, { id: "slow" }] },
    { models: [{ name: "models/gem" }] },
    { models: [{ name: "models/gem" }] },
    { data: [{ type: "model", id: "opus" }], has_more: false },
    { models: [{ name: "models/gem" }] },
  ]);
});

test("a model is described to those whose format can call it alone", async () => {
  const headers = { authorization: `Bearer ${harness.addKey()}` };
  const found = await Promise.all(
    ["v1/models/fast", "v1/models/gem", "v1/models/gone", "v1beta/models/gem", "v1beta/models/fast"].map(
      async (path) => (await ask(path, headers, "GET")).status,
    ),
  );
  expect(found).toEqual([200, 404, 404, 200, 404]);
});

test("a key with allowed models sees those alone, and the others do not exist for it", async () => {
  const key = harness.addKey({ allowedModels: ["slow", "gpt-x", "gem"] });
  const headers = { authorization: `Bearer ${key}` };
  expect((await ask("v1/models", headers, "GET")).body).toMatchObject({ data: [{ id: "slow" }] });
  expect(await ask("v1/models/fast", headers, "GET")).toMatchObject({
    status: 404,
    body: { error: { message: "This gateway has no logical route of that name. This key may name: slow." } },
  });
  const one = await ask("v1beta/models/gem", headers, "GET");
  expect([one.status, one.headers.get("x-keyplane-route-id")]).toEqual([200, "rt-gem"]);
});

test("a list of models needs gateway:routes", async () => {
  const key = harness.addKey({ scopes: scopeSet(["gateway:generate"]) });
  expect((await ask("v1/models", { authorization: `Bearer ${key}` }, "GET")).status).toBe(403);
});
