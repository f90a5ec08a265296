import { randomBytes, randomUUID } from "node:crypto";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { afterEach, beforeEach, expect, test } from "vitest";
import { scopeSet } from "../../../domain/access/scopes.ts";
import type { Harness } from "../harness.ts";
import { requestHead, sendRaw } from "../raw-http.ts";
import { withoutRequestIds } from "../request-ids.ts";
import { allDialects, PROVIDER_KEY, routeOf, startGateway, upstreamOf } from "./gateway.ts";
import { startUpstream, type Upstream } from "./upstream.ts";

let upstream: Upstream;
let harness: Harness;
let key: string;
let id: string;

beforeEach(async () => {
  upstream = await startUpstream((response, { body }) => {
    response.setHeader("content-type", "application/json");
    response.end(body.length === 0 ? "{}" : body);
  });
  harness = await startGateway();
  id = harness.addGateway(allDialects(upstream.url)).publicId;
  key = harness.addKey();
});
afterEach(async () => {
  await harness.close();
  await upstream.close();
});

const post = (path: string, init: RequestInit = {}, as = key) =>
  fetch(`${harness.url}/g/${path}`, {
    method: "POST",
    body: '{"model":"m"}',
    ...init,
    headers: { authorization: `Bearer ${as}`, "content-type": "application/json", ...init.headers },
  });
const raw = (line: string, headers: string[] = [], body = "") =>
  sendRaw(
    harness.port,
    `${requestHead(line, [`Authorization: Bearer ${key}`, "Connection: close", ...headers])}${body}`,
  );

test("b32: another team's gateway and one that does not exist are the same 401, byte by byte", async () => {
  const other = harness.addGateway({ teamId: "team-b", ...allDialects(upstream.url) });
  const answers = [];
  for (const publicId of [other.publicId, "no-such-gateway"]) {
    const answer = await fetch(`${harness.url}/g/${publicId}/v1/models`, {
      headers: { authorization: `Bearer ${key}` },
    });
    const headers = Object.fromEntries([...answer.headers].filter(([name]) => name !== "date"));
    answers.push(withoutRequestIds({ status: answer.status, headers, body: await answer.text() }));
  }
  expect(answers[0]?.status).toBe(401);
  expect(answers[1]).toEqual(answers[0]);
  expect(upstream.received).toHaveLength(0);
});

test("b33: no spelling of a path reaches another gateway, nor an upstream's path of the caller's choice", async () => {
  const other = harness.addGateway({ teamId: "team-b", ...allDialects(upstream.url) });
  for (const path of [
    `/g/${id}/../${other.publicId}/v1/embeddings`,
    `/g/${id}/%2e%2e/${other.publicId}/v1/embeddings`,
    `/g/${id}/..%2f${other.publicId}/v1/embeddings`,
    `/g/${id}/..;/${other.publicId}/v1/embeddings`,
    `//g//${other.publicId}/v1/embeddings`,
    `/g/${id}%2f..%2f${other.publicId}/v1/embeddings`,
    `/g/${id}/%252e%252e/v1/embeddings`,
    `/g/${id}/v1/../../admin`,
    `/g/${id}/v1beta/models/..%2f..%2fadmin:generateContent`,
    `/g/${id}/v1beta/models/a%2f..%2fb:generateContent`,
    `/g/${id}/v1\\embeddings`,
    `/g/${id}/v1/embeddings%00`,
  ]) {
    const { status } = await raw(`POST ${path} HTTP/1.1`, ["Content-Length: 2"], "{}");
    expect([path, [400, 401, 404].includes(status)]).toEqual([path, true]);
  }
  expect(upstream.received).toHaveLength(0);
});

