/** What a collector of traces learns of a member who signs in to the memory (docs/decisions/telemetry.md). */
import { afterAll, beforeAll, expect, test } from "vitest";
import { mcpRoutes } from "../../../memory/mcp/routes.ts";
import { openTracing } from "../../../server/telemetry/tracing.ts";
import type { Store } from "../../../store/database/store.ts";
import { until } from "../../env/until.ts";
import { type Harness, startHarness } from "../../server/harness.ts";
import { type Issuer, makeSigner, type Signer, sign, startIssuer } from "../../server/management/issuer.ts";
import { startCollector } from "../../server/telemetry/collector.ts";
import { openMemoryStore } from "../memory-store.ts";

const PATH = "/api/v1/memory/mcp";
const PERSON = "ann@example.com";

let store: Store;
let issuer: Issuer;
let signer: Signer;
let server: Harness;
let collector: Awaited<ReturnType<typeof startCollector>>;
let closeTracing: () => Promise<void>;
beforeAll(async () => {
  store = await openMemoryStore();
  issuer = await startIssuer();
  signer = await makeSigner("first");
  issuer.keys = [signer.jwk];
  collector = await startCollector();
  const silent = () => {};
  const { tracing, close } = openTracing({
    otlp: { endpoint: collector.url, ratio: 1 },
    log: { debug: silent, info: silent, warn: silent, error: silent },
    count: silent,
    replica: "replica-1",
  });
  closeTracing = close;
  server = await startHarness({
    mounts: [{ at: "", routes: mcpRoutes }],
    store,
    tracing,
    config: {
      publicUrl: new URL("https://keys.example.com"),
      oidc: { issuers: [issuer.url], audience: "keyplane", adminGroups: [] },
    },
  });
  server.index.applyTeam({
    ...{ teamId: "team-a", name: "a", cluster: "c", defaultLibraryId: null, allowedCIDRs: null, limits: null },
    ...{ members: [{ role: "member", name: `subject ${PERSON}`, libraryIds: null }], revoked: [] },
  });
});
afterAll(async () => {
  await server.close();
  await closeTracing();
  await collector.close();
  issuer.close();
  await store.close();
});

test("b147: a span names no member: who they are is not for those who run the collector", async () => {
  const token = await sign(issuer, signer, server.clock.now(), {
    claims: {
      ...{ sub: PERSON, aud: `https://keys.example.com${PATH}`, scope: "memory:read" },
      exp: Date.UTC(2100, 0) / 1_000,
    },
  });
  const answer = await fetch(server.url + PATH, {
    method: "POST",
    headers: {
      ...{ accept: "application/json, text/event-stream", "content-type": "application/json" },
      ...{ authorization: `Bearer ${token}` },
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" }),
  });
  await answer.text();
  expect(answer.status).toBe(200);
  await until("there is a span", () => collector.spans().length > 0);
  const [span] = collector.spans();
  expect(span?.attributes["keyplane.team.id"]).toBe("team-a");
  expect(JSON.stringify(span)).not.toContain(PERSON);
  expect(span?.attributes).not.toHaveProperty("keyplane.key.id");
});
