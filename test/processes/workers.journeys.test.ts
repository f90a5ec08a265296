import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Scope } from "../../domain/access/scopes.ts";
import { LEASE_MS, LEASE_RANGE_MS } from "../../domain/protocol.ts";
import { type RunningServer, startServer } from "../../processes/main.ts";
import { systemClock } from "../../runtime/clock.ts";
import { createLog } from "../../runtime/log.ts";
import { parseServerConfig } from "../../server/context/config.ts";
import { Lease } from "../../server/key-index/lease.ts";
import { sharedCells } from "../../server/key-index/shared-cells.ts";
import { saveGateway } from "../../store/gateways/gateways.ts";
import { librariesOfKey } from "../../store/keys/uses/key-libraries.ts";
import { readRequestCounts } from "../../store/keys/uses/request-counts.ts";
import { saveLibrary } from "../../store/libraries/libraries.ts";
import type { TeamDraft } from "../../store/teams/teams.ts";
import { readUsage } from "../../store/usage/read-usage.ts";
import { databaseUrl, describeOnPostgres } from "../env/database/engines.ts";
import { until, untilNoLonger } from "../env/until.ts";
import { testClock } from "../server/harness.ts";
import { keyring, storeKey } from "../server/key-index/replica-fixtures.ts";
import { type Issuer, makeSigner, type Signer, sign, startIssuer } from "../server/management/issuer.ts";
import { startCollector } from "../server/telemetry/collector.ts";
import { gatewayDraft, type Home, libraryDraft, makeTeam, policyOf, run, unique } from "../store/fixtures.ts";

/** Connections enough that the kernel gives some to each of two threads, all but surely. */
const CONNECTIONS = 16;
/** Of both servers. */
const THREADS = 4;
/** How long a thread waits for the database to say what of a limit is left. */
const DATABASE_ANSWER_MS = 500;
const RESOURCE = "https://keys.example.com/api/v1/memory/mcp";