test("b34: what the router does not match letter by letter is no operation", async () => {
  const statuses: Record<string, number> = {};
  for (const path of [
    `/%67/${id}/v1/embeddings`,
    `/G/${id}/v1/embeddings`,
    `/g/${id}/v1/embeddings/`,
    `/g/${id}/v1/embeddings;x=y`,
    `/g/${id}/v1/nothing?/g/${id}/v1/embeddings`,
    `/g/${id}`,
    `/g/${id}/`,
  ]) {
    statuses[path] = (await raw(`POST ${path} HTTP/1.1`, ["Content-Length: 2"], "{}")).status;
  }
  expect(new Set(Object.values(statuses))).toEqual(new Set([404]));
  expect(upstream.received).toHaveLength(0);
});

test("b35: the Host, the target's origin and forwarded headers change neither the decision nor the upstream", async () => {
  const other = await startUpstream();
  try {
    const headers = [
      `X-Forwarded-Host: 127.0.0.1:${other.port}`,
      "X-Original-URL: /g/other/v1/embeddings",
      "X-Rewrite-URL: /g/other/v1/embeddings",
      "Content-Length: 2",
    ];
    const answer = await raw(`POST http://127.0.0.1:${other.port}/g/${id}/v1/embeddings HTTP/1.1`, headers, "{}");
    expect(answer.status).toBe(200);
    expect(upstream.received[0]).toMatchObject({
      url: "/v1/embeddings",
      headers: { host: `127.0.0.1:${upstream.port}` },
    });
    expect(other.received).toHaveLength(0);
  } finally {
    await other.close();
  }
});

test("b36: no member of a body chooses the upstream, and they pass as they are", async () => {
  const other = await startUpstream();
  try {
    const body = JSON.stringify({
      api_base: other.url,
      base_url: other.url,
      custom_host: other.url,
      model: `${other.url}/m`,
    });
    expect((await post(`${id}/v1/chat/completions`, { body })).status).toBe(200);
    expect(upstream.received[0]?.body.toString()).toBe(body);
    expect(other.received).toHaveLength(0);
  } finally {
    await other.close();
  }
});

test("b38: a redirect is answered 502, without the address that it points to", async () => {
  const other = await startUpstream();
  try {
    for (const status of [301, 302, 303, 307, 308]) {
      upstream.answerWith((response) => response.writeHead(status, { location: `${other.url}/steal` }).end());
      const answer = await post(`${id}/v1/embeddings`, { redirect: "manual" });
      expect([answer.status, answer.headers.get("location")]).toEqual([502, null]);
      const text = await answer.text();
      expect(text).not.toContain(other.url);
      expect(text).toContain("redirects the call, which is not followed");
    }
    expect(other.received).toHaveLength(0);
  } finally {
    await other.close();
  }
});

test("b39: what a client lists in Connection is consumed before the provider's credential is added", async () => {
  const listed = "Connection: close, authorization, x-goog-api-key, x-api-key, x-mine, content-length, host";
  for (const [path, carrier] of [
    ["v1/embeddings", "authorization"],
    ["v1beta/models/m:embedContent", "x-goog-api-key"],
    ["v1/messages", "x-api-key"],
  ] as const) {
    const head = requestHead(`POST /g/${id}/${path} HTTP/1.1`, [
      `Authorization: Bearer ${key}`,
      listed,
      "X-Mine: 1",
      "X-Kept: 2",
      "Content-Length: 2",
    ]);
    expect((await sendRaw(harness.port, `${head}{}`)).status).toBe(200);
    const last = upstream.received.at(-1);
    expect(last?.headers[carrier]).toContain(PROVIDER_KEY);
    expect(last?.headers).toMatchObject({ "x-kept": "2", "content-length": "2", host: `127.0.0.1:${upstream.port}` });
    expect(last?.headers).not.toHaveProperty("x-mine");
  }
});

