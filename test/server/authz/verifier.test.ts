import { randomBytes, randomUUID } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { KeyRecord } from "../../../domain/access/key-record.ts";
import { SCOPES, scopeSet } from "../../../domain/access/scopes.ts";
import { products } from "../../../processes/products.ts";
import { requestHead, sendRaw } from "../raw-http.ts";
import { headerIn, NGINX, OTHERS, type Question, shownBy, startVerifier, type Verifier } from "./verifier-harness.ts";

const PROXIES = [NGINX, ...OTHERS];
const RATE = { requestsPerMinute: 60, burst: 2, scope: "Replica" } as const;
const OPENAI = { name: "o", dialect: "openai", baseUrl: "http://127.0.0.1:1", credential: "sk" } as const;
const GEMINI = { ...OPENAI, name: "g", dialect: "gemini" } as const;
const CHAT = "/v1/chat/completions";
const GENERATE = "/v1beta/models/m:generateContent";

let verifier: Verifier;
beforeAll(async () => {
  verifier = await startVerifier();
  verifier.addGateway({ publicId: "open", upstreams: [OPENAI], operations: ["generate", "embed", "models"] });
  verifier.addGateway({ publicId: "gemini", upstreams: [GEMINI], operations: ["generate", "models"] });
  verifier.addGateway({ publicId: "foreign", upstreams: [OPENAI], teamId: "team-b" });
  verifier.addGateway({ publicId: "strict", upstreams: [OPENAI], routesOnly: true });
  verifier.addGateway({ publicId: "stores", upstreams: [OPENAI], operations: ["generate", "responses"] });
  verifier.addGateway({ publicId: "files", upstreams: [OPENAI], operations: ["generate", "files"] });
  verifier.addGateway({ publicId: "vectors", upstreams: [OPENAI], operations: ["generate", "vectorStores"] });
  verifier.addGateway({ publicId: "googles", upstreams: [GEMINI], operations: ["generate", "vectorStores"] });
  verifier.addGateway({ publicId: "batches", upstreams: [OPENAI], operations: ["generate", "batches"] });
  verifier.addGateway({
    publicId: "routed",
    upstreams: [OPENAI],
    routes: [{ model: "fast", routeId: "r", upstream: "o", upstreamModel: "gpt", fallbacks: [] }],
  });
});
afterAll(() => verifier.close());

/** Headers in which some proxy shows a request. */
const PLACES = ["X-Original-Method", "X-Original-URI", "X-Forwarded-Method", "X-Forwarded-Uri"];

/** Asks as a proxy about a request with a key. */
function askAs(proxy: string, to: string, method: string, target: string, key: string, more: readonly string[] = []) {
  if (proxy !== "envoy") {
    return verifier.ask({ path: `/authz/${proxy}/${to}`, headers: [...shownBy(proxy, method, target, key), ...more] });
  }
  const headers = [...(key === "" ? [] : [`Authorization: Bearer ${key}`]), ...more];
  return verifier.ask({ method, path: `/authz/envoy/${to}${target}`, headers });
}

/** The status that the caller gets in the end. */
const statusOf = (answer: Awaited<ReturnType<typeof askAs>>) =>
  Number(headerIn(answer, "x-keyplane-status") ?? answer.status);

