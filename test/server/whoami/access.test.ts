import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Store } from "../../../store/database/store.ts";
import { openMigrated } from "../../env/database/engines.ts";
import { until } from "../../env/until.ts";
import { unique } from "../../store/fixtures.ts";
import { type Api, startApi } from "../management/api.ts";

let store: Store;
let api: Api;
const UPSTREAMS = [{ name: "u", dialect: "openai", baseURL: "http://127.0.0.1:1", credential: "c" }];
const ROUTES = [{ model: "fast-chat", routeID: "rt-fast", upstream: "u", upstreamModel: "m" }];

beforeAll(async () => {
  store = await openMigrated();
  api = await startApi(store);
  for (const team of ["research", "others"]) await api.send("POST", "/teams", { name: team, spec: {} });
  for (const name of ["handbook", "notes"]) await api.send("POST", "/libraries", { name, team: "research", spec: {} });
  for (const [name, team, spec] of [
    ["main", "research", { routes: ROUTES }],
    ["second", "research", { routes: ROUTES, routesOnly: true }],
    ["pictures", "research", { operations: ["images"] }],
    ["plain", "research", { routes: ROUTES, operations: ["generate"] }],
    ["foreign", "others", {}],
  ] as const) {
    await api.send("POST", "/gateways", { name, team, spec: { publicID: name, upstreams: UPSTREAMS, ...spec } });
  }
});
afterAll(async () => {
  await api.close();
  await store.close();
});

type Key = { id: string; secret: string };
async function makeKey(spec: object): Promise<Key> {
  const { body } = await api.send("POST", "/keys", { name: unique("key"), team: "research", spec });
  return body;
}

/** What a key's holder and its managers are answered, which is the same. */
async function ask({ id, secret }: Key, question: string): Promise<string> {
  const held = await fetch(`${api.url}/api/v1/whoami/access?${question}`, { headers: { "x-api-key": secret } });
  const { status, body } = await api.send("GET", `/keys/${id}/access?${question}`);
  expect([held.status, await held.json()]).toEqual([status, body]);
  return `${body.allowed ? "yes" : "no"}: ${body.reason}`;
}

