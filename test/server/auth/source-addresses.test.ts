/** From where keys and members' tokens may be used, as callers meet it (docs/decisions/source-addresses.md). */
import { once } from "node:events";
import { connect } from "node:net";
import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { KeyRecord } from "../../../domain/access/key-record.ts";
import { mcpRoutes } from "../../../memory/mcp/routes.ts";
import { memoryRoutes } from "../../../memory/rest/routes.ts";
import type { RoutePlugin } from "../../../server/app.ts";
import { decide } from "../../../server/auth/decide.ts";
import { gatewayRoutes } from "../../../server/gateway/routes.ts";
import { memoryServer } from "../../memory/memory-server.ts";
import { allDialects } from "../gateway/gateway.ts";
import { startUpstream, type Upstream } from "../gateway/upstream.ts";
import { type Harness, startHarness } from "../harness.ts";

const HERE = ["203.0.113.0/24", "2001:db8::/32"];
const LOOPBACK = ["127.0.0.0/8"];

let handled = 0;
const atoms: RoutePlugin = (app) => {
  app.get("/atoms", { config: { operation: "atoms.list" } }, async () => ({ items: [], handled: ++handled }));
  app.post("/atoms", { config: { operation: "atoms.create" } }, async () => ({ handled: ++handled }));
};

let direct: Harness;
let proxied: Harness;
let upstream: Upstream;
beforeAll(async () => {
  upstream = await startUpstream();
  const mounts = [atoms, gatewayRoutes, mcpRoutes].map((routes) => ({ at: "", routes }));
  direct = await startHarness({ mounts });
  proxied = await startHarness({ mounts, config: { trustedProxies: LOOPBACK } });
  for (const harness of [direct, proxied]) harness.addGateway({ publicId: "main", ...allDialects(upstream.url) });
});
afterAll(async () => {
  await direct.close();
  await proxied.close();
  await upstream.close();
});

type CallOptions = {
  readonly path?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
};