describe.each(PROXIES)("%s", (proxy) => {
  test("a yes has every header, empty ones too", async () => {
    const key = verifier.addKey({ namespace: "", scopes: scopeSet(["gateway:generate", "memory:read"]) });
    const { keyId, teamId } = verifier.recordOf(key);
    const answer = await askAs(proxy, "g/open", "POST", CHAT, key);
    expect(answer.status).toBe(200);
    expect(answer.body).toBe("");
    const names = ["key", "team", "namespace", "scopes", "operation"].map((name) => `x-keyplane-${name}`);
    expect(names.map((name) => headerIn(answer, name))).toEqual([
      ...[keyId, teamId, "", "gateway:generate memory:read", "gateway.chat_completions"],
    ]);
  });

  test.each<[string, Partial<KeyRecord>, string, string, string, number]>([
    ["a key of the scope", {}, "g/open", "POST", CHAT, 200],
    ["a key without the scope", { scopes: scopeSet(["memory:read"]) }, "g/open", "POST", CHAT, 403],
    ["a key with another scope of the product", { scopes: scopeSet(["gateway:embed"]) }, "g/open", "POST", CHAT, 403],
    ["a revoked key", { state: "revoked" }, "g/open", "POST", CHAT, 401],
    ["a suspended key", { state: "suspended" }, "g/open", "POST", CHAT, 401],
    ["a key bound elsewhere", { boundGatewayId: "other" }, "g/open", "POST", CHAT, 403],
    ["another team's gateway", {}, "g/foreign", "POST", CHAT, 401],
    ["a gateway that is not there", {}, "g/nowhere", "POST", CHAT, 401],
    ["a path that is no operation", {}, "g/open", "POST", "/v1/nowhere", 404],
    ["another method", {}, "g/open", "GET", CHAT, 404],
    ["a kind that the gateway does not serve", {}, "g/open", "POST", "/v1/moderations", 404],
    ["a format that no upstream speaks", {}, "g/open", "POST", "/v1/messages", 404],
    ["a list of models", {}, "g/open", "GET", "/v1/models", 200],
    ["a list of models of a restricted key", { allowedModels: ["m"] }, "g/open", "GET", "/v1/models", 403],
    ["a model", {}, "g/open", "GET", "/v1/models/ft:gpt-4:org", 200],
    ["a model whose id is a path of its own at the provider", {}, "g/open", "GET", "/v1/models/a/operations/b", 403],
    ["one of v1beta", {}, "g/gemini", "GET", "/v1beta/models/x/operations/y", 403],
    ["one that ends in a slash", {}, "g/open", "GET", "/v1/models/a/", 403],
    ["a gateway of routes alone", {}, "g/strict", "POST", CHAT, 403],
    ["a response that the upstream stores", {}, "g/stores", "POST", "/v1/responses", 403],
    ["a stored response", {}, "g/stores", "GET", "/v1/responses/r_1", 403],
    ["a call that may name files of a gateway with files", {}, "g/files", "POST", CHAT, 403],
    ["a call that may name stores of a gateway with stores", {}, "g/vectors", "POST", CHAT, 403],
    ["a call that may name no store of a gateway with stores", {}, "g/googles", "POST", GENERATE, 200],
    ["a call that may name outputs of a gateway with batches", {}, "g/batches", "POST", CHAT, 403],
    ["a file", { scopes: scopeSet(["gateway:files"]) }, "g/files", "GET", "/v1/files/f_1", 403],
    ["a scope that the key has", {}, "scope/memory:read", "GET", "/anything", 200],
    ["a scope that it lacks", { scopes: scopeSet(["memory:read"]) }, "scope/memory:write", "GET", "/", 403],
    ["a scope, of a key of some libraries", { libraryIds: ["l"] }, "scope/memory:read", "GET", "/", 403],
    ["a scope, of a key of subjects", { subject: { mode: "Required" } }, "scope/memory:read", "GET", "/", 403],
    ["a scope of models, of a key of some libraries", { libraryIds: ["l"] }, "scope/gateway:embed", "GET", "/", 200],
    ["a scope, of a bound key", { boundGatewayId: "g" }, "scope/gateway:generate", "GET", "/", 403],
    ["a scope, of a key of some models", { allowedModels: ["m"] }, "scope/gateway:generate", "GET", "/", 403],
    ["concurrent calls", { concurrent: 8 }, "g/open", "POST", CHAT, 403],
    ["concurrent calls of the team", { teamLimits: { rate: null, concurrent: 8 } }, "g/open", "POST", CHAT, 403],
    ["a parameter that steers", {}, "g/open", "POST", `${CHAT}?_method=DELETE`, 400],
    ["a parameter that hides the usage", {}, "g/open", "POST", `${CHAT}?$fields=id`, 400],
    ["a parameter that does neither", {}, "g/open", "POST", `${CHAT}?api-version=1`, 200],
    ["concurrent calls, unmetered", { concurrent: 8 }, "unmetered/g/open", "POST", CHAT, 200],
    ["concurrent calls, of a service", { concurrent: 8 }, "scope/memory:read", "GET", "/", 403],
    ["tokens", { tokenLimit: { tokensPerMinute: 9, scope: "Replica" } }, "g/open", "POST", CHAT, 403],
    ["tokens of the team", { teamLimits: TEAM_TOKENS }, "g/open", "POST", CHAT, 403],
    ["tokens, unmetered", { teamLimits: TEAM_TOKENS }, "unmetered/g/open", "POST", CHAT, 200],
    ["tokens, of the memory", { teamLimits: TEAM_TOKENS }, "scope/memory:read", "GET", "/", 200],
    ["a budget", { budgets: BUDGETS }, "g/open", "POST", CHAT, 403],
    ["a budget, of a scope", { budgets: BUDGETS }, "scope/gateway:generate", "POST", CHAT, 403],
    ["a budget, unmetered", { budgets: BUDGETS }, "unmetered/g/open", "POST", CHAT, 200],
  ])("b388: %s", async (_what, fields, to, method, target, status) => {
    expect(statusOf(await askAs(proxy, to, method, target, verifier.addKey(fields)))).toBe(status);
  });

  test("a key in the query is refused, with the reason, whatever else has one", async () => {
    const key = verifier.addKey();
    for (const query of [`key=${key}`, `%6bey=${key}`, `a=b&%6B%65%79=${key}`, "key", "key="]) {
      const answer = await askAs(proxy, "scope/memory:read", "GET", `/x?${query}`, key);
      expect([query, statusOf(answer)]).toEqual([query, 400]);
      expect(answer.text).toContain("in a header");
      expect(answer.text).not.toContain(key.slice(12, 40));
    }
  });

  test.each([
    "X-HTTP-Method-Override: DELETE",
    "X-Method-Override: GET",
    "X-Original-URL: /v1/admin",
    "X-Rewrite-Url: /v1/admin",
    "X-Envoy-Original-Path: /v1/admin",
    "x-portkey-provider: other",
    "X-Target-Url: http://elsewhere",
    "Content.Type: text/plain",
    "Content_Encoding: gzip",
    "Content.Length: 5",
    "Transfer_Encoding: chunked",
    ...PLACES.filter((place) => proxy === "envoy" || !shownBy(proxy, "", "", "").join().includes(place)).map(
      (place) => `${place}: DELETE`,
    ),
    ...PLACES.map((place) => `${place.replaceAll("-", "_")}: DELETE`),
  ])("b386: refuses %s, which the gateway would take off", async (header) => {
    const key = verifier.addKey();
    const refused = verifier.refused.length;
    for (const to of ["g/open", "scope/gateway:generate"]) {
      expect([to, statusOf(await askAs(proxy, to, "POST", CHAT, key, [header]))]).toEqual([to, 400]);
    }
    expect(verifier.refused.slice(refused).map(({ cause }) => cause)).toEqual(["unsafe_at_proxy", "unsafe_at_proxy"]);
  });

  test.each([
    ...["X-Original-Host: a.example", "HX-Target: list", "X-Envoy-Original-Path: /a", "X-Page-Url: /a"],
    "Upgrade: websocket",
  ])("b386, b462: passes %s where no model is asked, and names it where one is", async (header) => {
    const key = verifier.addKey();
    expect(statusOf(await askAs(proxy, "scope/memory:read", "GET", "/a", key, [header]))).toBe(200);
    const refused = await askAs(proxy, "g/open", "POST", CHAT, key, [header]);
    expect([statusOf(refused), refused.text]).toEqual([400, expect.stringContaining(header.split(":")[0] ?? "")]);
  });

  test.each([
    "Referer: https://console.example/keys/inf_AbCdEfGh",
    "X-Request-Id: userinf_0123456789abcdef0123456789abcdef",
    "Referer: https://console.example/keys?q=inf_AbCdEfGh&state=active&sort=last-used-in-descending-order",
    "Referer: https://console.example/to?page=%2Fkeys%3Fq%3Dinf_AbCdEfGh%26state%3Dactive%26sort%3Dlast-used",
    "Cookie: inf_session_id=8c1f8a5e-7a55-4c43-9c52-0f0f3b1c6c55; theme=%7B%22a%22%3A%22100%25%22%7D; b=%zz",
    "Cookie: csrf=aW5mXw+inf/4Zk0aW5mXzEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MA==",
  ])("takes for no key what is none: %s", async (header) => {
    expect(statusOf(await askAs(proxy, "g/open", "POST", CHAT, verifier.addKey(), [header]))).toBe(200);
  });

  test.each([
    "/keys/inf_AbCdEfGh/versions/2/events-of-the-last-week",
    "/reports/inf_2026/november/29/summary-of-the-week.pdf",
    "/x?prefix=inf_AbCdEfGh&from=2026-11-01T00:00:00Z&to=2026-11-29T00:00:00Z",
  ])("takes for no key what is none: %s", async (target) => {
    expect(statusOf(await askAs(proxy, "scope/memory:read", "GET", target, verifier.addKey()))).toBe(200);
  });

  test("b389: refuses a key beside the place where keys are, which no proxy takes off", async () => {
    const [key, other] = [verifier.addKey(), verifier.addKey()];
    for (const to of ["g/open", "scope/memory:read"]) {
      for (const header of [`Cookie: a=b; key=${key}`, `X-Token: ${key}`, `Referer: http://x/?k=${other}`]) {
        expect([header, statusOf(await askAs(proxy, to, "POST", CHAT, key, [header]))]).toEqual([header, 400]);
      }
      expect(statusOf(await askAs(proxy, to, "POST", `${CHAT}?k=${other}`, key))).toBe(400);
      // The proxy takes these off.
      expect(statusOf(await askAs(proxy, to, "POST", CHAT, key, [`X-Api-Key: ${other}`]))).toBe(200);
    }
  });

  test.each<[string, (key: string) => { readonly header?: string; readonly target?: string }]>([
    ["a cookie", (key) => ({ header: `Cookie: a=b; k=${key}; c=d` })],
    ["another carrier", (key) => ({ header: `Api-Key: ${key}` })],
    ["an encoded cookie", (key) => ({ header: `Cookie: auth=Bearer%20${key}` })],
    ["a cookie in encoded quotes", (key) => ({ header: `Cookie: auth=%22${key}%22` })],
    ["a cookie that is encoded twice", (key) => ({ header: `Cookie: auth=Bearer%2520${key.replace("_", "%255f")}` })],
    ["a cookie that no client encodes so often", () => ({ header: `Cookie: auth=%${"25".repeat(9)}41` })],
    ["a URL", (key) => ({ header: `Referer: http://x/?k=${key.replace("_", "%5F")}` })],
    ["a parameter", (key) => ({ target: `${CHAT}?token=${key}` })],
    ["an encoded parameter", (key) => ({ target: `${CHAT}?auth=Bearer%20${key}` })],
    ["a parameter with an encoded character", (key) => ({ target: `${CHAT}?auth=${key.replace("_", "%5F")}` })],
    ["the path", (key) => ({ target: `/x/${key.replaceAll("/", "_")}` })],
    ["the path, encoded", (key) => ({ target: `/x/${key.replaceAll("/", "_").replace("i", "%69")}/y` })],
  ])("b389: refuses a key, also an imported one, in %s", async (_what, place) => {
    const key = verifier.addKey();
    for (const other of [key, `inf_${randomUUID()}`, `inf_${randomBytes(30).toString("base64")}`]) {
      const { header, target = CHAT } = place(other);
      for (const to of ["g/open", "scope/gateway:generate"]) {
        const answer = await askAs(proxy, to, "POST", target, key, header === undefined ? [] : [header]);
        expect([to, statusOf(answer)]).toEqual([to, 400]);
        expect(answer.text).not.toContain(other.slice(12, 40));
      }
    }
  });

  test.each(["X_Keyplane_Team: forged", "x-keyplane_team: forged", "X.Keyplane.Key: forged"])(
    "b389: refuses %s, which some servers read as the verifier's own",
    async (header) => {
      const key = verifier.addKey();
      for (const to of ["g/open", "scope/gateway:generate"]) {
        expect(statusOf(await askAs(proxy, to, "POST", CHAT, key, [header]))).toBe(400);
      }
    },
  );

  test("a path that may be read in two ways is refused before the key is looked at", async () => {
    expect(statusOf(await askAs(proxy, "g/open", "POST", "/v1/../x", ""))).toBe(400);
    expect(statusOf(await askAs(proxy, "g/open", "POST", CHAT, ""))).toBe(401);
  });

  test("the rate counts, and says when to try again", async () => {
    const key = verifier.addKey({ rateLimit: RATE });
    const statuses = [];
    for (let i = 0; i < 3; i++) statuses.push(statusOf(await askAs(proxy, "g/open", "POST", CHAT, key)));
    expect(statuses).toEqual([200, 200, 429]);
    const refused = await askAs(proxy, "g/open", "POST", CHAT, key);
    expect(headerIn(refused, "retry-after")).toBe("1");
    expect(refused.status).toBe(proxy === NGINX ? 403 : 429);
    expect(JSON.parse(refused.body)).toMatchObject({ error: { code: "rate_limited" } });
  });

  test.each<[string, Partial<KeyRecord>, string, readonly string[]]>([
    ["without the scope", { scopes: scopeSet(["memory:read"]) }, "g/open", []],
    ["with a limit that cannot be held", { concurrent: 8 }, "g/open", []],
    ["narrower than the scope", { allowedModels: ["gpt"] }, "scope/gateway:generate", []],
    ["whose body is not shown", { allowedModels: ["gpt"] }, "g/open", []],
    ["with a header that steers", {}, "g/open", ["X-HTTP-Method-Override: DELETE"]],
  ])("a refused question costs nothing of the rate of a key %s", async (_what, fields, to, headers) => {
    const key = verifier.addKey({ rateLimit: RATE, ...fields });
    for (let i = 0; i < 3; i++) {
      const status = statusOf(await askAs(proxy, to, "POST", CHAT, key, headers));
      expect(status).toBe(headers.length === 0 ? 403 : 400);
    }
    verifier.changeKey(key, { scopes: scopeSet(["gateway:generate"]), concurrent: null, allowedModels: null });
    const statuses = [];
    for (let i = 0; i < 3; i++) statuses.push(statusOf(await askAs(proxy, "g/open", "POST", CHAT, key)));
    expect(statuses).toEqual([200, 200, 429]);
  });

  test("503 while the index is not current", async () => {
    verifier.setCurrent(false);
    const answer = await askAs(proxy, "g/open", "POST", CHAT, verifier.addKey());
    verifier.setCurrent(true);
    expect(statusOf(answer)).toBe(503);
    expect(answer.status).toBe(proxy === NGINX ? 403 : 503);
    expect(headerIn(answer, "retry-after")).toBe("1");
  });

  test("a call whose body says what it may do is refused where no body is shown", async () => {
    const key = verifier.addKey({ allowedModels: ["gpt"] });
    const answer = await askAs(proxy, "g/open", "POST", CHAT, key);
    expect(statusOf(answer)).toBe(403);
    expect(answer.text).toMatch(/body/);
  });
});

