/** The recipes of docs/guides/nginx-auth-request.md, envoy.md, caddy.md and traefik.md on the real proxies. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { KeyRecord } from "../../../domain/access/key-record.ts";
import { scopeSet } from "../../../domain/access/scopes.ts";
import { requestHead, sendRaw } from "../raw-http.ts";
import { type GrpcVerifier, startGrpcVerifier } from "./grpc-harness.ts";
import { asksByGrpc, type GuideProxy, makeFiles, PROXIES, startGuideProxy, startService } from "./guide-proxies.ts";
import { headerIn, startVerifier, type Verifier } from "./verifier-harness.ts";

const OPENAI = { name: "o", dialect: "openai", baseUrl: "http://127.0.0.1:1", credential: "sk" } as const;
const CHAT = "/v1/chat/completions";
const RATE = { requestsPerMinute: 1, burst: 1, scope: "Replica" } as const;
/** The header in which each recipe sends the caller's address. */
const ADDRESS_HEADER = "x-real-ip";
const STARTED = 600_000;
/** Requests whose path Traefik cleans before it asks: the service is sent the path that was asked about. */
const CLEANED = [
  ...["an empty segment", "an empty first segment", "a dot segment", "two dots", "encoded dots"],
  "a target of its own host",
];

describe.each([...PROXIES, "envoy in Istio"] as const)("%s, as its guide sets it up", (name: GuideProxy) => {
  let verifier: Verifier | GrpcVerifier;
  let port: number;
  let service: Awaited<ReturnType<typeof startService>>;
  const ends: (() => unknown)[] = [];

  beforeAll(async () => {
    const files = await makeFiles();
    ends.push(() => files.remove());
    service = await startService();
    ends.push(() => service.close());
    const tls = { certFile: files.tlsCert, keyFile: files.tlsKey };
    const start = asksByGrpc(name) ? startGrpcVerifier : startVerifier;
    verifier = await start(
      name === "caddy"
        ? { tls: { ...tls, clientCaFile: null }, tokenFile: files.token, addressHeader: ADDRESS_HEADER }
        : { tls: { ...tls, clientCaFile: files.tlsCert }, addressHeader: ADDRESS_HEADER },
    );
    ends.push(() => verifier.close());
    verifier.addGateway({ publicId: "research-main", upstreams: [OPENAI] });
    const proxy = await startGuideProxy(name, {
      ...{ verifierPort: verifier.authzPort, servicePort: service.port, files },
    });
    port = proxy.port;
    ends.push(() => proxy.stop());
  }, STARTED);
  afterAll(async () => {
    for (const end of ends.toReversed()) await end();
  });

  /** Sends a request to the proxy as it stands; says what came back, and what the service was sent of it. */
  async function send(method: string, target: string, headers: readonly string[], body = "") {
    const before = service.sent.length;
    const length = body === "" ? [] : ["Content-Type: application/json", `Content-Length: ${body.length}`];
    const answer = await sendRaw(port, requestHead(`${method} ${target} HTTP/1.1`, [...headers, ...length]) + body);
    return { ...answer, sent: service.sent.slice(before) };
  }
  const bearer = (key: string) => `Authorization: Bearer ${key}`;
  const CHAT_BODY = '{"model":"gpt","messages":[]}';
  const chat = (key: string, headers: readonly string[] = []) =>
    send("POST", CHAT, [bearer(key), ...headers], CHAT_BODY);

  test("b397: lets a key through, says whose it is, and takes it off", async () => {
    const key = verifier.addKey({ scopes: scopeSet(["gateway:generate"]) });
    const { keyId, teamId, namespace } = verifier.recordOf(key);
    const { status, body, sent } = await chat(key);
    expect([status, body.includes("served")]).toEqual([200, true]);
    expect(sent).toMatchObject([
      {
        method: "POST",
        url: CHAT,
        body: CHAT_BODY,
        headers: {
          "x-keyplane-key": keyId,
          "x-keyplane-team": teamId,
          "x-keyplane-namespace": namespace,
          "x-keyplane-scopes": "gateway:generate",
          "x-keyplane-operation": "gateway.chat_completions",
        },
      },
    ]);
    expect(JSON.stringify(sent)).not.toContain(key.slice(4));
  });

  test.each([
    ["X-API-Key", (key: string) => [`X-API-Key: ${key}`]],
    ["x-goog-api-key", (key: string) => [`X-Goog-Api-Key: ${key}`]],
  ])("b389: a key in %s works, and is taken off", async (_carrier, carry) => {
    const key = verifier.addKey();
    const { status, sent } = await send("POST", CHAT, carry(key), CHAT_BODY);
    expect(status).toBe(200);
    expect(JSON.stringify(sent)).not.toContain(key.slice(4));
  });

  test("b389: what a client claims to be reaches the service in no spelling", async () => {
    const key = verifier.addKey({ namespace: "" });
    const { keyId } = verifier.recordOf(key);
    const { sent, status } = await chat(key, [
      "X-Keyplane-Team: forged",
      "x-keyplane-team: forged",
      "X-Keyplane-Namespace: forged",
      "X-KEYPLANE-KEY: forged",
      "X-Keyplane-Scopes: forged",
      "X-Keyplane-Operation: forged",
      // nginx takes headers off by name alone.
      ...(name === "nginx" ? [] : ["X-Keyplane-Subject: forged"]),
    ]);
    expect(status).toBe(200);
    expect(sent[0]?.headers["x-keyplane-key"]).toBe(keyId);
    expect(JSON.stringify(sent)).not.toContain("forged");
    expect(sent[0]?.headers["x-keyplane-namespace"] ?? "").toBe("");
  });

  test.each(["X_Keyplane_Team", "X-Keyplane_Team", "x_keyplane_key"])(
    "b389: what a client claims to be by %s reaches the service in no spelling",
    async (claim) => {
      const { sent } = await chat(verifier.addKey(), [`${claim}: forged`]);
      expect(JSON.stringify(sent)).not.toContain("forged");
    },
  );

  test.each([
    ...["X-Forwarded-Method", "X-Forwarded-Uri", "X-Original-Method", "X-Original-URI", "X-Envoy-Original-Path"],
    ...["X_Forwarded_Uri", "X.Original.URI", "Content.Type"],
  ])("b386: the service is sent no %s of a client", async (name_) => {
    const { sent } = await chat(verifier.addKey(), [`${name_}: claimed`]);
    expect(JSON.stringify(sent)).not.toContain("claimed");
  });

  test("b389: the service is sent no key in a cookie", async () => {
    const key = verifier.addKey();
    expect((await chat(key, [`Cookie: a=b; key=${key}`])).sent).toEqual([]);
  });

  test("b389: a client has none of the verifier's headers dropped", async () => {
    const key = verifier.addKey();
    const { sent } = await chat(key, [
      "Connection: close, X-Keyplane-Team, X-Keyplane-Key",
      "Keep-Alive: X-Keyplane-Key",
    ]);
    const { keyId, teamId } = verifier.recordOf(key);
    const said = sent.map(({ headers }) => [headers["x-keyplane-key"], headers["x-keyplane-team"]]);
    expect(said.filter(([of, team]) => of !== keyId || team !== teamId)).toEqual([]);
  });

  test("a large body passes that the verifier does not need", async () => {
    const body = JSON.stringify({ model: "gpt", x: "y".repeat(3_000_000) });
    const { status, sent } = await send("POST", CHAT, [bearer(verifier.addKey())], body);
    expect([status, sent.map((one) => one.body.length)]).toEqual([200, [body.length]]);
  });

  test("the caller gets the gateway's own answer", async () => {
    const unauthorized = await chat("none");
    expect([unauthorized.status, unauthorized.sent]).toEqual([401, []]);
    expect(headerIn(unauthorized, "www-authenticate")).toBe("Bearer");
    expect(unauthorized.body).toContain('"code":"unauthorized"');
    const limited = verifier.addKey({ rateLimit: RATE });
    expect((await chat(limited)).status).toBe(200);
    const refused = await chat(limited);
    expect([refused.status, headerIn(refused, "retry-after"), refused.sent]).toEqual([429, "60", []]);
    expect(refused.body).toContain('"code":"rate_limited"');
    expect((await send("POST", "/v1/nowhere", [bearer(verifier.addKey())])).status).toBe(404);
    verifier.setCurrent(false);
    const stale = await chat(verifier.addKey());
    verifier.setCurrent(true);
    expect([stale.status, stale.sent]).toEqual([503, []]);
  });

  test("b392: the address is the connection's, whatever the caller says", async () => {
    const claimed = ["X-Forwarded-For: 203.0.113.9", "X-Real-IP: 203.0.113.9"];
    const here = verifier.addKey({ allowedCIDRs: ["127.0.0.0/8"] });
    const elsewhere = verifier.addKey({ allowedCIDRs: ["203.0.113.0/24"] });
    expect((await chat(here, claimed)).status).toBe(200);
    const refused = await chat(elsewhere, claimed);
    expect([refused.status, refused.sent]).toEqual([403, []]);
    expect(refused.body).toContain("127.0.0.1");
  });

  test.each<[string, string, string, readonly string[]]>([
    ["an empty segment", "POST", "/v1//chat/completions", []],
    ["an empty first segment", "POST", "//v1/chat/completions", []],
    ["a dot segment", "POST", "/v1/./chat/completions", []],
    ["two dots", "POST", "/v1/x/../chat/completions", []],
    ["two dots at the end", "POST", `${CHAT}/..`, []],
    ["encoded dots", "POST", "/v1/%2e%2e/v1/chat/completions", []],
    ["encoded dots in capitals", "POST", "/v1/%2E%2E/chat/completions", []],
    ["an encoded slash", "POST", "/v1%2fchat/completions", []],
    ["an encoded backslash", "POST", "/v1%5cchat/completions", []],
    ["a backslash", "POST", "/v1\\chat/completions", []],
    ["doubly encoded dots", "POST", "/v1/%252e%252e/x", []],
    ["an encoded NUL", "POST", "/v1/%00", []],
    ["a semicolon", "POST", `${CHAT};x`, []],
    ["another team's path at the verifier", "POST", "/authz/nginx/g/research-main", []],
    ["the verifier's own location", "GET", "/_keyplane", []],
    ["an introspection", "POST", "/introspect", []],
    ["another method", "PUT", CHAT, []],
    ["another method than it says", "PUT", CHAT, ["X-Original-Method: POST", "X-Forwarded-Method: POST"]],
    ["another path than it says", "POST", "/v1/nowhere", [`X-Original-URI: ${CHAT}`, `X-Forwarded-Uri: ${CHAT}`]],
    ["a method by a header", "POST", CHAT, ["X-HTTP-Method-Override: DELETE"]],
    ["a path by a header", "POST", CHAT, ["X-Original-URL: /admin"]],
    ["a path by another header", "POST", CHAT, ["X-Rewrite-URL: /admin"]],
    ["a destination by a header", "POST", CHAT, ["X-Portkey-Custom-Host: http://elsewhere"]],
    ["a key in the query too", "POST", `${CHAT}?key=KEY`, []],
    ["a key in the query, encoded", "POST", `${CHAT}?%6bey=KEY`, []],
    ["a key in the query, behind others", "POST", `${CHAT}?a=b&ke%79=KEY`, []],
    ["a parameter that steers", "POST", `${CHAT}?_method=DELETE`, []],
    ["two keys", "POST", CHAT, ["Authorization: Bearer inf_other"]],
    ["two keys in one header", "POST", CHAT, ["X-API-Key: a,b", "X-Goog-Api-Key: a,b"]],
    ["a bad key that comes first", "POST", CHAT, ["X-Goog-Api-Key: inf_bad"]],
    ["a stored response", "GET", "/v1/responses/resp_1", []],
    ["a response to be stored", "POST", "/v1/responses", []],
    ["a kind that is not served", "POST", "/v1/images/generations", []],
    ["a format that no upstream speaks", "POST", "/v1/messages", []],
    ["the service's root", "GET", "/", []],
    ["all of the service", "OPTIONS", "*", []],
    ["a target that would go on the verifier's path", "POST", "-other/v1/chat/completions", []],
    ["a target of its own host", "POST", "http://elsewhere/v1//chat/completions", []],
    ["a tunnel", "CONNECT", "elsewhere:443", []],
    ["an upgrade", "GET", "/v1/realtime", ["Connection: Upgrade", "Upgrade: websocket"]],
  ])("b386: the service is sent nothing of a request with %s", async (what, method, target, headers) => {
    const key = verifier.addKey();
    const { status, sent } = await send(method, target.replace("KEY", key), [bearer(key), ...headers]);
    if (name === "traefik" && CLEANED.includes(what)) {
      expect(sent.map(({ url }) => url)).toEqual([CHAT]);
      return;
    }
    expect(sent).toEqual([]);
    // Caddy answers for itself what is about no path.
    if (target !== "*") expect(status === 0 || status >= 400).toBe(true);
  });

  test.each(["h2c", "websocket"])(
    "b462: a caller who may list models opens no tunnel by Upgrade: %s",
    async (protocol) => {
      const upgrade = ["Connection: Upgrade, HTTP2-Settings", `Upgrade: ${protocol}`, "HTTP2-Settings: AAMAAABk"];
      const { sent } = await send("GET", "/v1/models", [bearer(verifier.addKey()), ...upgrade]);
      expect(sent.filter(({ headers }) => "upgrade" in headers)).toEqual([]);
    },
  );

  test.each<[string, Partial<KeyRecord>]>([
    ["is revoked", { state: "revoked" }],
    ["is suspended", { state: "suspended" }],
    ["has expired", { expiresAt: 0 }],
    ["has only scopes of the memory", { scopes: scopeSet(["memory:read", "memory:write"]) }],
    ["is bound to another gateway", { boundGatewayId: "other" }],
    ["is another team's", { teamId: "team-b" }],
    ["has a limit of concurrent calls", { concurrent: 1 }],
    ["has a limit of tokens", { tokenLimit: { tokensPerMinute: 9, scope: "Replica" } }],
    ["is of another network", { allowedCIDRs: ["203.0.113.0/24"] }],
  ])("b388: the service is sent nothing with a key that %s", async (_what, fields) => {
    const { status, sent } = await chat(verifier.addKey(fields));
    expect([status === 401 || status === 403, sent]).toEqual([true, []]);
  });

  test("b386: of two requests in one, neither goes past the verifier", async () => {
    const key = verifier.addKey();
    const smuggled = `GET /admin HTTP/1.1\r\nHost: localhost\r\n${bearer(key)}\r\n\r\n`;
    for (const framing of [
      [`Content-Length: 5`, `Content-Length: ${smuggled.length + 5}`],
      ["Transfer-Encoding: chunked", `Content-Length: ${smuggled.length + 5}`],
      ["Transfer-Encoding: xchunked", `Content-Length: ${smuggled.length + 5}`],
      ["Transfer-Encoding : chunked"],
    ]) {
      const before = service.sent.length;
      const head = requestHead(`POST ${CHAT} HTTP/1.1`, [bearer(key), "Connection: close", ...framing]);
      await Promise.race([
        sendRaw(port, `${head}0\r\n\r\n${smuggled}`),
        new Promise((resolve) => setTimeout(resolve, 2_000)),
      ]);
      expect([framing, service.sent.slice(before).filter(({ url }) => url.includes("admin"))]).toEqual([framing, []]);
    }
  });

  test("b390: where the verifier is gone, nothing is passed on", async () => {
    const key = verifier.addKey();
    await verifier.close();
    ends.splice(2, 1);
    const { status, sent } = await chat(key);
    expect(sent).toEqual([]);
    expect(status).toBeGreaterThanOrEqual(500);
  });
});

