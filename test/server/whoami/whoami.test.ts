import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eachFact } from "../../../domain/key/declaration/facts.ts";
import type { Store } from "../../../store/database/store.ts";
import { openMigrated } from "../../env/database/engines.ts";
import { until } from "../../env/until.ts";
import { unique } from "../../store/fixtures.ts";
import { type Api, startApi } from "../management/api.ts";

let store: Store;
let api: Api;
beforeAll(async () => {
  store = await openMigrated();
  api = await startApi(store);
  await api.send("POST", "/teams", { name: "research", spec: {} });
  for (const name of ["handbook", "notes"]) await api.send("POST", "/libraries", { name, team: "research", spec: {} });
  const upstreams = [{ name: "u", dialect: "openai", baseURL: "http://127.0.0.1:1", credential: "c" }];
  await api.send("POST", "/gateways", {
    name: "main",
    team: "research",
    spec: { publicID: "research-main", upstreams },
  });
});
afterAll(async () => {
  await api.close();
  await store.close();
});

async function makeKey(spec: object): Promise<{ id: string; name: string; prefix: string; secret: string }> {
  return (await api.send("POST", "/keys", { name: unique("key"), team: "research", spec })).body;
}

async function whoami(headers: Record<string, string>, query = "") {
  const answer = await fetch(`${api.url}/api/v1/whoami${query}`, { headers });
  return { status: answer.status, headers: answer.headers, text: await answer.text() };
}

async function ask(secret: string) {
  const { status, text } = await whoami({ authorization: `Bearer ${secret}` });
  return { status, text, body: JSON.parse(text) };
}

describe("whoami", () => {
  test("shows a key that serves many subjects without one being named", async () => {
    const { secret } = await makeKey({ preset: "MCPReadWrite", subjectAccess: { mode: "Required" } });
    expect(await ask(secret)).toMatchObject({
      status: 200,
      body: { subjectAccess: { mode: "Required" }, owner: null },
    });
  });

  test("shows a key's holder all that the key may do, and never the key", async () => {
    const { id, name, prefix, secret } = await makeKey({
      displayName: "Docs agent",
      owner: "ann@example.com",
      scopes: ["memory:read", "gateway:generate"],
      gatewayRef: { name: "main" },
      allowedModels: ["fast"],
      libraryAccess: { mode: "Restricted", libraryRefs: [{ name: "handbook" }, { name: "notes" }] },
      mcpDefaultLibraryRef: { name: "notes" },
      subjectAccess: { mode: "Bound", subject: "user-4711" },
      allowedCIDRs: ["127.0.0.0/8", "::1/128"],
      expiresAfter: "1h",
      rateLimit: { requestsPerMinute: 600, burst: 10, tokensPerMinute: 9_000, concurrent: 3 },
    });
    const { status, body, text } = await ask(secret);
    expect([status, body]).toEqual([
      200,
      {
        ...{ id, name, prefix, displayName: "Docs agent", namespace: "", team: "research" },
        ...{ ...eachFact(() => null), owner: "ann@example.com" },
        teamId: expect.stringMatching(/^team_/),
        state: "active",
        scopes: ["gateway:generate", "memory:read"],
        libraryAccess: { mode: "Restricted", libraries: ["handbook", "notes"] },
        subjectAccess: { mode: "Bound", subject: "user-4711" },
        ...{ allowedCIDRs: ["127.0.0.0/8", "::1/128"], teamAllowedCIDRs: null, teamLimits: null },
        defaultLibrary: "notes",
        gateway: "research-main",
        allowedModels: ["fast"],
        limits: { requestsPerMinute: 600, burst: 10, tokensPerMinute: 9_000, scope: "Replica", concurrent: 3 },
        expiresAt: expect.stringMatching(/Z$/),
        version: { number: 1, state: "active", mintedAt: expect.stringMatching(/Z$/), retiresAt: null },
      },
    ]);
    expect(text).not.toContain(secret);
  });

  test("is for every key, whatever its scopes, by every carrier, and is not cached", async () => {
    const { id, secret } = await makeKey({ scopes: ["gateway:embed"] });
    for (const [headers, query] of [
      [{ authorization: `Bearer ${secret}` }, ""],
      [{ "x-api-key": secret }, ""],
      [{ "x-goog-api-key": secret }, ""],
      [{}, `?key=${secret}`],
    ] as const) {
      const answer = await whoami(headers, query);
      expect([answer.status, answer.headers.get("cache-control")]).toEqual([200, "no-store"]);
      expect(JSON.parse(answer.text)).toMatchObject({
        ...{ id, gateway: null, allowedModels: null, expiresAt: null, defaultLibrary: null, subjectAccess: null },
        ...{ allowedCIDRs: null, teamAllowedCIDRs: null, teamLimits: null },
        libraryAccess: { mode: "All", libraries: null },
        limits: { requestsPerMinute: null, burst: null, concurrent: null },
      });
    }
  });

  test("says what all calls of its team are limited to", async () => {
    const spec = { rateLimit: { tokensPerMinute: 9_000, scope: "Installation", concurrent: 50 } };
    const team = await api.send("POST", "/teams", { name: "limited", spec });
    const made = await api.send("POST", "/keys", { name: "agent", team: "limited", spec: { preset: "MCPReadOnly" } });
    await until("the replica knows the key", async () => (await ask(made.body.secret)).status === 200);
    expect((await ask(made.body.secret)).body).toMatchObject({
      teamId: team.body.id,
      limits: { requestsPerMinute: null, burst: null, scope: null, concurrent: null },
      teamLimits: { requestsPerMinute: null, tokensPerMinute: 9_000, scope: "Installation", concurrent: 50 },
    });
  });

  test("says of a version that was replaced when it retires", async () => {
    const { id, secret } = await makeKey({ preset: "MCPReadOnly" });
    const { body } = await api.send("POST", `/keys/${id}/versions`, { overlap: "1h" });
    const { retiresAt } = body.versions[1];
    await until("the replica knows", async () => (await ask(secret)).body.version.state === "retiring");
    expect((await ask(secret)).body).toMatchObject({ version: { number: 1, retiresAt }, expiresAt: retiresAt });
    expect((await ask(body.secret)).body.version).toMatchObject({ number: 2, state: "active", retiresAt: null });
  });

  test("refuses an unknown, a suspended, an expired and a revoked key as every route does, all alike", async () => {
    const suspended = await makeKey({ preset: "MCPReadOnly", state: "Suspended" });
    const expired = await makeKey({ preset: "MCPReadOnly", expiresAfter: "1s" });
    const revoked = await makeKey({ preset: "MCPReadOnly" });
    await api.send("POST", `/keys/${revoked.id}/revoke`);
    await until("it has expired", async () => (await ask(expired.secret)).status === 401);
    const elsewhere = await (await fetch(`${api.url}/atoms`, { headers: { "x-api-key": revoked.secret } })).text();
    for (const key of [suspended.secret, expired.secret, revoked.secret, "inf_nothing"]) {
      const { status, text } = await ask(key);
      expect([status, text]).toEqual([401, elsewhere]);
    }
    expect((await whoami({})).status).toBe(401);
  });

  test("costs what any request costs of the key's rate limit", async () => {
    const { secret } = await makeKey({ preset: "MCPReadOnly", rateLimit: { requestsPerMinute: 1, burst: 2 } });
    expect([(await ask(secret)).status, (await ask(secret)).status, (await ask(secret)).status]).toEqual([
      200, 200, 429,
    ]);
  });
});
