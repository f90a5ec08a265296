import { afterEach, beforeEach, expect, test } from "vitest";
import type { Harness } from "../../harness.ts";
import { type RawAnswer, requestHead, sendRaw } from "../../raw-http.ts";
import { startGateway, upstreamOf } from "../gateway.ts";
import { startUpstream, type Upstream } from "../upstream.ts";

let upstream: Upstream;
let status = 200;
let harness: Harness;
let id: string;

beforeEach(async () => {
  status = 200;
  upstream = await startUpstream((response) => {
    response.writeHead(status, { "content-type": "application/json", "X-Keyplane-Error-Source": "keyplane" });
    response.end("{}");
  });
  harness = await startGateway();
  id = harness.addGateway({ upstreams: [upstreamOf(upstream.url)] }).publicId;
});
afterEach(async () => {
  await harness.close();
  await upstream.close();
});

async function sourceOf(path: string, key = harness.addKey()): Promise<[number, string | null]> {
  const headers = { authorization: `Bearer ${key}` };
  const answer = await fetch(`${harness.url}/g/${id}/${path}`, { method: "POST", headers, body: "{}" });
  return [answer.status, answer.headers.get("x-keyplane-error-source")];
}

test("an error says whether Keyplane refuses or the upstream, whatever an upstream says of it", async () => {
  expect(await sourceOf("v1/chat/completions")).toEqual([200, null]);
  for (status of [403, 404, 429, 500]) {
    expect(await sourceOf("v1/chat/completions")).toEqual([status, "upstream"]);
  }
  expect(await sourceOf("v1/chat/completions", "nothing")).toEqual([401, "keyplane"]);
  expect(await sourceOf("chat/completions")).toEqual([404, "keyplane"]);
  await upstream.close();
  expect(await sourceOf("v1/chat/completions")).toEqual([502, "keyplane"]);
});

const sourceIn = ({ status, head }: RawAnswer) => [status, /^x-keyplane-error-source: (.*)$/im.exec(head)?.[1]];

test.each([
  ["a path that no route takes", 414, `GET /g/${"x".repeat(600)}/v1/models HTTP/1.1`, []],
  ["a target in absolute form", 414, `GET http://localhost/g/${"x".repeat(600)}/v1/models HTTP/1.1`, []],
  ["two Hosts", 400, "GET /g/some/v1/models HTTP/1.1", ["Host: other.test"]],
  ["a head that is too long", 431, "GET /g/some/v1/models HTTP/1.1", [`X-Long: ${"x".repeat(20_000)}`]],
  ["what is not HTTP", 400, "GET /g/some/v1/models HTTP/9.9", []],
  ["a method that is none", 400, "NONSENSE /g/some/v1/models HTTP/1.1", []],
])("%s is refused by Keyplane before a gateway is found, and says so", async (_what, status, line, headers) => {
  expect(sourceIn(await sendRaw(harness.port, requestHead(line, headers)))).toEqual([status, "keyplane"]);
});

test("a tunnel is no call of a gateway: nothing answers it", async () => {
  expect((await sendRaw(harness.port, requestHead("CONNECT /g/some HTTP/1.1"))).text).toBe("");
});

test("an error outside of /g/ names no source", async () => {
  const answer = await sendRaw(harness.port, requestHead("GET /nothing HTTP/1.1"));
  expect(sourceIn(answer)).toEqual([404, undefined]);
});
