import { afterEach, beforeEach, expect, test } from "vitest";
import { scopeSet } from "../../../domain/access/scopes.ts";
import type { Harness } from "../harness.ts";
import { allDialects, routeOf, startGateway } from "./gateway.ts";
import { startUpstream, type Upstream } from "./upstream.ts";

let upstream: Upstream;
let harness: Harness;
let gateway: string;

beforeEach(async () => {
  upstream = await startUpstream();
  harness = await startGateway();
  gateway = harness.addGateway({ ...allDialects(upstream.url), routes: [routeOf("fast")] }).publicId;
});
afterEach(async () => {
  await harness.close();
  await upstream.close();
});

async function statusOf(key: string, model: string): Promise<number> {
  const answer = await fetch(`${harness.url}/g/${gateway}/v1/chat/completions`, {
    method: "POST",
    headers: { "x-api-key": key, "content-type": "application/json" },
    body: JSON.stringify({ model, messages: [] }),
  });
  return answer.status;
}

test("a call of a model that the key may not name is recorded as refused, once, with its key and its cause", async () => {
  const key = harness.addKey({ allowedModels: ["fast"] });
  expect(await statusOf(key, "slow")).toBe(403);
  const { keyId } = harness.recordOf(key);
  expect(harness.refused).toMatchObject([{ code: "forbidden", cause: "model_not_allowed", keyId }]);
  expect(await statusOf(key, "fast")).toBe(200);
  expect(harness.refused).toHaveLength(1);
});

test("a route that the key lacks the scope for is recorded as refused by its scope", async () => {
  const key = harness.addKey({ scopes: scopeSet(["gateway:generate"]) });
  expect(await statusOf(key, "fast")).toBe(403);
  expect(harness.refused).toMatchObject([{ code: "forbidden", cause: "scope_missing" }]);
});
