import { setImmediate } from "node:timers/promises";
import type { onRequestHookHandler } from "fastify";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { mcpRoutes } from "../../../memory/mcp/routes.ts";
import { memoryRoutes } from "../../../memory/rest/routes.ts";
import type { RoutePlugin } from "../../../server/app.ts";
import { managementToken } from "../../../server/auth/management/management-token.ts";
import { managementRoutes } from "../../../server/management/routes.ts";
import type { Store } from "../../../store/database/store.ts";
import { until } from "../../env/until.ts";
import { openMemoryStore } from "../../memory/memory-store.ts";
import { type Harness, startHarness } from "../harness.ts";
import { makeSigner, sign, startIssuer } from "../management/issuer.ts";

const TOKEN = "kpt_the-token-of-this-installation";
const TEXT = "x".repeat(60_000);

/** What may be large: the method and the path. */
const PATHS = [
  "GET /atoms",
  "GET /atoms/search?q=x",
  "GET /atoms/export?library=diary",
  "POST /api/v1/memory/mcp",
  "GET /keys",
  "GET /teams",
  "GET /audit-events",
];

describe("b109: room for answers", () => {
  let store: Store;
  let harness: Harness;
  let key: string;
  beforeAll(async () => {
    store = await openMemoryStore();
    harness = await startHarness({
      mounts: [memoryRoutes, mcpRoutes, managementRoutes].map((routes) => ({ at: "", routes })),
      ...{ store, managementToken: managementToken("desk", TOKEN), answers: { key: 1 << 20 } },
    });
    key = harness.addKey();
    const atoms = Array.from({ length: 12 }, (_, n) => ({ content: `${n} ${TEXT}`, library: "diary" }));
    for (const atom of atoms) expect((await call("POST /atoms", atom)).status).toBe(201);
  });
  afterAll(async () => {
    await harness.close();
    await store.close();
  });

  function call(what: string, body?: unknown): Promise<Response> {
    const [method = "", path = ""] = what.split(" ");
    const isManaged = /^\/(keys|teams|audit)/.test(path);
    const message = { jsonrpc: "2.0", id: 1, method: "tools/call" };
    const list = { ...message, params: { name: "memory_list", arguments: { library: "diary", limit: 5 } } };
    return fetch(harness.url + path, {
      method,
      headers: {
        authorization: `Bearer ${isManaged ? TOKEN : key}`,
        accept: "application/json, text/event-stream",
        ...(method === "POST" && { "content-type": "application/json" }),
      },
      ...(method === "POST" && { body: JSON.stringify(body ?? list) }),
    });
  }

  test.each(PATHS)("b109: %s is answered where there is room, and gives it back", async (what) => {
    const answer = await call(what);
    expect(answer.status).toBe(200);
    await answer.text();
    await until("nothing is held", () => harness.deps.answers.figures().heldBytes === 0);
  });

  test.each(PATHS)("b109: %s is refused where there is none, before it asks for what it would answer", async (what) => {
    const owner = /(keys|teams|audit)/.test(what)
      ? { key: "desk", team: null }
      : { key: harness.recordOf(key).keyId, team: harness.recordOf(key).teamId };
    const full = harness.deps.answers.take(owner, 1, () => {});
    const answer = await call(what);
    expect(answer.status).toBe(429);
    expect(answer.headers.get("retry-after")).toBe("1");
    expect(await answer.text()).toContain(
      "Your unread answers have reached their limit of memory: read them, or try again later.",
    );
    expect(harness.deps.answers.figures().heldBytes).toBe(1);
    if (typeof full !== "string") full.end();
  });

  test.each(["GET /keys", "GET /audit-events"])(
    "b109: %s is answered however often one principal asks at once: those beyond their room wait for their turn",
    async (what) => {
      const answers = await Promise.all(Array.from({ length: 10 }, () => call(what)));
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
      await Promise.all(answers.map((answer) => answer.text()));
      await until("nothing is held", () => harness.deps.answers.figures().heldBytes === 0);
    },
  );
});