async function call(
  harness: Harness,
  key: string,
  from: string | undefined,
  { path = "/atoms", body, headers }: CallOptions = {},
) {
  const answer = await fetch(harness.url + path, {
    method: body === undefined ? "GET" : "POST",
    headers: {
      authorization: `Bearer ${key}`,
      ...(from !== undefined && { "x-forwarded-for": from }),
      ...(body !== undefined && { "content-type": "application/json" }),
      ...headers,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  return { status: answer.status, headers: answer.headers, text, body: JSON.parse(text) };
}

describe("b122: a key with a list of networks", () => {
  test.each([
    ["203.0.113.7", 200],
    ["::ffff:203.0.113.7", 200],
    ["2001:db8:1::7", 200],
    ["198.51.100.7", 403],
    ["::ffff:198.51.100.7", 403],
    ["2001:db9::1", 403],
    ["198.51.100.7, 203.0.113.7", 200],
    // What a caller writes itself stands before what a proxy adds, and counts for nothing.
    ["203.0.113.7, 198.51.100.7", 403],
    ["203.0.113.7, 127.0.0.2", 200],
    ["203.0.113.7:51820", 200],
    ["203.0.113.7:51820, 127.0.0.1:1234", 200],
    ["[2001:db8::5]:443", 200],
    ["[2001:db8::5%eth0]:443,127.0.0.2", 200],
    ["198.51.100.7:80", 403],
    ["203.0.113.7:80, [2001:db9::1]:443", 403],
    ["203.0.113.7:65536", 403],
    ["[203.0.113.7]:80", 403],
    ["unknown", 403],
  ])("is let through behind a trusted proxy that names %s, or refused: %i", async (from, status) => {
    const key = proxied.addKey({ allowedCIDRs: HERE });
    expect((await call(proxied, key, from)).status).toBe(status);
  });

  test("goes by the connection's own address, where no trusted proxy has written the header", async () => {
    expect((await call(direct, direct.addKey({ allowedCIDRs: HERE }), "203.0.113.7")).status).toBe(403);
    expect((await call(direct, direct.addKey({ allowedCIDRs: LOOPBACK }), "203.0.113.7")).status).toBe(200);
  });

  test("is used from where its own list and its team's both have", async () => {
    const key = proxied.addKey({
      allowedCIDRs: ["203.0.113.0/24"],
      teamAllowedCIDRs: ["203.0.113.64/26", "10.0.0.0/8"],
    });
    const answers = ["203.0.113.70", "203.0.113.7", "10.0.0.1"].map((from) => call(proxied, key, from));
    const [both, ownAlone, teamAlone] = await Promise.all(answers);
    expect([both?.status, ownAlone?.status, teamAlone?.status]).toEqual([200, 403, 403]);
    expect(ownAlone?.body.detail).toContain("allowedCIDRs of the PlatformTeam");
    expect(teamAlone?.body.detail).toContain("allowedCIDRs of the PlatformKey");
  });

  test("is refused in the words of its caller's format, with the address that was seen", async () => {
    const key = proxied.addKey({ allowedCIDRs: HERE });
    const [code, message] = [
      "address_not_allowed",
      "Calls from 198.51.100.7 are refused: allowedCIDRs of the PlatformKey does not have this address. Call from one that it has, or have this one added. Where it is a proxy's, the server is started with --trusted-proxies for that proxy.",
    ];
    const ask = (path: string, headers = {}) =>
      call(proxied, key, "198.51.100.7", { path, body: { model: "m" }, headers });
    expect((await call(proxied, key, "198.51.100.7")).body).toEqual({
      ...{ type: `urn:keyplane:problem:${code}`, title: "Address not allowed", status: 403, code, detail: message },
      requestId: expect.stringMatching(/^req_/),
    });
    expect((await ask("/g/main/v1/chat/completions")).body).toEqual({
      error: { message, type: "permission_error", code, param: null },
    });
    expect((await ask("/g/main/v1/messages")).body).toEqual({
      ...{ type: "error", error: { type: "permission_error", message: `${code}: ${message}` } },
    });
    expect((await ask("/g/main/v1beta/models/m:generateContent")).body).toEqual({
      error: { code: 403, message: `${code}: ${message}`, status: "PERMISSION_DENIED" },
    });
    const mcp = await call(proxied, key, "198.51.100.7", {
      path: "/api/v1/memory/mcp",
      body: { jsonrpc: "2.0", id: 1, method: "tools/list" },
      headers: { accept: "application/json, text/event-stream" },
    });
    expect([mcp.status, mcp.text]).toEqual([403, expect.stringContaining(message)]);
  });

  test("is refused from an address that is not known, in words that say why", async () => {
    const key = proxied.addKey({ allowedCIDRs: ["0.0.0.0/0", "::/0"] });
    const { status, body } = await call(proxied, key, "not-an-address<script>");
    expect([status, body.code, body.detail]).toEqual([
      403,
      "address_not_allowed",
      "Calls are taken from the addresses of allowedCIDRs alone, and the server does not know the address of this one: a proxy that it trusts wrote something else into X-Forwarded-For. Have it write the caller's address there.",
    ]);
    expect(proxied.refused.at(-1)).toMatchObject({ code: "address_not_allowed", cause: "address_unknown" });
  });

  test("is refused before its rate and its calls under way are charged, and before its scopes are judged", async () => {
    const fields = {
      allowedCIDRs: HERE,
      rateLimit: { requestsPerMinute: 60, burst: 1, scope: "Replica" as const },
      concurrent: 1,
    };
    const key = proxied.addKey(fields);
    for (let i = 0; i < 5; i++) {
      const { status, headers } = await call(proxied, key, "198.51.100.7");
      expect([status, headers.get("ratelimit")]).toEqual([403, null]);
    }
    expect((await call(proxied, key, "203.0.113.7")).status).toBe(200);
    const unscoped = proxied.addKey({ allowedCIDRs: HERE, scopes: 0 });
    expect((await call(proxied, unscoped, "198.51.100.7")).body.code).toBe("address_not_allowed");
    expect((await call(proxied, unscoped, "203.0.113.7")).body.code).toBe("forbidden");
  });

  test("is refused as any other where it is revoked, wherever the call comes from", async () => {
    const key = proxied.addKey({ allowedCIDRs: HERE, state: "revoked" });
    const [inside, outside] = [await call(proxied, key, "203.0.113.7"), await call(proxied, key, "198.51.100.7")];
    expect([inside.status, outside.status, outside.text]).toEqual([401, 401, inside.text]);
  });

  test("has each refusal counted by its cause, and recorded with the address", async () => {
    const key = proxied.addKey({ allowedCIDRs: HERE });
    const { keyId, teamId } = proxied.recordOf(key);
    await call(proxied, key, "198.51.100.7:51820");
    expect(proxied.refused.at(-1)).toMatchObject({
      ...{ code: "address_not_allowed", cause: "address_not_allowed", keyId, teamId, address: "198.51.100.7" },
    });
    expect(await proxied.metrics.registry.metrics()).toMatch(
      /keyplane_refusals_total\{cause="address_not_allowed"\} [1-9]/,
    );
  });

  test("feels a list that is changed with its next call, and before a body that comes meanwhile has an effect", async () => {
    const key = direct.addKey({ allowedCIDRs: LOOPBACK });
    expect((await call(direct, key, undefined)).status).toBe(200);
    const socket = connect(direct.port, "127.0.0.1");
    let answer = "";
    socket.setEncoding("latin1").on("data", (data) => {
      answer += data;
    });
    const before = handled;
    const head = [
      "POST /atoms HTTP/1.1",
      "Host: localhost",
      `Authorization: Bearer ${key}`,
      "Content-Type: application/json",
    ];
    socket.write(`${[...head, "Content-Length: 2", "Connection: close"].join("\r\n")}\r\n\r\n{`);
    await expect.poll(() => direct.streams.figures().calls).toBeGreaterThan(0);
    direct.changeKey(key, { allowedCIDRs: HERE });
    socket.write("}");
    await once(socket, "close");
    expect([answer.slice(0, 12), handled]).toEqual(["HTTP/1.1 403", before]);
    expect((await call(direct, key, undefined)).status).toBe(403);
    direct.changeKey(key, { allowedCIDRs: null });
    expect((await call(direct, key, undefined)).status).toBe(200);
  });
});

test("b122: a key without a list has no address asked for, and one with a list has it asked for once", () => {
  let asked = 0;
  const client = {
    get ip() {
      asked++;
      return "203.0.113.7";
    },
  };
  const verdictOf = (fields: Partial<KeyRecord>) => {
    const headers = ["authorization", `Bearer ${direct.addKey(fields)}`];
    asked = 0;
    const decision = decide(direct.deps, headers, "/atoms", ROUTE, client);
    if (decision instanceof Promise) throw new Error("no key here has a limit of the installation");
    return { granted: decision.granted, asked };
  };
  expect(verdictOf({})).toEqual({ granted: true, asked: 0 });
  expect(verdictOf({ allowedCIDRs: HERE })).toEqual({ granted: true, asked: 1 });
  expect(verdictOf({ allowedCIDRs: HERE, teamAllowedCIDRs: LOOPBACK })).toEqual({ granted: false, asked: 1 });
});
const ROUTE = { product: "memory", operation: "atoms.list", publicId: undefined } as const;

describe("b122: a write to the memory", () => {
  const opened = memoryServer(memoryRoutes);

  test("is taken back where the database has a list by then that the caller is not on", async () => {
    const { server, store } = opened();
    const key = server.addKey();
    const save = () =>
      call(server, key, undefined, {
        path: "/atoms",
        body: { content: "Coffee is on floor two.", library: "handbook" },
      });
    const count = async () => {
      const { rows } = await sql<{ count: number }>`select count(*)::int as count from atoms`.execute(store.db);
      return rows[0]?.count;
    };
    expect((await save()).status).toBe(201);
    const saved = await count();
    const { keyId } = server.recordOf(key);
    await sql`update keys set allowed_cidrs = ${HERE}::text[] where id = ${keyId}`.execute(store.db);
    const refused = await save();
    expect([refused.status, refused.body.code, await count()]).toEqual([403, "address_not_allowed", saved]);
    await sql`update keys set allowed_cidrs = ${LOOPBACK}::text[] where id = ${keyId}`.execute(store.db);
    expect((await save()).status).toBe(201);
    await sql`update teams set allowed_cidrs = ${HERE}::text[] where id = 'team-a'`.execute(store.db);
    expect((await save()).body.detail).toContain("PlatformTeam");
  });
});