test("b40: no key of ours goes upstream, whatever carries it, and only the dialect's credential does", async () => {
  const carriers = ["authorization", "x-goog-api-key", "x-api-key"];
  for (const [path, carrier] of [
    ["v1/embeddings", "authorization"],
    ["v1beta/models/m:generateContent", "x-goog-api-key"],
    ["v1/messages", "x-api-key"],
  ] as const) {
    const headers = {
      "x-goog-api-key": key,
      authorization: `Bearer ${key}`,
      "x-api-key": key,
      "api-key": key,
      "proxy-authorization": `Bearer ${key}`,
      cookie: "session=1",
      "anthropic-version": "2023-06-01",
    };
    const answer = await post(`${id}/${path}?key=${key}&alt=sse&k%65y2=1&api_key=${key}`, { headers });
    expect(answer.status).toBe(200);
    const last = upstream.received.at(-1);
    expect(JSON.stringify([last?.url, last?.rawHeaders])).not.toContain("inf_");
    expect(last?.url).toBe(`/${path}?alt=sse&k%65y2=1`);
    expect(last?.headers).not.toHaveProperty("cookie");
    expect(last?.headers).toHaveProperty("anthropic-version", "2023-06-01");
    for (const name of carriers) {
      const expected =
        name === carrier ? (name === "authorization" ? `Bearer ${PROVIDER_KEY}` : PROVIDER_KEY) : undefined;
      expect(last?.headers[name]).toBe(expected);
    }
  }
});

test("b40: a key that a client has put into the path goes nowhere", async () => {
  const before = upstream.received.length;
  for (const path of [`v1beta/models/${key}:generateContent`, `v1/models/x-${key}:embedContent`]) {
    expect((await post(`${id}/${path}`, { headers: { "x-goog-api-key": key } })).status).toBe(404);
  }
  expect(upstream.received).toHaveLength(before);
});

test("b40: a provider that echoes its credential, in an error or anywhere else, does not show it to a client", async () => {
  upstream.answerWith(async (response, { headers }) => {
    response.writeHead(403, { "content-type": "text/plain", "x-echo": String(headers.authorization) });
    const echo = `you sent ${headers.authorization}, twice: ${headers.authorization} `;
    // Byte by byte, so that the credential is cut by every boundary of a chunk.
    for (const letter of echo) {
      response.write(letter);
      await new Promise((resolve) => setImmediate(resolve));
    }
    response.end("sk-prov");
  });
  const answer = await post(`${id}/v1/embeddings`);
  const text = await answer.text();
  const stars = "*".repeat(PROVIDER_KEY.length);
  expect(text).toBe(`you sent Bearer ${stars}, twice: Bearer ${stars} sk-prov`);
  expect(answer.headers.get("x-echo")).toBe(`Bearer ${stars}`);
});

test("b418: a provider that echoes its credential in JSON with escapes does not show it, in an error or an answer", async () => {
  const [credential, secret] = ["dGhlIHNlY3JldCBvZiBhbGw/aGVyZSBpcyBsb25n==", "GhlIHNlY3JldCBvZiBhbG"];
  const of = harness.addGateway({ upstreams: [upstreamOf(upstream.url, "openai", { credential })] }).publicId;
  for (const status of [200, 403, 422]) {
    upstream.answerWith((response, { headers }) => {
      const echo = String(headers.authorization).replaceAll("/", "\\/").replaceAll("=", "\\u003d");
      const coding = status === 422 ? { "content-encoding": "gzip" } : {};
      const body = `{"error":{"message":"you sent ${echo}"}}`;
      response.writeHead(status, { "content-type": "application/json", ...coding });
      response.end(status === 422 ? gzipSync(body) : body);
    });
    const answer = await post(`${of}/v1/embeddings`);
    expect([answer.status, await answer.text()]).toEqual([
      status === 422 ? 502 : answer.status,
      expect.not.stringContaining(secret),
    ]);
  }
});

