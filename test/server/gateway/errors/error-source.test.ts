import { afterEach, beforeEach, expect, test } from "vitest";
import type { Harness } from "../../harness.ts";
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