describe("what a key may do", () => {
  test("is answered of the memory by scope and library", async () => {
    const reader = await makeKey({
      scopes: ["memory:read"],
      libraryAccess: { mode: "Restricted", libraryRefs: [{ name: "handbook" }] },
    });
    expect(await ask(reader, "scope=memory:read")).toBe("yes: the key has the scope memory:read");
    expect(await ask(reader, "scope=memory:read&library=handbook")).toMatch(/^yes/);
    const inQuery = await fetch(`${api.url}/api/v1/whoami/access?scope=memory:read&key=${reader.secret}`);
    expect([inQuery.status, inQuery.headers.get("cache-control")]).toEqual([200, "no-store"]);
    expect(await ask(reader, "scope=memory:read&library=notes")).toBe(
      'no: There is no library "notes" for this key. Name a MemoryLibrary of the key\'s namespace by its name, one of another namespace of the team as namespace/name. This key may reach: handbook.',
    );
    expect(await ask(reader, "scope=memory:write&library=handbook")).toBe("no: the key lacks the scope memory:write");
    expect(await ask(reader, "scope=gateway:generate&gateway=main")).toBe(
      "no: the key lacks the scope gateway:generate",
    );
  });

  test("is answered of a gateway by scope, gateway and model, as calls are decided", async () => {
    const caller = await makeKey({ scopes: ["gateway:generate"], allowedModels: ["gpt-5", "fast-chat"] });
    const both = await makeKey({ scopes: ["gateway:generate", "gateway:routes"] });
    for (const [key, question, answer] of [
      [caller, "gateway=main", "yes: the key has the scope gateway:generate"],
      [caller, "gateway=main&model=gpt-5", "yes: the key has the scope gateway:generate"],
      [
        caller,
        "gateway=main&model=gpt-4",
        "no: This key may not use this model. Its allowed models are: gpt-5, fast-chat.",
      ],
      [
        caller,
        "gateway=main&model=fast-chat",
        "no: This model names a logical route, and the key lacks the scope gateway:routes. Use another key, or have the scope added to this one.",
      ],
      [both, "gateway=main&model=fast-chat", "yes: the key has the scope gateway:generate"],
      [
        both,
        "gateway=second&model=gpt-5",
        "no: This gateway serves its logical routes alone, and the model is none of them. This key may name: fast-chat.",
      ],
      [both, "gateway=foreign", "no: the key's team has no gateway of this public id"],
      [both, "gateway=nowhere", "no: the key's team has no gateway of this public id"],
    ] as const) {
      expect(await ask(key, `scope=gateway:generate&${question}`), question).toBe(answer);
    }
  });

  test("b473: is answered of what the gateway serves, as calls are decided", async () => {
    const all = await makeKey({ scopes: ["gateway:generate", "gateway:embed", "gateway:routes", "gateway:files"] });
    const narrow = await makeKey({ scopes: ["gateway:generate"] });
    const lacks = (scope: string) => `no: the key lacks the scope ${scope}`;
    const unserved = (kind: string, served: string) =>
      `no: This gateway does not serve ${kind}: have ${kind} added to its spec.operations, which are ${served}.`;
    for (const [key, question, answer] of [
      [all, "scope=gateway:generate&gateway=pictures", "yes: the key has the scope gateway:generate"],
      [all, "scope=gateway:routes&gateway=plain&model=fast-chat", "yes: the key has the scope gateway:routes"],
      [narrow, "scope=gateway:routes&gateway=plain&model=fast-chat", lacks("gateway:routes")],
      [all, "scope=gateway:files&gateway=main", unserved("files", "generate, embed, models")],
      [narrow, "scope=gateway:files&gateway=main", unserved("files", "generate, embed, models")],
      [all, "scope=gateway:embed&gateway=pictures&model=gpt-5", unserved("embed", "images")],
      [narrow, "scope=gateway:embed&gateway=main", lacks("gateway:embed")],
    ] as const) {
      expect(await ask(key, question), question).toBe(answer);
    }
    const call = (path: string, body?: object) =>
      fetch(`${api.url}/g/${path}`, {
        method: body === undefined ? "GET" : "POST",
        headers: { authorization: `Bearer ${all.secret}`, "content-type": "application/json" },
        ...(body && { body: JSON.stringify(body) }),
      });
    expect((await call("pictures/v1/images/generations", { model: "m", prompt: "x" })).status).toBe(502);
    const refused = await call("main/v1/files");
    expect([refused.status, await refused.json()]).toMatchObject([
      404,
      {
        error: { message: expect.stringContaining(unserved("files", "generate, embed, models").slice("no: ".length)) },
      },
    ]);
  });

  test("is answered of a key that is bound to a gateway, and gives away nothing of another team's", async () => {
    const bound = await makeKey({ scopes: ["gateway:embed"], gatewayRef: { name: "main" } });
    expect(await ask(bound, "scope=gateway:embed&gateway=main")).toMatch(/^yes/);
    for (const gateway of ["second", "foreign", "nowhere"]) {
      expect(await ask(bound, `scope=gateway:embed&gateway=${gateway}`)).toBe(
        "no: the key is bound to another gateway",
      );
    }
  });

  test("is nothing for one that is suspended or revoked, to those who look after it", async () => {
    const { id, secret } = await makeKey({ preset: "MCPReadOnly", state: "Suspended" });
    const why = async () => (await api.send("GET", `/keys/${id}/access?scope=memory:read`)).body;
    expect(await why()).toEqual({
      allowed: false,
      reason: "the key is suspended, or its team no longer holds its namespace",
    });
    await api.send("POST", `/keys/${id}/revoke`);
    await until("it is revoked", async () => (await why()).reason === "the key is revoked");
    const held = await fetch(`${api.url}/api/v1/whoami/access?scope=memory:read`, { headers: { "x-api-key": secret } });
    expect(held.status).toBe(401);
  });

  test("is not answered where the question is invalid, or the key is not there", async () => {
    const key = await makeKey({ preset: "MCPReadOnly" });
    for (const question of [
      "",
      "scope=memory",
      "scope=gateway:generate",
      "scope=memory:read&gateway=main",
      "scope=gateway:embed&gateway=main&library=handbook",
      "scope=memory:read&verb=get",
    ]) {
      expect((await api.send("GET", `/keys/${key.id}/access?${question}`)).status, question).toBe(400);
      const held = await fetch(`${api.url}/api/v1/whoami/access?${question}`, { headers: { "x-api-key": key.secret } });
      expect(held.status, question).toBe(400);
    }
    expect((await api.send("GET", "/keys/key_00000000000000000000/access?scope=memory:read")).status).toBe(404);
  });
});
