import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { UpstreamTimes } from "../../../server/gateway/upstream/upstream-times.ts";
import { until } from "../../env/until.ts";
import type { Harness } from "../harness.ts";
import { PROVIDER_KEY, routeOf, startGateway, upstreamOf } from "./gateway.ts";
import { startUpstream, type Upstream } from "./upstream.ts";

let first: Upstream;
let second: Upstream;
let harness: Harness;
let key: string;
let id: string;

beforeEach(async () => {
  first = await startUpstream((response) => response.writeHead(401).end('{"error":"wrong key"}'));
  second = await startUpstream((response) => response.end('{"from":"second"}'));
  await start();
});
afterEach(async () => {
  await harness.close();
  await first.close();
  await second.close();
});

async function start(times: Partial<UpstreamTimes> = {}): Promise<void> {
  harness = await startGateway({ times, slots: { calls: 1 } });
  key = harness.addKey();
  id = harness.addGateway({
    upstreams: [
      upstreamOf(first.url),
      upstreamOf(second.url, "openai", { name: "second" }),
      upstreamOf(first.url, "gemini"),
      upstreamOf(second.url, "gemini", { name: "second-gemini" }),
    ],
    routes: [
      routeOf("fast", { fallbacks: [{ upstream: "second", upstreamModel: "m" }] }),
      routeOf("gem", { upstream: "gemini", fallbacks: [{ upstream: "second-gemini", upstreamModel: "m" }] }),
    ],
  }).publicId;
}

async function ask(path: string, content: object = { model: "any" }) {
  const headers = { "x-api-key": key, "content-type": "application/json" };
  const answer = await fetch(`${harness.url}/g/${id}/${path}`, {
    ...{ method: "POST", headers, body: JSON.stringify(content) },
  });
  return { status: answer.status, headers: answer.headers, text: await answer.text() };
}
const CHAT = "v1/chat/completions";
const askGemini = (model: string) => ask(`v1beta/models/${model}:generateContent`, { contents: [] });
const INVALID = JSON.stringify({
  error: { code: 400, status: "INVALID_ARGUMENT", details: [{ reason: "API_KEY_INVALID" }] },
});
const refusals = async () =>
  /^keyplane_upstream_credentials_refused_total (\d+)$/m.exec(await harness.metrics.registry.metrics())?.[1];

test("an upstream's 401 is the gateway's to mend: 502, not to be tried again, and counted", async () => {
  const answer = await ask(CHAT);
  expect(answer.status).toBe(502);
  expect(JSON.parse(answer.text)).toMatchObject({ error: { code: "upstream_credential_refused" } });
  expect(answer.headers.get("x-should-retry")).toBe("false");
  expect(answer.headers.get("x-keyplane-error-source")).toBe("keyplane");
  expect(await refusals()).toBe("1");
  const logged = harness.lines.filter((line) => line.includes("an upstream failed"));
  expect(logged.map((line) => JSON.parse(line))).toMatchObject([{ cause: "upstream_credential_refused" }]);
});

test("a route's fallback is asked first", async () => {
  expect(await ask(CHAT, { model: "fast" })).toMatchObject({ status: 200, text: '{"from":"second"}' });
  expect(await askGemini("gem")).toMatchObject({ status: 200, text: '{"from":"second"}' });
});

test.each([
  ["as it stands", INVALID, {}],
  ["encoded", gzipSync(INVALID), { "content-encoding": "gzip" }],
  ["in the coding that is none", INVALID, { "content-encoding": "Identity" }],
])("Gemini's 400 that says so, %s, is the same", async (_how, body, headers) => {
  first.answerWith((response) => response.writeHead(400, { "content-type": "application/json", ...headers }).end(body));
  expect(await askGemini("any")).toMatchObject({ status: 502, text: expect.stringContaining("credential") });
  expect(await askGemini("gem")).toMatchObject({ status: 200, text: '{"from":"second"}' });
  expect(await refusals()).toBe("2");
});

test("other errors are the caller's, and pass as they came", async () => {
  const shown = '{"error":{"message":"maxOutputTokens is too large"}}';
  first.answerWith((response) => response.writeHead(400, { "content-length": shown.length }).end(shown));
  expect(await askGemini("gem")).toMatchObject({ status: 400, text: shown });
  first.answerWith((response) => response.writeHead(400).end(`${shown}${PROVIDER_KEY}`));
  expect((await askGemini("any")).text).toBe(`${shown}${"*".repeat(PROVIDER_KEY.length)}`);
  first.answerWith((response) => response.writeHead(400).end(INVALID));
  expect(await ask(CHAT)).toMatchObject({ status: 400, text: INVALID });
  const long = `${"x".repeat(100_000)}${PROVIDER_KEY}`;
  first.answerWith((response) => response.writeHead(400).end(long));
  expect((await askGemini("any")).text).toBe(`${"x".repeat(100_000)}${"*".repeat(PROVIDER_KEY.length)}`);
  first.answerWith((response) => response.writeHead(403).end("{}"));
  expect(await ask(CHAT)).toMatchObject({ status: 403 });
  expect(await refusals()).toBe("0");
});

test.each(["identity", "Identity", ""])("an error that names %j for its coding passes as it came", async (coding) => {
  const head = { "content-encoding": coding, "retry-after": "7" };
  first.answerWith((response) => response.writeHead(429, head).end(`slow down ${PROVIDER_KEY}`));
  const { status, headers, text } = await ask(CHAT);
  const shown = `slow down ${"*".repeat(PROVIDER_KEY.length)}`;
  expect([status, headers.get("retry-after"), text]).toEqual([429, "7", shown]);
});

test("an error that repeats what its caller wrote does not refuse the credential", async () => {
  const message = 'Unknown name "API_KEY_INVALID": "reason": "API_KEY_INVALID"';
  const shown = JSON.stringify({ error: { code: 400, message, status: "INVALID_ARGUMENT" } });
  first.answerWith((response) => response.writeHead(400).end(shown));
  expect(await askGemini("gem")).toMatchObject({ status: 400, text: shown });
  expect(await refusals()).toBe("0");
});

test("a stream's refusal, which Gemini writes as a list and over several lines, is read too", async () => {
  const listed = JSON.stringify([JSON.parse(INVALID)], null, 2);
  first.answerWith((response) => response.writeHead(400).end(listed));
  expect(await askGemini("any")).toMatchObject({ status: 502 });
});

test("a fallback has its own time, and not what is left of the refused one's", async () => {
  await harness.close();
  await start({ silence: 300, whole: 300 });
  first.answerWith((response) => response.writeHead(400).end(INVALID));
  second.answerWith((response) => void setTimeout(() => response.end('{"from":"second"}'), 900));
  expect(await askGemini("gem")).toMatchObject({ status: 200, text: '{"from":"second"}' });
});

test("a refusal whose body never ends gives its place back", async () => {
  let closed = 0;
  first.answerWith((response) => {
    response.on("close", () => closed++);
    response.writeHead(401).write("x");
  });
  for (let i = 0; i < 3; i++) expect((await ask(CHAT)).status).toBe(502);
  await until("each connection is closed", () => closed === 3);
});

test("an error that is held back ends with its key", async () => {
  let closed = 0;
  first.answerWith((response) => {
    response.on("close", () => closed++);
    response.writeHead(400).write("x");
    setTimeout(() => harness.changeKey(key, { state: "revoked" }), 200);
  });
  expect((await askGemini("any")).status).toBe(401);
  await until("the connection is closed", () => closed === 1);
});