test("b40: a provider that echoes its credential in a compressed error shows none of it, whether that can be read or not", async () => {
  const encodings = { gzip: gzipSync, br: brotliCompressSync, deflate: deflateSync };
  for (const [encoding, compress] of Object.entries(encodings)) {
    upstream.answerWith((response, { headers }) => {
      response.writeHead(403, { "content-encoding": encoding }).end(compress(`you sent ${headers.authorization}`));
    });
    const echo = await post(`${id}/v1/embeddings`);
    expect([echo.status, await echo.json()]).toMatchObject([502, { error: { code: "bad_gateway" } }]);
    upstream.answerWith((response) =>
      response.writeHead(422, { "content-encoding": encoding }).end(compress("harmless")),
    );
    const harmless = await post(`${id}/v1/embeddings`);
    expect([harmless.status, await harmless.text()]).toEqual([422, "harmless"]);
  }
  const bomb = gzipSync(Buffer.alloc(32 << 20));
  for (const [encoding, body] of [
    ["gzip, gzip", gzipSync(gzipSync("x"))],
    ["unheard-of", Buffer.from("x")],
    ["gzip", bomb],
    ["gzip", Buffer.alloc(100_000)],
  ] as const) {
    upstream.answerWith((response) => response.writeHead(500, { "content-encoding": encoding }).end(body));
    expect((await post(`${id}/v1/embeddings`)).status).toBe(502);
  }
});

test.each([
  ["Content-Length twice", ["Content-Length: 2", "Content-Length: 3"]],
  ["Content-Length beside Transfer-Encoding", ["Content-Length: 2", "Transfer-Encoding: chunked"]],
  ["a Transfer-Encoding that does not end in chunked", ["Transfer-Encoding: chunked, identity"]],
  ["a space before the colon", ["Content-Length : 2"]],
  ["obsolete folding", ["X-Fold: a\r\n b", "Content-Length : 2"]],
])("b41: %s is 400, the connection is closed, and nothing is forwarded", async (_what, headers) => {
  const { status, head } = await raw(`POST /g/${id}/v1/embeddings HTTP/1.1`, headers, "{}");
  expect(status).toBe(400);
  expect(head).toMatch(/connection: close/i);
  expect(upstream.received).toHaveLength(0);
});

test("b41: a bare line feed ends no header", async () => {
  const { status } = await sendRaw(harness.port, `POST /g/${id}/v1/embeddings HTTP/1.1\nHost: x\n\n`);
  expect(status).toBe(400);
  expect(upstream.received).toHaveLength(0);
});

test("b45: a body that is read for its model is JSON by its media type, or is refused", async () => {
  const { publicId } = harness.addGateway({ ...allDialects(upstream.url), routes: [routeOf("fast")] });
  const statuses: Record<string, number> = {};
  for (const type of [
    "application/json\ta",
    "application/json garbage",
    "application/jsonx",
    "text/json",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=b",
  ]) {
    statuses[type] = (await post(`${publicId}/v1/chat/completions`, { headers: { "content-type": type } })).status;
  }
  expect(new Set(Object.values(statuses))).toEqual(new Set([415]));
  for (const type of ["APPLICATION/JSON ; charset=UTF-8", "application/json;charset=utf-8", "application/vnd.x+json"]) {
    const answer = await post(`${publicId}/v1/chat/completions`, {
      headers: { "content-type": type },
      body: '{"model":"fast"}',
    });
    expect(await answer.json()).toEqual({ model: "real-fast" });
  }
  const twice = ["Content-Type: application/json", "Content-Type: text/plain", "Content-Length: 16"];
  expect((await raw(`POST /g/${publicId}/v1/embeddings HTTP/1.1`, twice, '{"model":"fast"}')).status).toBe(415);
});

test("b46: a WebSocket is refused like any request without a key, and with one is 426, its socket closed", async () => {
  const upgrade = [
    "Connection: Upgrade",
    "Upgrade: websocket",
    "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==",
    "Sec-WebSocket-Version: 13",
  ];
  for (const path of ["v1/realtime", "v1/models"]) {
    const line = `GET /g/${id}/${path} HTTP/1.1`;
    expect((await sendRaw(harness.port, requestHead(line, upgrade))).status).toBe(401);
    const { status, head } = await sendRaw(harness.port, requestHead(line, [...upgrade, `X-API-Key: ${key}`]));
    expect(status).toBe(426);
    expect(head).toMatch(/connection: .*close/i);
  }
  const h2c = ["Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA"];
  const { status } = await sendRaw(
    harness.port,
    requestHead(`GET /g/${id}/v1/models HTTP/1.1`, [...h2c, `X-API-Key: ${key}`]),
  );
  expect(status).toBe(200);
});