describe.each(["envoy", "envoy by gRPC", "envoy in Istio", "traefik"] as const)("%s, which shows bodies", (name) => {
  let verifier: Verifier | GrpcVerifier;
  let port: number;
  let service: Awaited<ReturnType<typeof startService>>;
  const ends: (() => unknown)[] = [];
  beforeAll(async () => {
    const files = await makeFiles();
    ends.push(() => files.remove());
    service = await startService();
    ends.push(() => service.close());
    const tls = { certFile: files.tlsCert, keyFile: files.tlsKey, clientCaFile: files.tlsCert };
    const start = asksByGrpc(name) ? startGrpcVerifier : startVerifier;
    verifier = await start({ tls, addressHeader: null });
    ends.push(() => verifier.close());
    verifier.addGateway({ publicId: "research-main", upstreams: [OPENAI] });
    const proxy = await startGuideProxy(name, {
      ...{ verifierPort: verifier.authzPort, servicePort: service.port, files },
    });
    port = proxy.port;
    ends.push(() => proxy.stop());
  }, STARTED);
  afterAll(async () => {
    for (const end of ends.toReversed()) await end();
  });

  async function post(headers: readonly string[], body: string, framing?: readonly string[]) {
    const before = service.sent.length;
    const key = verifier.addKey({ allowedModels: ["gpt"] });
    const length = framing ?? [`Content-Length: ${Buffer.byteLength(body)}`];
    const head = requestHead(`POST ${CHAT} HTTP/1.1`, [`Authorization: Bearer ${key}`, ...headers, ...length]);
    const { status } = await sendRaw(port, Buffer.from(head + body));
    return { status, bodies: service.sent.slice(before).map((sent) => sent.body) };
  }
  const JSON_TYPE = "Content-Type: application/json";

  test("b387: a key of one model gets that one, whole", async () => {
    const body = JSON.stringify({ model: "gpt", messages: [{ role: "user", content: "x".repeat(100_000) }] });
    expect(await post([JSON_TYPE], body)).toEqual({ status: 200, bodies: [body] });
    const chunked = `${Buffer.byteLength(body).toString(16)}\r\n${body}\r\n0\r\n\r\n`;
    expect(await post([JSON_TYPE], chunked, ["Transfer-Encoding: chunked"])).toEqual({ status: 200, bodies: [body] });
  });

  test.each<[string, readonly string[], string]>([
    ["another model", [JSON_TYPE], '{"model":"other"}'],
    ["no model", [JSON_TYPE], "{}"],
    ["no body", [JSON_TYPE], ""],
    ["two models", [JSON_TYPE], '{"model":"gpt","model":"other"}'],
    ["two models, the other first", [JSON_TYPE], '{"model":"other","model":"gpt"}'],
    ["a model in another spelling", [JSON_TYPE], '{"model":"gpt","m\\u006fdel":"other"}'],
    ["a model behind a megabyte", [JSON_TYPE], `{"x":"${"y".repeat(1_000_000)}","model":"other"}`],
    ["a body that is called compressed", [JSON_TYPE, "Content-Encoding: gzip"], '{"model":"gpt"}'],
    ["a body that is called a text", ["Content-Type: text/plain"], '{"model":"gpt"}'],
    ["a body that is called nothing", [], '{"model":"gpt"}'],
    ["another charset", ["Content-Type: application/json; charset=utf-16"], '{"model":"gpt"}'],
    ["a body that says itself that it is whole", ["X-Envoy-Auth-Partial-Body: true", JSON_TYPE], '{"model":"other"}'],
    ["a model in a header", [JSON_TYPE, "X-Model-Name: other"], '{"model":"gpt"}'],
    ["what is no JSON", [JSON_TYPE], '{"model":"gpt"'],
  ])("b387, b398: the service is sent nothing of %s", async (_what, headers, body) => {
    const { status, bodies } = await post(headers, body);
    expect(bodies).toEqual([]);
    expect(status).toBeGreaterThanOrEqual(400);
  });
});