const later = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));
const TEAM_TOKENS = { rate: null, concurrent: null, tokens: { tokensPerMinute: 9, scope: "Replica" } } as const;
const BUDGETS = {
  owner: "k",
  items: [{ tokens: 5, period: "Day", timeZone: "UTC", onExhausted: "Alert" }],
} as const satisfies KeyRecord["budgets"];

describe("a body that names the model", () => {
  const ENVOY = ["X-Envoy-Auth-Partial-Body: false", "Content-Type: application/json"];
  const post = (key: string, body: string | undefined, headers: readonly string[], to = "g/open", target = CHAT) =>
    verifier.ask({
      method: "POST",
      path: `/authz/envoy/${to}${target}`,
      headers: [`Authorization: Bearer ${key}`, ...headers],
      ...(body !== undefined && { body }),
    });
  const ofModel = (model: string) => JSON.stringify({ model, messages: [] });
  /** Asks about a call of the model gpt, and waits with the last byte of its body. */
  async function askSlowly(key: string, to = "g/open") {
    const body = ofModel("gpt");
    const socket = connect(verifier.authzPort, "127.0.0.1");
    const answered = text(socket);
    socket.write(
      requestHead(`POST /authz/envoy/${to}${CHAT} HTTP/1.1`, [
        ...[`Authorization: Bearer ${key}`, `Content-Length: ${body.length}`, "Connection: close"],
        ...ENVOY,
      ]) + body.slice(0, -1),
    );
    await expect.poll(() => verifier.streams.size).toBe(1);
    return { answered, finish: () => socket.write(body.slice(-1)) };
  }

  test.each<[string, number, string | undefined, readonly string[]]>([
    ["an allowed model", 200, ofModel("gpt"), ENVOY],
    ["an allowed model, escaped", 200, '{"model":"g\\u0070t"}', ENVOY],
    ["another model", 403, ofModel("other"), ENVOY],
    ["no model", 403, "{}", ENVOY],
    ["no body", 403, undefined, ENVOY],
    ["an empty body", 403, "", ENVOY],
    ["a body that may be partial", 403, ofModel("gpt"), ["Content-Type: application/json"]],
    ["a partial body", 403, ofModel("gpt"), ["X-Envoy-Auth-Partial-Body: true", "Content-Type: application/json"]],
    ["a body that is partial and whole", 403, ofModel("gpt"), [...ENVOY, "X-Envoy-Auth-Partial-Body: true"]],
    ["a body that says it is whole twice", 403, ofModel("gpt"), [...ENVOY, "X-Envoy-Auth-Partial-Body: false"]],
    ["a partial body in other words", 403, ofModel("gpt"), ["X-Envoy-Auth-Partial-Body: FALSE", ENVOY[1] ?? ""]],
    ["a compressed body", 403, ofModel("gpt"), [...ENVOY, "Content-Encoding: gzip"]],
    ["two codings", 403, ofModel("gpt"), [...ENVOY, "Content-Encoding: identity, gzip"]],
    ["no media type", 403, ofModel("gpt"), [ENVOY[0] ?? ""]],
    ["two media types", 403, ofModel("gpt"), [...ENVOY, "Content-Type: text/plain"]],
    ["another media type", 415, ofModel("gpt"), [ENVOY[0] ?? "", "Content-Type: text/plain"]],
    ["another charset", 400, ofModel("gpt"), [ENVOY[0] ?? "", "Content-Type: application/json; charset=utf-7"]],
    ["a body that is cut off", 400, '{"model":"gpt"', ENVOY],
    ["two models", 400, '{"model":"other","model":"gpt"}', ENVOY],
    ["two models, one escaped", 400, '{"model":"gpt","mod\\u0065l":"other"}', ENVOY],
    ["what is behind the body", 400, '{"model":"gpt"}{"model":"other"}', ENVOY],
    ["a list", 400, '[{"model":"gpt"}]', ENVOY],
    ["a model in a header", 400, ofModel("gpt"), [...ENVOY, "X-Model: other"]],
    ["a deployment in a header", 400, ofModel("gpt"), [...ENVOY, "azureml-model-deployment: other"]],
  ])("b387: %s", async (_what, status, body, headers) => {
    const key = verifier.addKey({ allowedModels: ["gpt"] });
    expect(statusOf(await post(key, body, headers))).toBe(status);
  });

  test("b387: a model in the query is refused", async () => {
    const key = verifier.addKey({ allowedModels: ["gpt"] });
    expect(statusOf(await post(key, ofModel("gpt"), ENVOY, "g/open", `${CHAT}?model=other`))).toBe(400);
  });

  test("b388: a logical route is refused, and a model of the upstream is not", async () => {
    const key = verifier.addKey();
    expect(statusOf(await post(key, ofModel("fast"), ENVOY, "g/routed"))).toBe(403);
    expect(statusOf(await post(key, ofModel("gpt"), ENVOY, "g/routed"))).toBe(200);
  });

  test("b387: a key that ends while the body comes is refused", async () => {
    const key = verifier.addKey({ allowedModels: ["gpt"] });
    const body = ofModel("gpt");
    const head = requestHead(`POST /authz/envoy/g/open${CHAT} HTTP/1.1`, [
      ...[`Authorization: Bearer ${key}`, `Content-Length: ${body.length}`],
      ...ENVOY,
    ]);
    const answer = sendRaw(verifier.authzPort, head + body.slice(0, -1));
    await expect.poll(() => verifier.streams.size).toBe(1);
    verifier.changeKey(key, { state: "revoked" });
    expect((await answer).status).toBe(401);
    await expect.poll(() => verifier.streams.size).toBe(0);
  });

  test("b387: a key that is narrowed while the body comes is decided by what it is then", async () => {
    const key = verifier.addKey({ allowedModels: ["gpt"] });
    const { answered, finish } = await askSlowly(key);
    verifier.changeKey(key, { allowedModels: ["other"] });
    finish();
    expect(await answered).toMatch(/^HTTP\/1\.1 403 /);
  });

  test("b388: a limit that comes while the body does refuses, as it would before", async () => {
    const key = verifier.addKey({ allowedModels: ["gpt"] });
    const { answered, finish } = await askSlowly(key);
    verifier.changeKey(key, { concurrent: 8 });
    finish();
    expect(await answered).toMatch(/^HTTP\/1\.1 403 /);
  });

  test("b388: where the path says unmetered, bodies that are being read refuse no other question", async () => {
    const key = verifier.addKey({ allowedModels: ["gpt"], concurrent: 1 });
    const { answered, finish } = await askSlowly(key, "unmetered/g/open");
    expect(statusOf(await post(key, ofModel("gpt"), ENVOY, "unmetered/g/open"))).toBe(200);
    expect(statusOf(await askAs("traefik", "unmetered/scope/memory:read", "GET", "/", key))).toBe(200);
    finish();
    expect(await answered).toMatch(/^HTTP\/1\.1 200 /);
  });

  test("b387: a caller who leaves while the body comes holds nothing", async () => {
    const key = verifier.addKey({ allowedModels: ["gpt"] });
    const socket = connect(verifier.authzPort, "127.0.0.1");
    socket.write(
      requestHead(`POST /authz/envoy/g/open${CHAT} HTTP/1.1`, [
        ...[`Authorization: Bearer ${key}`, "Content-Length: 100"],
        ...ENVOY,
      ]),
    );
    await expect.poll(() => verifier.streams.size).toBe(1);
    socket.destroy();
    await expect.poll(() => verifier.streams.size).toBe(0);
  });
});

