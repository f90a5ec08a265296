import { afterEach, beforeEach, expect, test } from "vitest";
import type { Harness } from "../harness.ts";
import { allDialects, routeOf, startGateway } from "./gateway.ts";
import { startUpstream, type Upstream } from "./upstream.ts";

let upstream: Upstream;
let harness: Harness;
let key: string;
let routed: string;

beforeEach(async () => {
  upstream = await startUpstream();
  harness = await startGateway();
  routed = harness.addGateway({ ...allDialects(upstream.url), routes: [routeOf("fast")] }).publicId;
  key = harness.addKey();
});
afterEach(async () => {
  await harness.close();
  await upstream.close();
});

const post = (path: string, body: string, headers: Record<string, string> = {}, as = key) =>
  fetch(`${harness.url}/g/${path}`, {
    method: "POST",
    body,
    headers: { "x-api-key": as, "content-type": "application/json", ...headers },
  });

test.each([
  ["members", `{"model":"fast",${'"a":1,'.repeat(1_000_001)}"z":1}`, "more than 1000000 members and elements"],
  ["elements", `{"model":"fast","input":[${"1,".repeat(1_000_001)}1]}`, "more than 1000000 members and elements"],
  ["depth", `{"model":"fast","input":${"[".repeat(300)}${"]".repeat(300)}}`, "nested more than 256 deep"],
])("b83: a body of too many %s is 400, says the bound, and goes nowhere", async (_what, body, says) => {
  const answer = await post(`${routed}/v1/embeddings`, body);
  expect(answer.status).toBe(400);
  expect(await answer.text()).toContain(says);
  expect(upstream.received).toHaveLength(0);
});

test("b83: a body that names too many models is 400 and goes nowhere", async () => {
  const body = `{"requests":[${'{"model":"models/gem"},'.repeat(1_001)}{"model":"models/gem"}]}`;
  const answer = await post(`${routed}/v1beta/models/gem:batchEmbedContents`, body);
  expect(answer.status).toBe(400);
  expect(await answer.text()).toContain("more than 1000 models");
  expect(upstream.received).toHaveLength(0);
});

test("b83: a body at the bounds reaches its upstream, its model replaced and nothing else", async () => {
  const rest = `"input":[${"1,".repeat(999_996)}1],"text":"${'\\"'.repeat(1 << 20)}"}`;
  expect((await post(`${routed}/v1/embeddings`, `{"model":"fast",${rest}`)).status).toBe(200);
  expect(upstream.received[0]?.body.equals(Buffer.from(`{"model":"real-fast",${rest}`))).toBe(true);
});