test("b47: a memory key has no business at a gateway, and a bound key none at another", async () => {
  const memory = harness.addKey({ scopes: scopeSet(["memory:read", "memory:write"]) });
  expect((await post(`${id}/v1/embeddings`, {}, memory)).status).toBe(403);
  const bound = harness.addKey({ boundGatewayId: "gw_elsewhere" });
  expect((await post(`${id}/v1/embeddings`, {}, bound)).status).toBe(403);
  expect((await post("no-such-gateway/v1/embeddings", {}, bound)).status).toBe(403);
});

test("b65: what an upstream answers cannot act on our origin", async () => {
  upstream.answerWith((response) => {
    response.writeHead(
      200,
      [
        ["content-type", "text/html"],
        ["set-cookie", "session=stolen"],
        ["clear-site-data", '"*"'],
        ["strict-transport-security", "max-age=1"],
        ["alt-svc", 'h3=":443"'],
        ["content-security-policy", "default-src *"],
        ["service-worker-allowed", "/"],
        ["secure-session-registration", '(ES256); path="/g/a"; challenge="c"'],
        ["sec-session-registration", '(ES256); path="/g/a"; challenge="c"'],
        ["accept-ch", "sec-ch-ua-model"],
        ["set-login", "logged-out"],
        ["access-control-allow-origin", "https://evil.test"],
        ["access-control-allow-credentials", "true"],
        ["cross-origin-resource-policy", "cross-origin"],
        ["timing-allow-origin", "*"],
        ["x-ours", "kept"],
      ].flat(),
    );
    response.end("<script>alert(1)</script>");
  });
  const answer = await post(`${id}/v1/embeddings`);
  const dropped = [
    ...["set-cookie", "clear-site-data", "strict-transport-security", "alt-svc", "service-worker-allowed"],
    ...["secure-session-registration", "sec-session-registration", "accept-ch", "set-login"],
    ...["access-control-allow-origin", "access-control-allow-credentials", "cross-origin-resource-policy"],
    "timing-allow-origin",
  ];
  expect(dropped.map((name) => answer.headers.get(name))).toEqual(dropped.map(() => null));
  expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
  expect(answer.headers.get("content-security-policy")).toMatch(/^sandbox; default-src 'none'/);
  expect(answer.headers.get("x-ours")).toBe("kept");
});

test("b79: an upstream that fails shows neither its address nor a credential, to the client or in the log", async () => {
  await upstream.close();
  const secret = harness.addGateway({ upstreams: [upstreamOf(`${upstream.url}/private-prefix`)] });
  const answer = await post(`${secret.publicId}/v1/embeddings?key=${key}`);
  const text = await answer.text();
  expect(answer.status).toBe(502);
  expect(JSON.parse(text)).toMatchObject({ error: { code: "bad_gateway" } });
  for (const hidden of [key, PROVIDER_KEY, "private-prefix"]) {
    expect(text).not.toContain(hidden);
    expect(harness.lines.join("\n")).not.toContain(hidden);
  }
  upstream = await startUpstream();
});

test("b93: no key of ours goes upstream in a header's name or in a query, however often it is encoded", async () => {
  const doubly = (text: string) => text.replace("inf_", "%2569nf_");
  for (const query of [
    `x=${doubly(key)}`,
    `x=${doubly(key).replaceAll("%", "%25")}`,
    `${key}=1`,
    key,
    `${doubly(key)}=1`,
    `%256bey=${doubly(key)}`,
    `x=${"%25".repeat(1_000)}69nf_`,
  ]) {
    const answer = await raw(`POST /g/${id}/v1/embeddings?a=1&${query}&b=2 HTTP/1.1`, ["Content-Length: 2"], "{}");
    expect([query.slice(0, 30), answer.status]).toEqual([query.slice(0, 30), 200]);
    expect(upstream.received.at(-1)?.url).toBe("/v1/embeddings?a=1&b=2");
  }
  const names = ["X-inf_abcdefgh: 1", "inf_abcdefgh: 1", "INF_ABCDEFGH: 1"];
  expect((await raw(`POST /g/${id}/v1/embeddings HTTP/1.1`, [...names, "Content-Length: 2"], "{}")).status).toBe(200);
  expect(JSON.stringify(upstream.received.at(-1)?.rawHeaders).toLowerCase()).not.toContain("inf_");
});

