import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Dialect } from "../../../domain/access/key-record.ts";
import { keyDigest } from "../../../domain/key/secret/key-format.ts";
import { EMBEDDING_FORMATS } from "../../../server/gateway/library/embedding-formats.ts";
import { createLibraryCaller } from "../../../server/gateway/library/library-call.ts";
import type { Harness } from "../harness.ts";
import { requestHead, sendRaw } from "../raw-http.ts";
import { PROVIDER_KEY, routeOf, startGateway, upstreamOf } from "./gateway.ts";
import { startUpstream, type Upstream } from "./upstream.ts";

const CALLS: Readonly<Record<Dialect, string>> = {
  openai: "v1/chat/completions",
  anthropic: "v1/messages",
  gemini: "v1beta/models/m:generateContent",
};
const NO_CREDENTIAL = { credential: false } as const;
/** Headers that carry a credential, of ours or of a provider. */
const CARRIERS = /^(?:authorization|proxy-authorization|x-api-key|x-goog-api-key|api-key|cookie)$/;

let upstream: Upstream;
let harness: Harness;
let key: string;
beforeEach(async () => {
  upstream = await startUpstream((response) =>
    response.writeHead(200, { "content-type": "application/json" }).end("{}"),
  );
  harness = await startGateway();
  key = harness.addKey();
});
afterEach(async () => {
  await harness.close();
  await upstream.close();
});

const serve = (...upstreams: ReturnType<typeof upstreamOf>[]) =>
  harness.addGateway({ publicId: "main", upstreams }).publicId;
const post = (path: string, headers: Record<string, string> = { authorization: `Bearer ${key}` }) =>
  fetch(`${harness.url}/g/main/${path}`, {
    method: "POST",
    body: '{"model":"m"}',
    headers: { "content-type": "application/json", ...headers },
  });

describe.each(["openai", "anthropic", "gemini"] as const)("b393: an upstream of %s without a credential", (dialect) => {
  test.each([
    ["Authorization", () => ["Authorization: Bearer KEY"], ""],
    ["X-API-Key", () => ["X-API-Key: KEY"], ""],
    ["X-Goog-Api-Key", () => ["X-Goog-Api-Key: KEY"], ""],
    ["?key=", () => [], "?key=KEY"],
    ["others beside it", () => ["Authorization: Bearer KEY", "Api-Key: another", "api_key: KEY", "Cookie: k=KEY"], ""],
    ["a name in Connection", () => ["Authorization: Bearer KEY", "Connection: close, authorization"], ""],
  ])("is sent no credential, and not the caller's key in %s", async (_where, lines, query) => {
    serve(upstreamOf(upstream.url, dialect, NO_CREDENTIAL));
    const target = `/g/main/${CALLS[dialect]}${query}`.replace("KEY", key);
    const heads = lines().map((line) => line.replace("KEY", key));
    const body = '{"model":"m"}';
    const framing = ["Content-Type: application/json", `Content-Length: ${body.length}`];
    const head = requestHead(`POST ${target} HTTP/1.1`, [...heads, ...framing, "Connection: close"]);
    expect((await sendRaw(harness.port, `${head}${body}`)).status).toBe(200);
    const [received] = upstream.received;
    expect(Object.keys(received?.headers ?? {}).filter((name) => CARRIERS.test(name))).toEqual([]);
    expect(JSON.stringify([received?.url, received?.rawHeaders])).not.toMatch(/inf_|another|false|undefined/);
  });

  test("that asks for one is the owner's to mend: 502 for the caller, and shown as refused", async () => {
    upstream.answerWith((response) => response.writeHead(401, { "www-authenticate": "Bearer" }).end("{}"));
    serve(upstreamOf(upstream.url, dialect, NO_CREDENTIAL));
    const answer = await post(CALLS[dialect]);
    expect([answer.status, answer.headers.get("x-should-retry")]).toEqual([502, "false"]);
    expect(await answer.text()).toContain("asks for a credential, and this gateway is declared to have none for it");
  });

  test("whose Secret is named and missing is asked nothing", async () => {
    serve(upstreamOf(upstream.url, dialect, { credential: null }));
    const answer = await post(CALLS[dialect]);
    expect([answer.status, await answer.text()]).toEqual([502, expect.stringContaining("no credential for this")]);
    expect(upstream.received).toEqual([]);
  });
});

