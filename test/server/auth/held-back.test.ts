import { sql } from "kysely";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { scopeSet } from "../../../domain/access/scopes.ts";
import { mcpRoutes } from "../../../memory/mcp/routes.ts";
import { memoryRoutes } from "../../../memory/rest/routes.ts";
import type { RoutePlugin } from "../../../server/app.ts";
import { gatewayRoutes } from "../../../server/gateway/routes.ts";
import type { Store } from "../../../store/database/store.ts";
import { until } from "../../env/until.ts";
import { openMemoryStore } from "../../memory/memory-store.ts";
import { allDialects, routeOf, upstreamOf } from "../gateway/gateway.ts";
import { startUpstream, type Upstream } from "../gateway/upstream.ts";
import { type Harness, startHarness } from "../harness.ts";
import { type HeldRequest, holdBack } from "./held-back.ts";

const ATOM = "11111111-1111-4111-8111-111111111111";

let store: Store;
let upstream: Upstream;
let second: Upstream;
let server: Harness;
let key: string;
let expiresAt: number;
/** Gateways: without routes, with one, and with one that has a fallback. */
let plain: string;
let routed: string;
let backed: string;
beforeAll(async () => {
  store = await openMemoryStore();
  [upstream, second] = [await startUpstream(), await startUpstream()];
  const products: RoutePlugin[] = [memoryRoutes, mcpRoutes, (app, deps) => gatewayRoutes(app, deps)];
  server = await startHarness({ mounts: products.map((routes) => ({ at: "", routes })), store });
  plain = server.addGateway(allDialects(upstream.url)).publicId;
  routed = server.addGateway({ upstreams: [upstreamOf(upstream.url)], routes: [routeOf("m")] }).publicId;
  const fallbacks = [{ upstream: "second", upstreamModel: "other" }];
  const upstreams = [upstreamOf(upstream.url), upstreamOf(second.url, "openai", { name: "second" })];
  backed = server.addGateway({ upstreams, routes: [routeOf("m", { fallbacks })] }).publicId;
});
afterAll(async () => {
  await server.close();
  await Promise.all([upstream.close(), second.close(), store.close()]);
});
beforeEach(async () => {
  await sql`delete from atoms`.execute(store.db);
  await sql`insert into atoms (id, library_id, team_id, content, tags, importance, created_at, updated_at)
    values (${ATOM}, 'lib-handbook', 'team-a', 'as it was', '{}', 0, now(), now())`.execute(store.db);
  // Neither by the server's clock, which stands still, nor by the database's.
  expiresAt = Math.max(server.clock.now(), Date.now()) + 600_000;
  key = server.addKey({ teamDefaultLibraryId: "lib-handbook", expiresAt });
  await server.whenStored();
  upstream.received.length = 0;
  second.received.length = 0;
  upstream.answerWith((response) => response.end("{}"));
});
afterEach(() => server.setCurrent(true));

const call = (name: string, args: object) =>
  JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: args } });
const CHAT = '{"model":"m","messages":[]}';

/** What is held back, by its name; the gateways' ids are known when the tests run. */
const REQUESTS: Record<string, () => readonly [target: string, body: string, headers?: readonly string[]]> = {
  "POST /atoms": () => ["POST /atoms", '{"content":"too late"}'],
  "PATCH /atoms": () => ["PATCH /atoms", `{"id":"${ATOM}","revision":1,"content":"too late"}`],
  "DELETE /atoms/{id}": () => [`DELETE /atoms/${ATOM}`, "{}"],
  "an MCP write": () => ["POST /api/v1/memory/mcp", call("memory_save_atom", { content: "too late" })],
  "/g/ with routes": () => [`POST /g/${routed}/v1/chat/completions`, CHAT],
  "/g/ with a fallback": () => [`POST /g/${backed}/v1/chat/completions`, CHAT],
  "/g/ without routes, a small body": () => [`POST /g/${plain}/v1/chat/completions`, CHAT],
  "/g/ without routes, a streamed body": () => [
    `POST /g/${plain}/v1/chat/completions`,
    CHAT,
    ["Transfer-Encoding: chunked"],
  ],
};

/** How a key loses its right, and what its callers are answered then. */
const ENDS: Record<string, readonly [end: () => void, status: number]> = {
  revoked: [() => server.changeKey(key, { state: "revoked" }), 401],
  expired: [() => server.clock.set(expiresAt), 401],
  narrowed: [() => server.changeKey(key, { scopes: scopeSet(["memory:read", "gateway:embed"]) }), 403],
  "no longer proven good": [() => server.setCurrent(false), 503],
};

/** Sends all but the last byte of a request, and waits until it was let through. */
async function held(name: string): Promise<HeldRequest> {
  const { length } = server.used;
  const [target, body, headers] = REQUESTS[name]?.() ?? ["", ""];
  const request = holdBack({ port: server.port, key }, target, body, headers);
  await until("the head is let through", () => server.used.length > length);
  return request;
}

async function atoms(): Promise<unknown[]> {
  const { rows } = await sql<{ content: string }>`select content from atoms`.execute(store.db);
  return rows.map(({ content }) => content);
}