test("b93: no key of ours goes upstream in a header's value, however often it is encoded", async () => {
  const headers = [
    `Referer: http://x/?k=${key.replace("_", "%5F")}`,
    `X-Note: ${key.replace("i", "%2569")}`,
    `X-Other: ${"%25".repeat(1_000)}69nf_`,
    "X-Kept: 100%, a%20b, %zz",
  ];
  expect((await raw(`POST /g/${id}/v1/embeddings HTTP/1.1`, [...headers, "Content-Length: 2"], "{}")).status).toBe(200);
  const { headers: sent } = upstream.received.at(-1) ?? {};
  expect(sent).toMatchObject({ "x-kept": "100%, a%20b, %zz" });
  expect(Object.keys(sent ?? {}).filter((name) => /referer|note|other/.test(name))).toEqual([]);
});

test("b93: no key of ours goes upstream in a path, also an imported one", async () => {
  for (const pasted of [key, `inf_${randomUUID()}`, `inf_ab-cd-${randomBytes(20).toString("hex")}`]) {
    for (const name of [pasted, pasted.replace("_", "%5F")]) {
      const answer = await raw(
        `POST /g/${id}/v1beta/models/${name}:generateContent HTTP/1.1`,
        ["Content-Length: 2"],
        "{}",
      );
      expect(answer.status).toBe(404);
    }
  }
  expect(upstream.received).toHaveLength(0);
  const named = await raw(
    `POST /g/${id}/v1beta/models/inf_llama-70b:generateContent HTTP/1.1`,
    ["Content-Length: 2"],
    "{}",
  );
  expect(named.status).toBe(200);
});

test("b93: no claim of where a request came from, or of what it is, goes upstream", async () => {
  const claims = [
    "X-HTTP-Method-Override: DELETE",
    "X-HTTP-Method: DELETE",
    "X-Method-Override: DELETE",
    "X-Original-URL: /admin",
    "X-Original-URI: /admin",
    "X-Rewrite-URL: /admin",
    "X-Forwarded-For: 127.0.0.1",
    "X-Forwarded-Host: other",
    "X-Forwarded-Proto: https",
    "X-Forwarded-Prefix: /admin",
    "X-Forwarded-Anything: 1",
    "X_Forwarded_For: 127.0.0.1",
    "X_HTTP_Method_Override: DELETE",
    "x_api_key: other",
    "Forwarded: for=127.0.0.1",
    "X-Real-IP: 127.0.0.1",
    "True-Client-IP: 127.0.0.1",
    "X-Host: other",
    "X-Keyplane-Subject: ana",
  ];
  const query = "$httpMethod=DELETE&%24httpHeaders=x&X-HTTP-Method-Override=DELETE&alt=sse&_method=DELETE";
  const line = `POST /g/${id}/v1/embeddings?${query} HTTP/1.1`;
  expect((await raw(line, [...claims, "X-Stainless-Lang: js", "Content-Length: 2"], "{}")).status).toBe(200);
  const [received] = upstream.received;
  const sent = new Set(received?.rawHeaders.filter((_, i) => i % 2 === 0).map((name) => name.toLowerCase()));
  for (const claim of claims) expect(sent).not.toContain(claim.split(":")[0]?.toLowerCase());
  expect(sent).toContain("x-stainless-lang");
  expect(received?.url).toBe("/v1/embeddings?alt=sse");
});
