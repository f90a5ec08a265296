import { afterEach, beforeEach, expect, test } from "vitest";
import { scopeSet } from "../../../../domain/access/scopes.ts";
import { memoryRoutes } from "../../../../memory/rest/routes.ts";
import { gatewayRoutes } from "../../../../server/gateway/routes.ts";
import { whoamiRoutes } from "../../../../server/whoami/routes.ts";
import { upstreamOf } from "../../gateway/gateway.ts";
import { type Harness, startHarness } from "../../harness.ts";

let harness: Harness;
let main: string;

beforeEach(async () => {
  harness = await startHarness({
    mounts: [
      { at: "", routes: memoryRoutes },
      { at: "/api/v1", routes: whoamiRoutes },
      { at: "", routes: (app, deps) => gatewayRoutes(app, deps) },
    ],
  });
  main = harness.addGateway({ upstreams: [upstreamOf("http://127.0.0.1:9")] }).publicId;
});
afterEach(() => harness.close());

async function refused(key: string, path: string, method = "POST"): Promise<string> {
  const answer = await fetch(harness.url + path, { method, headers: { authorization: `Bearer ${key}` } });
  expect(answer.status).toBe(403);
  const body = (await answer.json()) as { detail?: string; error?: { message: string } };
  return body.detail ?? body.error?.message ?? "";
}

test("names the key, the scope that it lacks and those that it has", async () => {
  const key = harness.addKey({ scopes: scopeSet(["memory:read", "gateway:generate"]) });
  const prefix = key.slice(0, 12);
  expect(await refused(key, "/atoms")).toBe(
    `The key ${prefix} lacks the scope memory:write. It has gateway:generate, memory:read. Use another key, or have the scope added to this one.`,
  );
  expect(await refused(key, `/g/${main}/v1/embeddings`)).toBe(
    `The key ${prefix} lacks the scope gateway:embed. It has gateway:generate, memory:read. Use another key, or have the scope added to this one.`,
  );
  const reader = harness.addKey({ scopes: scopeSet(["memory:read"]) });
  expect(await refused(reader, `/g/${main}/v1/no-such-path`)).toBe(
    `The key ${reader.slice(0, 12)} lacks a scope of these: gateway:generate, gateway:embed, gateway:routes, gateway:files. It has memory:read. Use another key, or have the scope added to this one.`,
  );
});

test("names the gateway that a key is bound to, the same on every other public id", async () => {
  const key = harness.addKey({
    scopes: scopeSet(["gateway:generate"]),
    boundGatewayId: harness.addGateway().gatewayId,
  });
  const bound = harness.index.publicIdOf(harness.recordOf(key).boundGatewayId ?? "");
  const text = `The key ${key.slice(0, 12)} is for one gateway alone, which is at /g/${bound}/: call it there, or use another key.`;
  expect(await refused(key, `/g/${main}/v1/chat/completions`)).toBe(text);
  expect(await refused(key, "/g/nowhere/v1/chat/completions")).toBe(text);
  const orphan = harness.addKey({ scopes: scopeSet(["gateway:generate"]), boundGatewayId: "" });
  expect(await refused(orphan, `/g/${main}/v1/chat/completions`)).toContain(
    "is for one gateway alone, which is gone: use another key.",
  );
});

test("shows nothing of the secret beyond its prefix, whatever carries it", async () => {
  const key = harness.addKey({ scopes: scopeSet(["memory:read"]) });
  const answer = await fetch(`${harness.url}/g/${main}/v1/chat/completions?key=${key}`, { method: "POST" });
  const text = await answer.text();
  expect(text).toContain(key.slice(0, 12));
  expect(text).not.toContain(key.slice(0, 13));
});
