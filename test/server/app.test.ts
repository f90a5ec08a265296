import { afterEach, beforeEach, expect, test } from "vitest";
import type { RoutePlugin } from "../../server/app.ts";
import { type Harness, startHarness } from "./harness.ts";

const routes: RoutePlugin = (app) => {
  app.get("/atoms", { config: { operation: "atoms.list" } }, async (request) => ({ team: request.principal.teamId }));
  app.post("/atoms", { config: { operation: "atoms.create" } }, async (request) => ({ got: request.body }));
  app.all("/g/:publicId/*", { config: { operation: () => "gateway.embeddings" } }, async (request) => ({
    gateway: request.gateway?.publicId,
  }));
};

let harness: Harness;
beforeEach(async () => {
  harness = await startHarness({ mounts: [{ at: "", routes }] });
});
afterEach(() => harness.close());

test("a key opens what its scopes cover", async () => {
  const key = harness.addKey();
  const answer = await fetch(`${harness.url}/atoms`, { headers: { authorization: `Bearer ${key}` } });
  expect([answer.status, await answer.json()]).toEqual([200, { team: "team-a" }]);
});

test("every answer to a request without a key is the same 401", async () => {
  const answer = await fetch(`${harness.url}/g/nowhere/v1/models`);
  expect(answer.status).toBe(401);
  expect(answer.headers.get("www-authenticate")).toBe("Bearer");
  expect(answer.headers.get("content-type")).toMatch("application/problem+json");
  expect(await answer.json()).toMatchObject({ status: 401, code: "unauthorized" });
});

test("a method that a path does not have is 405 with a key, and 401 without", async () => {
  const key = harness.addKey();
  for (const method of ["PUT", "HEAD", "OPTIONS", "DELETE"]) {
    expect((await fetch(`${harness.url}/atoms`, { method })).status).toBe(401);
    const answer = await fetch(`${harness.url}/atoms`, { method, headers: { "x-api-key": key } });
    expect([answer.status, answer.headers.get("allow")]).toEqual([405, "GET, POST"]);
  }
});

test("a gateway's route gives its handler the gateway", async () => {
  const key = harness.addKey();
  const { publicId } = harness.addGateway();
  const answer = await fetch(`${harness.url}/g/${publicId}/v1/embeddings?key=${key}`);
  expect(await answer.json()).toEqual({ gateway: publicId });
});

test("every answer is counted once, by the operation that it was let through to and its status", async () => {
  const key = harness.addKey();
  const headers = { "x-api-key": key };
  for (const path of ["/atoms", "/atoms", "/nowhere"]) await fetch(`${harness.url}${path}`, { headers });
  await fetch(`${harness.url}/atoms`, { method: "PUT", headers });
  await fetch(`${harness.url}/atoms`);
  const counted = async () => (await harness.metrics.registry.metrics()).match(/^keyplane_requests_total.*/gm)?.sort();
  // The last one is counted when it has been sent, which its client may know first.
  await expect
    .poll(counted)
    .toEqual([
      'keyplane_requests_total{operation="atoms.list",status="200"} 2',
      'keyplane_requests_total{operation="none",status="401"} 1',
      'keyplane_requests_total{operation="none",status="404"} 1',
      'keyplane_requests_total{operation="none",status="405"} 1',
    ]);
  const text = await harness.metrics.registry.metrics();
  expect(text).toContain('keyplane_request_duration_seconds_count{operation="atoms.list"} 2');
  expect(text).toContain('keyplane_request_duration_seconds_bucket{le="60",operation="atoms.list"} 2');
});