describeOnPostgres("two worker threads", (store) => {
  let server: RunningServer;
  /** Another replica on the same database, with two threads as well. */
  let other: RunningServer;
  let home: Awaited<ReturnType<typeof makeTeam>>;
  let publicId: string;
  let issuer: Issuer;
  let signer: Signer;
  let collector: Awaited<ReturnType<typeof startCollector>>;
  const upstream = createServer(({ url }, response) => {
    if (url === "/v1/embeddings") response.end('{"data":[],"model":"small","usage":{"prompt_tokens":8}}');
    else response.writeHead(200, { "content-type": "text/event-stream" }).write("data: 1\n\n");
  });
  beforeAll(async () => {
    await new Promise<void>((resolve) => upstream.listen(0, "127.0.0.1", resolve));
    issuer = await startIssuer();
    signer = await makeSigner("first");
    issuer.keys = [signer.jwk];
    collector = await startCollector();
    home = await makeTeam(store());
    publicId = await addGateway(home);
    [server, other] = await Promise.all([start(), start()]);
  });
  afterAll(async () => {
    await Promise.all([server.close(), other.close()]);
    upstream.closeAllConnections();
    upstream.close();
    issuer.close();
    await collector.close();
  });

  /** A team's gateway to the upstream; returns its public id. */
  async function addGateway(team: Home): Promise<string> {
    const publicId = unique("public");
    const baseUrl = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`;
    const upstreams = [{ name: "openai", dialect: "openai", baseUrl, credential: "sk-provider" }] as const;
    await run(store(), (tx) => saveGateway(tx, gatewayDraft(team, { publicId, upstreams }), keyring));
    return publicId;
  }

  async function start(): Promise<RunningServer> {
    const flags = { port: "0", adminPort: "0", workers: "2", allowPrivateUpstreams: "127.0.0.0/8" };
    const traces = { otlpEndpoint: collector.url, traceRatio: "0" };
    const tokens = { publicUrl: "https://keys.example.com", oidcIssuer: issuer.url, oidcAudience: "keyplane" };
    const started = await startServer({
      store: store(),
      database: { url: (await databaseUrl(store())).href },
      config: parseServerConfig({}, { ...flags, ...tokens, ...traces }),
      keyring,
      clock: systemClock,
      log: createLog("silent"),
      graceMs: 5_000,
    });
    return started;
  }

  /** The same request by connections of their own, so that both threads answer some. */
  function callAll(key: string, url = server.url, gateway = publicId): Promise<number[]> {
    const headers = { authorization: `Bearer ${key}`, connection: "close" };
    const call = async () => (await fetch(`${url}/g/${gateway}/v1/models`, { headers })).status;
    return Promise.all(Array.from({ length: CONNECTIONS }, call));
  }

  /**
   * Calls in rounds until all are refused: of a limit of one request a minute over all threads exactly its burst is let
   * through, and one more in each minute that has passed. Where a round took so long that the database may not have
   * answered a thread in time, each thread may have let its part through besides (docs/decisions/rate-limits.md).
   */
  async function expectExactly(burst: number, round: () => Promise<readonly number[]>): Promise<void> {
    const since = performance.now();
    let [admitted, slowest] = [0, 0];
    await until("all know the keys, and the limit is used up", async () => {
      const begun = performance.now();
      const statuses = await round();
      slowest = Math.max(slowest, performance.now() - begun);
      admitted += statuses.filter((status) => status === 200).length;
      return statuses.every((status) => status === 429);
    });
    const minutes = Math.floor((performance.now() - since) / 60_000);
    const parts = slowest < DATABASE_ANSWER_MS ? 0 : THREADS * Math.ceil(burst / THREADS);
    expect(admitted).toBeGreaterThanOrEqual(burst);
    expect(admitted).toBeLessThanOrEqual(burst + minutes + parts);
  }

  /** An answer that goes on, on a connection of its own. */
  const beginStream = (key: string, gateway = publicId, url = server.url): Promise<Response> =>
    fetch(`${url}/g/${gateway}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "m", stream: true }),
    });

  async function openStream(key: string): Promise<{ ended: () => boolean; rest: Promise<string> }> {
    const response = await beginStream(key);
    expect(response.status).toBe(200);
    let over = false;
    const rest = response.text().finally(() => {
      over = true;
    });
    rest.catch(() => {});
    return { ended: () => over, rest };
  }

  async function metric(name: string, labels = ""): Promise<number> {
    const text = await (await fetch(`${server.adminUrl}/metrics`)).text();
    return Number(new RegExp(`^${name}${labels.replace(/[{}]/g, "\\$&")} (\\S+)$`, "m").exec(text)?.[1] ?? 0);
  }

  test("c96: listen once they have read the keys", async () => {
    const key = await storeKey(store(), home, { policy: policyOf({ scopes: ["gateway:routes"] }) });
    const other = await start();
    expect(new Set(await callAll(key.plaintext, other.url))).toEqual(new Set([200]));
    await other.close();
  });

  test("b22: serve the same keys on one port, and both refuse a revoked one within the lease", async () => {
    const key = await storeKey(store(), home, { policy: policyOf({ scopes: ["gateway:routes"] }) });
    await until("both know the key", async () => (await callAll(key.plaintext)).every((status) => status === 200));
    await key.revoke();
    const revokedAt = performance.now();
    const someAccept = async () => (await callAll(key.plaintext)).some((status) => status !== 401);
    expect((await untilNoLonger("one accepts it", someAccept)) - revokedAt).toBeLessThan(LEASE_MS);
    expect((await callAll(key.plaintext)).filter((status) => status !== 401)).toEqual([]);
    expect(await metric("keyplane_refusals_total", '{cause="revoked"}')).toBeGreaterThanOrEqual(CONNECTIONS);
  });

  test("count as one process, which began when it began, and whose event loop is the most delayed of theirs", async () => {
    const started = await metric("process_start_time_seconds");
    expect(Math.abs(Date.now() / 1000 - started)).toBeLessThan(600);
    expect(await metric("nodejs_eventloop_lag_p99_seconds")).toBeGreaterThan(0);
  });

  test("b147: both send the spans of what they answer", async () => {
    const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
    const ask = () =>
      fetch(`${server.url}/readyz`, {
        headers: { connection: "close", traceparent: `00-${traceId}-00f067aa0ba902b7-01` },
      });
    await Promise.all(Array.from({ length: CONNECTIONS }, ask));
    const spans = () => collector.spans().filter((span) => span.traceId === traceId);
    await until("all spans have come", () => spans().length === CONNECTIONS);
    expect(new Set(spans().map(({ name }) => name))).toEqual(new Set(["GET /readyz"]));
    expect(await metric("keyplane_trace_spans_total", '{outcome="exported"}')).toBeGreaterThanOrEqual(CONNECTIONS);
  });

  test("b24: cut the open streams of a revoked key, and no other's", async () => {
    const policy = policyOf({ scopes: ["gateway:generate"] });
    const [revoked, other] = [await storeKey(store(), home, { policy }), await storeKey(store(), home, { policy })];
    await until("the keys are known", async () =>
      [...(await callAll(revoked.plaintext)), ...(await callAll(other.plaintext))].every((status) => status === 403),
    );
    const cut = await Promise.all(Array.from({ length: CONNECTIONS }, () => openStream(revoked.plaintext)));
    const kept = await openStream(other.plaintext);
    await revoked.revoke();
    await until("every stream of it is cut", () => cut.every(({ ended }) => ended()));
    expect(kept.ended()).toBe(false);
    expect(await metric("keyplane_streams_cut_total")).toBe(CONNECTIONS);
  });

  test("let through as much as a rate limit allows, together", async () => {
    const policy = policyOf({
      scopes: ["gateway:routes"],
      rateLimit: { requestsPerMinute: 1, burst: 10, scope: "Replica" },
    });
    const key = await storeKey(store(), home, { policy });
    await until(
      "the key is known",
      async () =>
        (await fetch(`${server.url}/atoms`, { headers: { authorization: `Bearer ${key.plaintext}` } })).status === 403,
    );
    const answers = [...(await callAll(key.plaintext)), ...(await callAll(key.plaintext))];
    expect(answers.filter((status) => status === 200)).toHaveLength(10);
    expect(answers.filter((status) => status === 429)).toHaveLength(2 * CONNECTIONS - 10);
  });

  test("b84: have as many calls of a key under way at once as it declares, together", async () => {
    const policy = policyOf({ scopes: ["gateway:generate"], concurrent: 5 });
    const key = await storeKey(store(), home, { policy });
    await until("both know the key", async () => (await callAll(key.plaintext)).every((status) => status !== 401));
    const beginAll = () => Promise.all(Array.from({ length: CONNECTIONS }, () => beginStream(key.plaintext)));
    const [open, refused] = Map.groupBy(await beginAll(), ({ status }) => status)
      .entries()
      .toArray()
      .sort(([a], [b]) => a - b);
    expect([open?.[0], open?.[1].length]).toEqual([200, 5]);
    expect([refused?.[0], refused?.[1].length]).toEqual([429, CONNECTIONS - 5]);
    // Each that ends makes room for one more, on whichever thread that comes.
    await Promise.all((open?.[1] ?? []).slice(0, 2).map((response) => response.body?.cancel()));
    let begun = 0;
    await until("two more are let through", async () => {
      begun += (await beginAll()).filter(({ status }) => status === 200).length;
      return begun >= 2;
    });
    expect(begun).toBe(2);
    expect((await beginAll()).filter(({ status }) => status === 200)).toEqual([]);
  });

  test("b123: let through as much as a limit of the installation allows, with the threads of another replica", async () => {
    const rateLimit = { requestsPerMinute: 1, burst: 10, scope: "Installation" } as const;
    const key = await storeKey(store(), home, { policy: policyOf({ scopes: ["gateway:routes"], rateLimit }) });
    await expectExactly(10, async () =>
      (await Promise.all([callAll(key.plaintext), callAll(key.plaintext, other.url)])).flat(),
    );
  });

  test("b124: hold a team's keys to its limits together, exactly, of a replica and of the installation", async () => {
    const rate = { requestsPerMinute: 1, burst: 20, scope: "Installation" } as const;
    const rated = await teamOf({ rate, concurrent: null });
    const callEach = async (url: string) =>
      (await Promise.all(rated.keys.map((key) => callAll(key, url, rated.publicId)))).flat();
    await expectExactly(20, async () => (await Promise.all([callEach(server.url), callEach(other.url)])).flat());
    const bounded = await teamOf({ rate: null, concurrent: 5 });
    const beginAll = async () => {
      const all = bounded.keys.flatMap((key) => Array.from({ length: 8 }, () => beginStream(key, bounded.publicId)));
      return (await Promise.all(all)).filter(({ status }) => status === 200);
    };
    const open: Response[] = [];
    await until("there are five", async () => {
      open.push(...(await beginAll()));
      return open.length >= 5;
    });
    expect(await beginAll()).toEqual([]);
    expect(open).toHaveLength(5);
    await Promise.all(open.map(({ body }) => body?.cancel()));
  });

  test.each(["Replica", "Installation"] as const)(
    "b128: let no more calls begin than a limit of tokens has room for what they may use, of each %s",
    async (scope) => {
      // What a call may use: its body, and what an answer without a bound is expected to have.
      const reserved = JSON.stringify({ model: "m", stream: true }).length + 1_024;
      const limits = { rate: null, concurrent: null, tokens: { tokensPerMinute: 10 * reserved, scope } };
      const team = await teamOf(limits);
      const replicas = scope === "Replica" ? 2 : 1;
      const begun: Response[] = [];
      const since = performance.now();
      await until("all know the keys, and the limit has no room", async () => {
        const asked = [server.url, other.url].flatMap((url) =>
          [...team.keys, ...team.keys].map((key) => ({ url, key })),
        );
        const answers = await Promise.all(asked.map(({ key, url }) => beginStream(key, team.publicId, url)));
        begun.push(...answers.filter(({ status }) => status === 200));
        return answers.every(({ status }) => status === 429);
      });
      const minutes = (performance.now() - since) / 60_000;
      expect(begun.length).toBeGreaterThanOrEqual(10 * replicas);
      expect(begun.length).toBeLessThanOrEqual(10 * replicas * (1 + minutes));
      await Promise.all(begun.map(({ body }) => body?.cancel()));
    },
  );

  test("b129: use no more tokens together than the budget of a team, and nearly all of it", async () => {
    const budget = { tokens: 2_000, period: "Total", timeZone: "UTC", onExhausted: "Refuse" } as const;
    const team = await teamOf({ rate: null, concurrent: null, budgets: [budget] }, ["gateway:embed"]);
    // It may use 100, and uses 8.
    const body = JSON.stringify({ input: "x".repeat(100 - JSON.stringify({ input: "" }).length) });
    const embed = async (url: string, key: string) => {
      const headers = { authorization: `Bearer ${key}`, connection: "close", "content-type": "application/json" };
      const answer = await fetch(`${url}/g/${team.publicId}/v1/embeddings`, { method: "POST", headers, body });
      await answer.text();
      return { status: answer.status, isOver: answer.headers.get("x-should-retry") === "false" };
    };
    let calls = 0;
    await until("all know the keys, and the budget has no room", async () => {
      const asked = [server.url, other.url].flatMap((url) => team.keys.map((key) => ({ url, key })));
      const answers = await Promise.all([...asked, ...asked, ...asked].map(({ url, key }) => embed(url, key)));
      calls += answers.filter(({ status }) => status === 200).length;
      return answers.every(({ status, isOver }) => status === 429 && isOver);
    });
    // No call begins where less than 100 is left.
    expect(calls * 8).toBeGreaterThan(1_900);
    expect(calls * 8).toBeLessThanOrEqual(2_000);
    const { rows } = await sql<{ spent: number; holders: number }>`select sum(spent)::float8 as spent,
      count(*)::int4 as holders from budget_ledger where budget like ${`team ${team.teamId} %`}`.execute(store().db);
    expect(rows).toMatchObject([{ spent: calls * 8, holders: 4 }]);
    // Each part of it is reported once by all threads together, its end since calls are refused with little left.
    const reported = async () =>
      (
        await sql<{ percent: number }>`select (detail->>'percent')::int4 as percent from audit_events
          where team_id = ${team.teamId} and kind = 'team.budget_reached' order by id`.execute(store().db)
      ).rows.map(({ percent }) => percent);
    await until("its end is reported", async () => (await reported()).includes(100));
    expect(await reported()).toEqual([...new Set(await reported())].toSorted((a, b) => a - b));
  });

  /** Three keys of a team of its own, and its gateway: a thread that knows the keys knows the team's limits already. */
  async function teamOf(
    limits: TeamDraft["limits"],
    scopes: readonly Scope[] = ["gateway:routes", "gateway:generate"],
  ): Promise<{ teamId: string; publicId: string; keys: readonly string[] }> {
    const own = await makeTeam(store(), { limits });
    const gateway = await addGateway(own);
    const policy = policyOf({ scopes });
    const keys = await Promise.all([1, 2, 3].map(() => storeKey(store(), own, { policy })));
    return { teamId: own.teamId, publicId: gateway, keys: keys.map(({ plaintext }) => plaintext) };
  }

  test("decide by what was broadcast to them also when a whole page of keys came at once", async () => {
    const policy = policyOf({ scopes: ["gateway:routes"], allowedModels: [unique("model")] });
    const keys = await Promise.all(Array.from({ length: 20 }, () => storeKey(store(), home, { policy })));
    for (const key of keys) {
      await until("both know the key", async () => (await callAll(key.plaintext)).every((status) => status === 200));
    }
  });

  test("b106: know the members of a team, and both refuse one who was removed within the lease", async () => {
    const members = [{ role: "member", kind: "subject", value: "ann" }] as const;
    const team = await makeTeam(store(), { members });
    const token = await sign(issuer, signer, Date.now(), { claims: { aud: RESOURCE, scope: "memory:read" } });
    const headers = { authorization: `Bearer ${token}`, connection: "close" };
    // Of a method that it does not serve the endpoint says so to those alone whom it knows.
    const call = async () => (await fetch(`${server.url}/api/v1/memory/mcp`, { headers })).status;
    const callBoth = () => Promise.all(Array.from({ length: CONNECTIONS }, call));
    await until("both know the member", async () => (await callBoth()).every((status) => status === 405));
    await makeTeam(store(), { ...team, members: [], generation: 2 });
    const removedAt = performance.now();
    const someAccept = async () => (await callBoth()).some((status) => status !== 403);
    expect((await untilNoLonger("one accepts it", someAccept)) - removedAt).toBeLessThan(LEASE_MS);
  });

  test("drain at the end: an answer under way is finished, nothing new is begun, and uses and counts are written", async () => {
    const policy = policyOf({ scopes: ["gateway:routes", "gateway:embed", "memory:read"] });
    const key = await storeKey(store(), home, { policy });
    const library = libraryDraft(home);
    await run(store(), (tx) => saveLibrary(tx, library));
    let accepted = 0;
    await until("both know the key", async () => {
      const answers = await callAll(key.plaintext);
      accepted += answers.filter((status) => status === 200).length;
      return answers.every((status) => status === 200);
    });
    const embed = async () => {
      const headers = { authorization: `Bearer ${key.plaintext}`, connection: "close" };
      await (await fetch(`${server.url}/g/${publicId}/v1/embeddings`, { method: "POST", headers, body: "{}" })).json();
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, embed));
    const headers = { authorization: `Bearer ${key.plaintext}` };
    expect((await fetch(`${server.url}/api/v1/memory/atoms?library=${library.name}`, { headers })).status).toBe(200);
    await server.close();
    await expect(fetch(server.url)).rejects.toThrow();
    const uses = await store().db.selectFrom("key_usage").selectAll().where("key_id", "=", key.keyId).execute();
    expect(uses).toHaveLength(1);
    const counts = await readRequestCounts(store().db, key.keyId, 0);
    expect(new Set(counts.map(({ scope }) => scope))).toEqual(
      new Set(["gateway:routes", "gateway:embed", "memory:read"]),
    );
    expect(counts.reduce((sum, { count }) => sum + count, 0)).toBe(accepted + CONNECTIONS + 1);
    const { used } = await librariesOfKey(store().db, key.keyId);
    expect(used.map((one) => one.library?.name)).toEqual([library.name]);
    const figures = { calls: CONNECTIONS, input: 8 * CONNECTIONS };
    const usage = {
      from: 0,
      to: Date.now() + 3_600_000,
      by: "model",
      step: "total",
      bySlots: true,
      limit: 10,
    } as const;
    const counted = await readUsage(store().db, { ...usage, keyIds: [key.keyId] });
    expect(counted).toMatchObject([{ group: "small", figures }]);
  });
});