describe("nginx, which passes on 401 and 403 alone", () => {
  test("is given the caller's answer in headers", async () => {
    const answer = await askAs(NGINX, "g/open", "POST", CHAT, "");
    expect([answer.status, headerIn(answer, "x-keyplane-status")]).toEqual([401, "401"]);
    expect(headerIn(answer, "www-authenticate")).toBe("Bearer");
    expect(JSON.parse(headerIn(answer, "x-keyplane-error") ?? "")).toEqual(JSON.parse(answer.body));
  });

  test("is given an answer in ASCII, and a shorter one in place of one that is too long", async () => {
    const models = (names: readonly string[]) => verifier.addKey({ allowedModels: names });
    const list = await askAs(NGINX, "g/open", "POST", "/v1/moderations", models(["ä"]));
    expect(headerIn(list, "x-keyplane-error")).toMatch(/^[\x20-\x7e]+$/);
    const gateway = Array.from({ length: 100 }, (_, i) => `model-with-a-long-name-${i}`);
    const long = await askAs(NGINX, "g/routed", "GET", "/v1/models", models(gateway));
    expect((headerIn(long, "x-keyplane-error") ?? "").length).toBeLessThan(2_001);
  });
});

describe("the caller's address", () => {
  const fields = { allowedCIDRs: ["203.0.113.0/24"] };
  test.each([
    ["none", [], 403],
    ["one of the list", ["X-Real-IP: 203.0.113.9"], 200],
    ["with a port", ["X-Real-IP: 203.0.113.9:4711"], 200],
    ["another", ["X-Real-IP: 198.51.100.1"], 403],
    ["the last of several", ["X-Real-IP: 198.51.100.1, 203.0.113.9"], 200],
    ["one that its caller has written in front", ["X-Real-IP: 203.0.113.9, 198.51.100.1"], 403],
    ["two headers", ["X-Real-IP: 203.0.113.9", "X-Real-IP: 203.0.113.9"], 403],
    ["no address", ["X-Real-IP: here"], 403],
    ["another header", ["X-Forwarded-For: 203.0.113.9"], 403],
  ])("b392: %s", async (_what, headers, status) => {
    const key = verifier.addKey(fields);
    expect(statusOf(await askAs("traefik", "g/open", "POST", CHAT, key, headers))).toBe(status);
  });

  test("b392: none is believed unless the server is started with the name of a header", async (context) => {
    const other = await startVerifier({ addressHeader: null });
    context.onTestFinished(() => other.close());
    const headers = ["X-Real-IP: 203.0.113.9", "X-Forwarded-For: 203.0.113.9", "Forwarded: for=203.0.113.9"];
    const asked: Question = {
      path: "/authz/traefik/scope/memory:read",
      headers: [...shownBy("traefik", "GET", "/", other.addKey(fields)), ...headers],
    };
    const answer = await other.ask(asked);
    expect(answer.status).toBe(403);
    expect(answer.body).toContain("--authz-address-header");
  });
});

