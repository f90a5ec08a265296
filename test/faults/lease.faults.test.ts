/** Servers that are started with another lease, one after the other, while keys are revoked. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, it, type TestContext } from "vitest";
import { LEASE_RANGE_MS } from "../../domain/protocol.ts";
import { itByNight } from "../env/night-test.ts";
import { NIGHTLY } from "../env/nightly.ts";
import { type Serving, startServing } from "../env/serving.ts";
import { until } from "../env/until.ts";
import { databaseBehindProxy, serverEnvironment } from "./feed-fixtures.ts";
import { startRevocations } from "./upgrade-traffic.ts";

/** Of the servers at first, and of those that take their places one after the other: by day of one, nightly of three. */
const FIRST_LEASES = NIGHTLY ? ["5s", "5s", "5s"] : ["5s"];
const LATER_LEASES = NIGHTLY ? ["60s", "60s", "3s", "5s"] : ["60s", "5s"];
/** How long each set of servers is looked at. Milliseconds. */
const STAYS_MS = 1_500;
/** A failover that the longest lease outlasts, and the usual one does not. Milliseconds. */
const FAILOVER_MS = 20_000;

async function startServers(context: TestContext) {
  const folder = await mkdtemp(join(tmpdir(), "keyplane-lease-"));
  context.onTestFinished(() => rm(folder, { recursive: true }));
  const { url, proxy } = await databaseBehindProxy(context);
  const { token, env } = await serverEnvironment(folder, url);
  const servers: Serving[] = [];
  context.onTestFinished(() => servers.forEach(({ child }) => void child.kill("SIGKILL")));
  const start = async (lease: string) => {
    servers.push(await startServing(["server", "--port", "0", "--admin-port", "0", "--lease", lease], env));
  };
  const manage = async (method: string, path: string, body?: object) => {
    const answer = await fetch(`${servers[0]?.url}/api/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      ...(body && { body: JSON.stringify(body) }),
    });
    expect(answer.ok, `${method} ${path}: ${answer.status}`).toBe(true);
    return (await answer.json()) as { id: string; secret: string; revocation: { confirmed: boolean } | null };
  };
  return {
    token,
    proxy,
    manage,
    start,
    get urls() {
      return servers.map(({ url }) => url);
    },
    /** Takes the first out of the endpoints, and ends it in order or by a signal that it does not see. */
    async end(signal?: "SIGKILL") {
      const server = servers.shift();
      await delay(100);
      if (signal === undefined) await server?.stop();
      else server?.child.kill(signal);
    },
  };
}

describe("servers with leases of their own", () => {
  it("let no key in after its receipt, while one after the other is started with 60 s and with 5 s again", async (context) => {
    const world = await startServers(context);
    for (const lease of FIRST_LEASES) await world.start(lease);
    const team = await world.manage("POST", "/teams", { name: "probes", spec: {} });
    const revocations = startRevocations(world, world.token, team.id);
    for (const lease of LATER_LEASES) {
      await world.start(lease);
      await delay(STAYS_MS);
      await world.end();
    }
    await revocations.stop();
    expect(revocations.wrong).toEqual([]);
    expect(revocations.good).toBeGreaterThan(4);
  });

  itByNight(
    "c64: outlast a failover of 20 s when they are a minute old, and confirm nothing for a minute after one has died",
    async (context) => {
      const world = await startServers(context);
      for (const lease of ["60s", "60s"]) await world.start(lease);
      const team = await world.manage("POST", "/teams", { name: "probes", spec: {} });
      const key = { team: team.id, spec: { scopes: ["memory:read", "gateway:routes"] } };
      const [kept, revoked] = [
        await world.manage("POST", "/keys", { name: "kept", ...key }),
        await world.manage("POST", "/keys", { name: "revoked", ...key }),
      ];
      const whoami = async (url: string, secret: string) =>
        (await fetch(`${url}/api/v1/whoami`, { headers: { authorization: `Bearer ${secret}` } })).status;
      await delay(LEASE_RANGE_MS.most + 1_000);
      world.proxy.freeze();
      const frozenAt = performance.now();
      while (performance.now() - frozenAt < FAILOVER_MS) {
        for (const url of world.urls) expect(await whoami(url, kept.secret)).toBe(200);
        await delay(200);
      }
      world.proxy.thaw();
      await until("the database answers", async () =>
        world.manage("GET", "/teams").then(
          () => true,
          () => false,
        ),
      );
      await world.end("SIGKILL");
      const revokedAt = performance.now();
      await world.manage("POST", `/keys/${revoked.id}/revoke`, {});
      const isConfirmed = async () => (await world.manage("GET", `/keys/${revoked.id}`)).revocation?.confirmed === true;
      await until("the revocation is confirmed", isConfirmed, { timeoutMs: 120_000 });
      expect(performance.now() - revokedAt).toBeGreaterThan(LEASE_RANGE_MS.most - 15_000);
    },
  );
});