test("c38: a worker stops deciding when the main thread, stalled, renews the lease no more", () => {
  const clock = testClock();
  const cells = sharedCells();
  const kept = Lease.begin(clock, cells.lease);
  const read = Lease.read(clock, sharedCells(cells.buffer).lease);
  expect(read.holds()).toBe(false);
  kept.renew(kept.moment(), LEASE_MS);
  kept.setDatabaseTime(kept.moment(), 5_000);
  clock.advance(LEASE_MS - 1);
  expect([read.holds(), read.now()]).toEqual([true, 5_000 + LEASE_MS - 1]);
  clock.advance(1);
  expect(read.holds()).toBe(false);
  kept.renew(kept.moment(), LEASE_MS);
  expect(read.holds()).toBe(true);
  kept.end();
  expect(read.holds()).toBe(false);

  kept.renew(kept.moment(), LEASE_RANGE_MS.most);
  clock.advance(LEASE_RANGE_MS.most - 1);
  expect([read.holds(), read.remaining()]).toEqual([true, 1]);
  clock.advance(1);
  expect(read.holds()).toBe(false);
  kept.renew(kept.moment(), LEASE_MS);
  const cut = new Float64Array(cells.lease.subarray(0, -1));
  expect(Lease.read(clock, cut).holds(), "of a length that cannot be read").toBe(false);
});