describe.each(Object.keys(REQUESTS))("b81: %s, whose last byte is held back until its key is", (name) => {
  test.each(Object.keys(ENDS))("%s, has no effect", async (how) => {
    const [end, status] = ENDS[how] ?? [() => {}, 0];
    const request = await held(name);
    end();
    request.finish();
    expect((await request.answer).status).toBe(status);
    expect(await atoms()).toEqual(["as it was"]);
    expect([upstream.received, second.received]).toEqual([[], []]);
    await until("nothing is tracked any more", () => server.streams.size === 0);
  });

  test("good until the end, takes effect", async () => {
    const request = await held(name);
    request.finish();
    expect((await request.answer).status).toBeLessThan(300);
    const changed = JSON.stringify(await atoms()) !== '["as it was"]';
    expect(upstream.received.length).toBe(changed ? 0 : 1);
  });
});

test.each(Object.keys(REQUESTS))("b81: %s is cut while its body is held back, from its head on", async (name) => {
  const revoked = await held(name);
  server.changeKey(key, { state: "revoked" });
  expect((await revoked.answer).status).toBe(401);
  key = server.addKey();
  const unproven = await held(name);
  server.streams.cutAll("stale_index");
  expect((await unproven.answer).status).toBe(503);
  const stopped = await held(name);
  server.streams.cutAll("stopping");
  expect((await stopped.answer).text).toContain("This server is stopping: try again.");
  expect(server.streams.size).toBe(0);
});

describe("b81: a memory write is decided by the database, in the transaction that writes", () => {
  const WRITES = ["POST /atoms", "PATCH /atoms", "DELETE /atoms/{id}", "an MCP write"];
  const CHANGES: Record<string, readonly [change: string, status: number]> = {
    revoked: ["update keys set state = 'revoked', revoked_at = now()", 401],
    expired: ["update keys set expires_at = '2020-01-01'", 401],
    narrowed: ["update keys set scopes = '{memory:read}'", 403],
  };

  test.each(WRITES.flatMap((write) => Object.keys(CHANGES).map((change) => [write, change] as const)))(
    "%s with a key that is %s where the index does not know yet",
    async (name, how) => {
      const [change, status] = CHANGES[how] ?? ["", 0];
      const request = await held(name);
      await sql`${sql.raw(change)} where id = ${server.recordOf(key).keyId}`.execute(store.db);
      request.finish();
      expect((await request.answer).status).toBe(status);
      expect(await atoms()).toEqual(["as it was"]);
    },
  );

  test.each(WRITES)("%s to a library that the key no longer reaches is as to none", async (name) => {
    const request = await held(name);
    await sql`update keys set library_mode = 'restricted' where id = ${server.recordOf(key).keyId}`.execute(store.db);
    request.finish();
    const { status, text } = await request.answer;
    expect(name === "an MCP write" ? text.includes('"isError":true') : status >= 400 && status <= 404).toBe(true);
    expect(await atoms()).toEqual(["as it was"]);
  });
});

test.each(Object.keys(ENDS))("b81: a fallback is not asked for a key that is %s meanwhile", async (how) => {
  const [end, status] = ENDS[how] ?? [() => {}, 0];
  upstream.answerWith((response) => {
    end();
    response.writeHead(429).end("{}");
  });
  const request = await held("/g/ with a fallback");
  request.finish();
  expect((await request.answer).status).toBe(status);
  expect([upstream.received.length, second.received.length]).toEqual([1, 0]);
});

test("b81: a call goes where its gateway leads when its body is there", async () => {
  const id = server.addGateway({ upstreams: [upstreamOf(upstream.url)], routes: [routeOf("m")] });
  const request = holdBack({ port: server.port, key }, `POST /g/${id.publicId}/v1/chat/completions`, CHAT);
  await until("the head is let through", () => server.streams.size === 1);
  server.addGateway({ ...id, upstreams: [upstreamOf(second.url)], routes: [routeOf("m", { upstreamModel: "new" })] });
  request.finish();
  expect((await request.answer).status).toBe(200);
  expect([upstream.received.length, second.received.map(({ body }) => JSON.parse(body.toString()).model)]).toEqual([
    0,
    ["new"],
  ]);
});

describe("b81: a body has a time limit of its own", () => {
  test.each(Object.keys(REQUESTS))("%s whose body does not go on is answered 408 after 30 s", async (name) => {
    const request = await held(name);
    await until("the body is looked at", () => server.streams.size === 1);
    server.streams.cutSlowBodies(server.clock.monotonic());
    server.streams.cutSlowBodies(server.clock.monotonic() + 29_999);
    expect(request.text()).toBe("");
    server.streams.cutSlowBodies(server.clock.monotonic() + 30_000);
    const { status, text } = await request.answer;
    expect([status, /^connection: close$/im.test(text)]).toEqual([408, true]);
    expect(text).toContain(
      name.startsWith("/g/") ? '"error":{"message":"The request\'s body came too slowly' : "too slowly",
    );
    expect([await atoms(), upstream.received]).toEqual([["as it was"], []]);
  });

  test("the server itself looks after it", async () => {
    const request = await held("POST /atoms");
    await until("the answer", () => {
      server.clock.advance(1_000);
      return request.text();
    });
    expect((await request.answer).status).toBe(408);
  });
});