test.each([
  ["team", 429, "Your team's unread answers have reached their limit of memory: try again later."],
  ["process", 503, "This server holds as many answers as it can: try again."],
] as const)("b109: an answer for which the %s has no room is refused, and says so", async (of, status, message) => {
  const store = await openMemoryStore();
  const harness = await startHarness({
    mounts: [{ at: "", routes: memoryRoutes }],
    ...{
      store,
      answers: { key: 8 << 20, team: 8 << 20, thread: 8 << 20, [of === "process" ? "thread" : of]: 1 << 20 },
    },
  });
  const key = harness.addKey();
  const team = of === "team" ? harness.recordOf(key).teamId : "team-b";
  harness.deps.answers.take({ key: "key_of_another", team }, 1, () => {});
  const answer = await fetch(`${harness.url}/atoms`, { headers: { "x-api-key": key } });
  expect(answer.status).toBe(status);
  expect(await answer.text()).toContain(message);
  await harness.close();
  await store.close();
});

test("b109: pages of all people of a team take their team's room together, and none of another team's", async () => {
  const store = await openMemoryStore();
  const [issuer, signer] = [await startIssuer(), await makeSigner("first")];
  issuer.keys = [signer.jwk];
  const harness = await startHarness({
    mounts: [{ at: "", routes: managementRoutes }],
    ...{ store, answers: { key: 2 << 20, team: 2 << 20, thread: 64 << 20 } },
    config: { oidc: { issuers: [issuer.url], audience: "keyplane", adminGroups: ["platform"] } },
  });
  for (const name of ["a", "b"]) {
    harness.index.applyTeam({
      ...{ teamId: `team-${name}`, name, cluster: "c", defaultLibraryId: null, allowedCIDRs: null, limits: null },
      ...{ members: [{ role: "viewer", name: `group ${name}`, libraryIds: null }], revoked: [] },
    });
  }
  const look = async (sub: string, groups: readonly string[]) => {
    const token = await sign(issuer, signer, harness.clock.now(), { claims: { sub, groups } });
    const answer = await fetch(`${harness.url}/keys`, { headers: { authorization: `Bearer ${token}` } });
    return { status: answer.status, text: await answer.text() };
  };
  const held = harness.deps.answers.take({ key: "key_of_team_a", team: "team-a" }, 2 << 20, () => {});
  expect(await look("ann", ["a"])).toMatchObject({ status: 429, text: expect.stringContaining("Your team's unread") });
  for (const groups of [["b"], [], ["platform"]]) expect((await look("ben", groups)).status).toBe(200);
  if (typeof held !== "string") held.end();
  expect((await look("ann", ["a"])).status).toBe(200);
  await harness.close();
  await issuer.close();
  await store.close();
});

test("b109: a listing that has waited for its turn is decided again: a token that ends meanwhile shows nothing", async () => {
  const store = await openMemoryStore();
  const [issuer, signer] = [await startIssuer(), await makeSigner("first")];
  issuer.keys = [signer.jwk];
  const [shown, admitted] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const config = { management: true } as const;
  const pages: RoutePlugin = (app) => {
    app.get("/slow", { config }, () => shown.promise.then(() => ({})));
    // Behind the hook that lets the token in.
    const admit: onRequestHookHandler = (_request, _reply, done) => {
      admitted.resolve();
      done();
    };
    app.get("/listing", { config, onRequest: admit }, async () => ({}));
  };
  const harness = await startHarness({
    mounts: [{ at: "", routes: pages }],
    store,
    answers: { key: 1 << 20 },
    config: { oidc: { issuers: [issuer.url], audience: "keyplane", adminGroups: ["platform"] } },
  });
  const token = await sign(issuer, signer, harness.clock.now(), { claims: { groups: ["platform"] } });
  const get = (path: string) => fetch(harness.url + path, { headers: { authorization: `Bearer ${token}` } });
  const slow = get("/slow");
  await until("the turn is taken", () => harness.deps.answers.figures().heldBytes > 0);
  const listing = get("/listing");
  await admitted.promise;
  await setImmediate();
  harness.clock.advance(3_600_000);
  shown.resolve();
  expect((await slow).status).toBe(200);
  expect((await listing).status).toBe(401);
  await harness.close();
  issuer.close();
  await store.close();
});