test("a yes is noted as a use, and counted by its scope; a refusal is recorded without the key", async () => {
  const [used, counted, refused] = [verifier.used.length, verifier.counted.length, verifier.refused.length];
  const key = verifier.addKey({ scopes: scopeSet(["memory:read"]) });
  await askAs("caddy", "scope/memory:read", "GET", "/x", key);
  await askAs("caddy", "scope/memory:write", "GET", "/x", key);
  expect(verifier.used.slice(used).map((use) => use.key.keyId)).toEqual([verifier.recordOf(key).keyId]);
  expect(verifier.counted.slice(counted)).toEqual(["scope.memory_read"]);
  expect(verifier.refused.slice(refused)).toMatchObject([
    { cause: "scope_missing", route: "/authz/caddy/scope/:scope", keyId: verifier.recordOf(key).keyId },
  ]);
  expect(JSON.stringify([verifier.lines, verifier.refused])).not.toContain(key.slice(12, 40));
});

describe("two listeners", () => {
  test("b385: none of the public routes is on the verifier's, and none of its own on the public one", async (context) => {
    const other = await startVerifier({}, { mounts: products() });
    context.onTestFinished(() => other.close());
    const key = other.addKey();
    const headers = [`Authorization: Bearer ${key}`];
    for (const path of ["/", "/readyz", "/atoms", "/g/open/v1/models", "/api/v1/whoami", "/openapi.json", "/metrics"]) {
      expect([path, (await other.ask({ path, headers })).status]).toEqual([path, 404]);
    }
    for (const path of ["/authz/nginx/scope/memory:read", "/authz/envoy/g/open/v1/models", "/introspect"]) {
      const all = [...headers, ...shownBy(NGINX, "GET", "/", key)];
      const { status } = await sendRaw(other.port, requestHead(`GET ${path} HTTP/1.1`, all));
      expect([path, status]).toEqual([path, 404]);
    }
  });
});