test("shows its caller an error that comes compressed", async () => {
  await upstream.close();
  const error = '{"error":{"message":"The context is too long."}}';
  upstream = await startUpstream((response) =>
    response.writeHead(400, { "content-type": "application/json", "content-encoding": "gzip" }).end(gzipSync(error)),
  );
  serve(upstreamOf(upstream.url, "openai", NO_CREDENTIAL));
  const response = await post(CALLS.openai);
  expect([response.status, await response.text()]).toEqual([400, error]);
});

test("b393: a credential that comes or goes counts from the next call, on sockets of its own", async () => {
  const sent = async (credential: string | null | false) => {
    serve(upstreamOf(upstream.url, "openai", { credential }));
    await (await post(CALLS.openai)).arrayBuffer();
    return upstream.received.map(({ headers, connection }) => [headers.authorization, connection]).at(-1);
  };
  expect(await sent(PROVIDER_KEY)).toEqual([`Bearer ${PROVIDER_KEY}`, 1]);
  expect(await sent(false)).toEqual([undefined, 2]);
  expect(await sent(null)).toEqual([undefined, 2]);
  expect(upstream.received).toHaveLength(2);
  expect((await sent(PROVIDER_KEY))?.[0]).toBe(`Bearer ${PROVIDER_KEY}`);
});

test("b393: a fallback without a credential is not sent the first upstream's, nor the first the fallback's", async () => {
  const other = await startUpstream((response) => response.end("{}"));
  try {
    upstream.answerWith((response) => response.writeHead(503).end());
    const upstreams = [upstreamOf(upstream.url), upstreamOf(other.url, "openai", { name: "local", ...NO_CREDENTIAL })];
    harness.addGateway({
      publicId: "main",
      upstreams,
      routes: [
        routeOf("there", { fallbacks: [{ upstream: "local", upstreamModel: "m" }] }),
        routeOf("back", { upstream: "local", fallbacks: [{ upstream: "openai", upstreamModel: "m" }] }),
      ],
    });
    const ask = (model: string) =>
      fetch(`${harness.url}/g/main/v1/chat/completions`, {
        method: "POST",
        body: JSON.stringify({ model }),
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      });
    expect((await ask("there")).status).toBe(200);
    expect(other.received.map(({ headers }) => headers.authorization)).toEqual([undefined]);
    other.answerWith((response) => response.writeHead(401).end());
    upstream.answerWith((response) => response.end("{}"));
    expect((await ask("back")).status).toBe(200);
    expect(upstream.received.at(-1)?.headers.authorization).toBe(`Bearer ${PROVIDER_KEY}`);
  } finally {
    await other.close();
  }
});

test("b393: a library's call of an upstream without a credential carries none", async () => {
  upstream.answerWith((response) => response.end('{"data":[{"embedding":[1]}]}'));
  harness.addGateway({ publicId: "main", upstreams: [upstreamOf(upstream.url, "openai", NO_CREDENTIAL)] });
  const caller = createLibraryCaller(harness.deps, { formats: EMBEDDING_FORMATS, userAgent: "test" });
  const asked = { publicId: "main", model: "m", timeoutMs: 5_000, maxAnswer: 1_000, body: () => ({}) };
  const call = () => caller.call({ ...asked, digest: keyDigest(key) });
  try {
    expect(await call()).toMatchObject({ kind: "answered" });
    expect(Object.keys(upstream.received[0]?.headers ?? {}).filter((name) => CARRIERS.test(name))).toEqual([]);
    upstream.answerWith((response) => response.writeHead(401).end("{}"));
    expect(await call()).toMatchObject({ why: expect.stringContaining("asks for a credential") });
  } finally {
    await caller.close();
  }
});