describe("a proxy that is known by a token", () => {
  const folder = mkdtempSync(join(tmpdir(), "keyplane-authz-"));
  const tokenFile = join(folder, "token");
  const TOKEN = "Zm9yIHRoZSBwcm94eSBhbG9uZSwgcmFuZG9t";
  writeFileSync(tokenFile, `${TOKEN}\n`, { mode: 0o600 });
  let other: Verifier;
  beforeAll(async () => {
    other = await startVerifier({ tokenFile });
  });
  afterAll(async () => {
    await other.close();
    rmSync(folder, { recursive: true });
  });

  test.each([
    ["none", [], 403],
    ["it", [`X-Keyplane-Authz-Token: ${TOKEN}`], 200],
    ["another", [`X-Keyplane-Authz-Token: ${TOKEN}x`], 403],
    ["an empty one", ["X-Keyplane-Authz-Token: "], 403],
    ["it twice", [`X-Keyplane-Authz-Token: ${TOKEN}`, `X-Keyplane-Authz-Token: ${TOKEN}`], 403],
    ["a very long one", [`X-Keyplane-Authz-Token: ${"x".repeat(9_000)}`], 403],
  ])("b385: %s", async (_what, headers, status) => {
    const asked = [...shownBy("traefik", "GET", "/", other.addKey()), ...headers];
    expect((await other.ask({ path: "/authz/traefik/scope/memory:read", headers: asked })).status).toBe(status);
  });

  test("b385: of a peer without the token no body is read", async () => {
    const socket = connect(other.authzPort, "127.0.0.1");
    const answered = text(socket);
    socket.on("error", () => {});
    socket.write(requestHead("POST /introspect HTTP/1.1", ["Transfer-Encoding: chunked"]));
    const more = setInterval(() => socket.write(`400\r\n${"x".repeat(1_024)}\r\n`), 1);
    expect(await answered.catch(() => "HTTP/1.1 401 ")).toMatch(/^HTTP\/1\.1 401 /);
    clearInterval(more);
    expect(socket.destroyed || socket.readableEnded).toBe(true);
  });

  test("b385: a key tells a peer without the token nothing", async () => {
    const ask = (key: string) =>
      other.ask({ path: "/authz/traefik/scope/memory:read", headers: shownBy("traefik", "GET", "/", key) });
    const [good, bad] = [await ask(other.addKey()), await ask("none")];
    expect([good.status, bad.status]).toEqual([403, 403]);
    expect(good.body.replace(/req_[^"]+/, "")).toBe(bad.body.replace(/req_[^"]+/, ""));
    expect(other.refused.at(-1)).toMatchObject({ cause: "unknown_peer", keyId: null });
  });

  test("b385: the address of a peer without the token is its connection's", async () => {
    await other.ask({ path: "/authz/traefik/scope/memory:read", headers: ["X-Real-IP: 203.0.113.9"] });
    expect(other.refused.at(-1)).toMatchObject({ cause: "unknown_peer", address: "127.0.0.1" });
  });

  test("b385: behind a question without the token no other is answered", async () => {
    const used = other.used.length;
    const asked = shownBy("traefik", "GET", "/", other.addKey());
    const line = "GET /authz/traefik/scope/memory:read HTTP/1.1";
    await sendRaw(
      other.authzPort,
      requestHead(line, asked) + requestHead(line, [...asked, `X-Keyplane-Authz-Token: ${TOKEN}`]),
    );
    expect(other.used.length).toBe(used);
  });

  test("b385: introspection takes it as a Bearer too, and nothing else does", async () => {
    const bearer = `Authorization: Bearer ${TOKEN}`;
    const form = ["Content-Type: application/x-www-form-urlencoded"];
    const introspected = await other.ask({
      method: "POST",
      path: "/introspect",
      headers: [bearer, ...form],
      body: `token=${other.addKey()}`,
    });
    expect(introspected.status).toBe(200);
    const none = await other.ask({ method: "POST", path: "/introspect", headers: form, body: "token=x" });
    expect([none.status, headerIn(none, "www-authenticate")]).toEqual([401, "Bearer"]);
    const asked = await other.ask({ path: "/authz/envoy/scope/memory:read/", headers: [bearer] });
    expect(asked.status).toBe(403);
  });
});

describe("introspection", () => {
  const introspect = (token: string, path = "/introspect") =>
    verifier.ask({
      method: "POST",
      path,
      headers: ["Content-Type: application/x-www-form-urlencoded"],
      body: new URLSearchParams({ token, token_type_hint: "access_token" }).toString(),
    });

  test("says what a key may do", async () => {
    const expiresAt = verifier.clock.now() + 90_500;
    const key = verifier.addKey({ scopes: scopeSet(["memory:read", "memory:write"]), expiresAt });
    const { keyId, teamId, namespace } = verifier.recordOf(key);
    const answer = await introspect(key);
    expect(headerIn(answer, "cache-control")).toBe("no-store");
    expect(JSON.parse(answer.body)).toEqual({
      active: true,
      scope: "memory:read memory:write",
      token_type: "Bearer",
      sub: keyId,
      client_id: keyId,
      exp: Math.floor(expiresAt / 1_000),
      team: teamId,
      namespace,
    });
  });

  test.each<[string, Partial<KeyRecord> | undefined]>([
    ["an unknown key", undefined],
    ["a revoked key", { state: "revoked" }],
    ["a revoked version", { versionState: "revoked" }],
    ["an expired key", { expiresAt: 0 }],
    ["a suspended key", { state: "suspended" }],
    ["a bound key", { boundGatewayId: "g" }],
    ["a key of some models", { allowedModels: ["m"] }],
    ["a key of some libraries", { libraryIds: [] }],
    ["a key of one subject", { subject: { mode: "Bound", subject: "s" } }],
    ["a key of some networks", { allowedCIDRs: ["0.0.0.0/0"] }],
    ["a team of some networks", { teamAllowedCIDRs: ["0.0.0.0/0"] }],
    ["a limit of requests", { rateLimit: RATE }],
    ["a limit of the team's requests", { teamLimits: { rate: RATE, concurrent: null } }],
    ["a limit of concurrent calls", { concurrent: 3 }],
    ["a budget", { budgets: BUDGETS }],
  ])("b391: %s is inactive, in the same bytes", async (_what, fields) => {
    const key = fields === undefined ? `inf_${"0".repeat(57)}` : verifier.addKey(fields);
    const answer = await introspect(key);
    expect([answer.status, answer.body]).toEqual([200, '{"active":false}']);
    expect(headerIn(answer, "content-length")).toBe("16");
  });

  test("b391: where limits do not matter, a key with limits is active", async () => {
    const key = verifier.addKey({ rateLimit: RATE, concurrent: 3, budgets: BUDGETS });
    expect(JSON.parse((await introspect(key, "/introspect/unmetered")).body)).toMatchObject({ active: true });
    const narrow = verifier.addKey({ boundGatewayId: "g" });
    expect(JSON.parse((await introspect(narrow, "/introspect/unmetered")).body)).toEqual({ active: false });
  });

  test("b391: it charges nothing, and counts no request and no refusal", async () => {
    const key = verifier.addKey({ rateLimit: RATE });
    const [counted, refused] = [verifier.counted.length, verifier.refused.length];
    for (let i = 0; i < 5; i++) await introspect(key, "/introspect/unmetered");
    await introspect("nothing");
    expect([verifier.counted.length, verifier.refused.length]).toEqual([counted, refused]);
    expect(statusOf(await askAs("traefik", "g/open", "POST", CHAT, key))).toBe(200);
  });

  test.each<[string, Partial<Question>]>([
    ["GET", { method: "GET", body: "token=x" }],
    ["JSON", { headers: ["Content-Type: application/json"], body: '{"token":"x"}' }],
    ["no token", { body: "a=b" }],
    ["two tokens", { body: "token=x&token=y" }],
    ["a form that is too long", { body: `token=${"x".repeat(17_000)}` }],
  ])("%s is none", async (_what, asked) => {
    const form = ["Content-Type: application/x-www-form-urlencoded"];
    const answer = await verifier.ask({ method: "POST", path: "/introspect", headers: form, ...asked });
    expect(answer.status).toBe(400);
    expect(JSON.parse(answer.body)).toMatchObject({ error: "invalid_request" });
  });

  test("a form with two media types is none", async () => {
    const headers = ["Content-Type: application/x-www-form-urlencoded", "Content-Type: text/plain"];
    expect((await verifier.ask({ method: "POST", path: "/introspect", headers, body: "token=x" })).status).toBe(400);
  });

  test.each([
    ["JSON", "application/json"],
    ["a form", "application/x-www-form-urlencoded"],
  ])("the connection of %s without end is closed", async (_what, type) => {
    const socket = connect(verifier.authzPort, "127.0.0.1");
    const answered = text(socket).catch(() => "");
    socket.on("error", () => {});
    const head = requestHead("POST /introspect HTTP/1.1", [`Content-Type: ${type}`, "Transfer-Encoding: chunked"]);
    socket.write(head);
    const more = setInterval(() => socket.write(`1000\r\n${"x".repeat(4_096)}\r\n`), 1);
    const closed = await Promise.race([answered.then(() => true), later(2_000)]);
    clearInterval(more);
    socket.destroy();
    expect(closed).toBe(true);
    expect(await answered).toMatch(/^(?:HTTP\/1\.1 400 |$)/);
  });

  test("503 while the index is not current, and not inactive", async () => {
    verifier.setCurrent(false);
    const answer = await introspect(verifier.addKey());
    verifier.setCurrent(true);
    expect(answer.status).toBe(503);
  });
});

test("a head that proxies take is decided, and a larger one is 431", async () => {
  const ask = (kib: number) =>
    askAs("envoy", "g/open", "POST", CHAT, verifier.addKey(), [`X-Long: ${"x".repeat(kib * 1_024)}`]);
  expect([(await ask(40)).status, (await ask(70)).status]).toEqual([200, 431]);
});

test("every scope has an operation that stands for it alone", async () => {
  for (const scope of SCOPES) {
    const [with_, without] = [[scope], SCOPES.filter((other) => other !== scope)].map((scopes) =>
      verifier.addKey({ scopes: scopeSet(scopes) }),
    );
    const ask = (key = "") => askAs("envoy", `scope/${scope}`, "GET", "/x", key);
    expect([scope, (await ask(with_)).status, (await ask(without)).status]).toEqual([scope, 200, 403]);
  }
});
