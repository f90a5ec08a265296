/** An installation as it is after some months: what people look at who judge how the console looks. */
import { sql } from "kysely";
import { expect } from "vitest";
import { REASONS, type ReportedCondition } from "../../../domain/conditions.ts";
import type { Spec } from "../../../domain/kinds/kinds.ts";
import { NO_FIGURES } from "../../../domain/usage/token-count.ts";
import { writeLedger } from "../../../store/budgets/budget-ledger.ts";
import { recordBudgetNotice } from "../../../store/budgets/budget-notices.ts";
import { change, takeLeadership } from "../../../store/database/change.ts";
import { recordOutcomes } from "../../../store/gateways/upstream-outcomes.ts";
import { activateVersion } from "../../../store/keys/lifecycle/key-versions.ts";
import { recordKeyDeclaration } from "../../../store/keys/rows/key-declarations.ts";
import { addRequestCounts } from "../../../store/keys/uses/request-counts.ts";
import { addTokenCounts } from "../../../store/keys/uses/token-counts.ts";
import { recordUsage } from "../../../store/keys/uses/usage.ts";
import { recordClusterName } from "../../../store/objects/cluster-names.ts";
import { recordConditions, recordKeyConditions } from "../../../store/objects/object-conditions.ts";
import { registerReplica } from "../../../store/replicas/replicas.ts";
import { HOUR, makeTeam, policyOf, reserveKey, run } from "../../store/fixtures.ts";
import type { Pages } from "./pages.ts";

const SLOT = 300_000;
/** More than a page of the list has. */
const KEYS = 64;
const JOBS = [
  "checkout-assistant",
  "nightly-reports",
  "support-triage",
  "invoice-reader",
  "search-index",
  "churn-model",
];
const PLACES = ["prod-eu", "prod-us", "staging", "dev"];
const MODELS = ["gpt-5.1-mini-2026-08-07", "claude-sonnet-4-5-20250929"];
const MEMBERS = [
  { role: "admin", subject: "ada.lovelace@example.com" },
  { role: "member", group: "payments-developers" },
  { role: "viewer", serviceAccount: { namespace: "monitoring", name: "prometheus" } },
];
const WEBHOOK = {
  url: "https://hooks.example.com/keyplane/keys",
  events: ["key.revoked", "key.rotated"],
  secret: `whsec_${Buffer.alloc(32, 1).toString("base64")}`,
};

const SINCE = { lastTransitionTime: "2026-11-01T08:30:00Z" };
const CONDITIONS: readonly ReportedCondition[] = [
  { type: "Ready", status: "True", reason: "Ready", message: "Version 1 is delivered and enforced.", ...SINCE },
  { type: "ResolvedRefs", status: "True", reason: "Resolved", message: "Everything exists.", ...SINCE },
  { type: "Rotating", status: "False", reason: "NotRotating", message: "One version works.", ...SINCE },
];
const TAKEN: ReportedCondition = {
  ...{ type: "Ready", status: "False", reason: "NamespaceTaken", ...SINCE },
  message: `payments-prod is held by PlatformTeam payments. ${REASONS.NamespaceTaken}`,
};

/** The paths of its pages below the console's own that show most, by their names. */
export type FilledPaths = Readonly<Record<"everything" | "declared" | "gateway" | "team" | "model", string>>;

export async function fillInstallation(pages: Pages): Promise<FilledPaths> {
  const send = async (...asked: Parameters<Pages["send"]>) => {
    const answer = await pages.send(...asked);
    expect(answer.status, answer.text).toBeLessThan(300);
    return answer.body;
  };
  const budgets = [
    { cost: "2000", currency: "EUR", period: "Month" },
    { tokens: 40_000_000, period: "Total", onExhausted: "Alert" },
  ];
  const rateLimit = { requestsPerMinute: 6_000, tokensPerMinute: 400_000, scope: "Installation", concurrent: 64 };
  const spec = { displayName: "Payments", members: MEMBERS, budgets, rateLimit, webhooks: [WEBHOOK] };
  const team = await send("POST", "/teams", { name: "payments", spec });
  await send("POST", "/teams", { name: "research", spec: { members: [] } });
  for (const name of ["handbook", "incidents", "decisions"])
    await send("POST", "/libraries", { name, team: "payments", spec: { displayName: name } });
  const gateway = await makeGateway(pages, send);
  const keys = await makeKeys(send);
  const everything = await makeKeyWithEverything(pages, send);
  const declared = await makeDeclaredKey(pages);
  await countUsage(pages, { teamId: team.id, gatewayId: gateway.id }, [everything, declared, ...keys.slice(0, 7)]);
  await breakThings(pages, team.id, everything);
  return {
    ...{ everything: `/keys/${everything}`, declared: `/keys/${declared}` },
    ...{ gateway: `/gateways/${gateway.id}`, team: `/team/${team.id}`, model: `/usage?model=${MODELS[0]}` },
  };
}

// biome-ignore lint/suspicious/noExplicitAny: a body is whatever the API says
type Send = (...asked: Parameters<Pages["send"]>) => Promise<any>;

async function makeGateway({ store }: Pages, send: Send): Promise<{ id: string }> {
  const upstreams = ["openai-eu", "anthropic", "spare"].map((name) => ({
    ...{ name, dialect: name === "anthropic" ? "anthropic" : "openai", credential: "sk-credential" },
    baseURL: `https://${name}.models.example/v1`,
  }));
  const fallbacks = [{ upstream: "spare", upstreamModel: "gpt-5-mini" }];
  const routes = MODELS.map((model, i) => ({
    ...{ model, routeID: model, upstream: upstreams[i]?.name, upstreamModel: model },
    ...(i === 0 ? { fallbacks, rateLimit: { requestsPerMinute: 600 } } : {}),
  }));
  const routed = { upstreams, routes, publicID: "payments-models" };
  const { id } = await send("POST", "/gateways", { name: "models", team: "payments", spec: routed });
  const heard = { gatewayId: id, answeredAt: Date.now() - 60_000, status: 200, failedAt: null, failure: null };
  await recordOutcomes(store.db, [
    { ...heard, upstream: "openai-eu", acceptedAt: Date.now() - 60_000, refusedAt: null },
    { ...heard, upstream: "anthropic", status: 401, acceptedAt: null, refusedAt: Date.now() },
    {
      ...{ ...heard, upstream: "spare", acceptedAt: null, refusedAt: null },
      ...{ failedAt: Date.now(), failure: "The upstream cannot be reached." },
    },
  ]);
  return { id };
}

async function makeKeys(send: Send): Promise<string[]> {
  const presets = ["MCPReadOnly", "GatewayDefault", "MCPReadWrite"];
  const ids: string[] = [];
  for (let i = 0; i < KEYS; i++) {
    const job = JOBS[i % JOBS.length];
    const name = `${job}-${PLACES[i % PLACES.length]}-${i}`;
    const spec = {
      ...{ preset: presets[i % presets.length], ...(i % 4 === 0 && { displayName: "Checkout assistant" }) },
      ...(i % 5 === 0 && { expiresAfter: `${720 * (1 + (i % 3))}h` }),
      ...(i % 9 === 4 && { state: "Suspended" }),
    };
    const { id } = await send("POST", "/keys", { name, team: i % 3 === 0 ? "research" : "payments", spec });
    ids.push(id);
    if (i % 8 === 7) await send("POST", `/keys/${id}/revoke`, { reason: "replaced" });
  }
  return ids;
}

/** Everything that may be seen of one key at once. */
async function makeKeyWithEverything({ store, tryKey }: Pages, send: Send): Promise<string> {
  const spec = {
    ...{ preset: "GatewayDefault", displayName: "Checkout assistant, production", gatewayRef: { name: "models" } },
    ...{ allowedModels: MODELS, allowedCIDRs: ["203.0.113.0/24", "2001:db8::/32"], expiresAfter: "2160h" },
    libraryAccess: { mode: "Restricted", libraryRefs: [{ name: "handbook" }, { name: "decisions" }] },
    mcpDefaultLibraryRef: { name: "handbook" },
    rateLimit: { requestsPerMinute: 600, burst: 40, tokensPerMinute: 90_000, scope: "Installation", concurrent: 16 },
    budgets: [
      { tokens: 50_000_000, period: "Month" },
      { cost: "75.50", currency: "EUR", period: "Week", onExhausted: "Alert" },
    ],
  };
  const wanted = { name: "checkout-assistant", team: "payments", spec };
  const { id, secret: first } = await send("POST", "/keys", wanted);
  await send("POST", `/keys/${id}/versions`, { overlap: "72h" });
  const { secret } = await send("POST", `/keys/${id}/versions`, { overlap: "168h" });
  const at = Date.now() - 120_000;
  await recordUsage(store, [
    { keyId: id, version: 1, at: at - HOUR, address: "203.0.113.77", userAgent: "openai-python/2.8.1" },
    { keyId: id, version: 2, at: at - 60_000, address: "203.0.113.12", userAgent: "node-fetch/3.3" },
    { keyId: id, version: 3, at, address: "2001:db8::7", userAgent: "keyplane-sdk/0.1" },
  ]);
  await send("POST", "/leaks", { leaks: [{ key: first }] });
  await send("PUT", `/keys/${id}`, { spec: { ...spec, state: "Suspended" } }, { "if-match": "*" });
  for (let i = 0; i < 3; i++) await tryKey(secret);
  return id;
}

async function makeDeclaredKey({ store }: Pages): Promise<string> {
  const cluster = "6d0c5bf2-6f2e-4c7b-9d86-1f6a5f3f0001";
  await recordClusterName(store, await takeLeadership(store, cluster), "production-eu");
  const team = await makeTeam(store, { cluster, name: "platform", namespaces: ["platform-prod"] });
  const { key } = await reserveKey(store, team, { policy: policyOf({ displayName: "Order events" }) });
  await run(store, (tx) => activateVersion(tx, { keyId: key.id, number: 1, overlapMs: 0 }), Date.now());
  const spec: Spec<"PlatformKey"> = {
    ...{ source: { type: "Generate" }, preset: "MCPReadOnly", rotation: { interval: "720h" }, state: "Active" },
    ...{
      secret: {
        name: "order-events",
        dataKey: "api-key",
        creationPolicy: "Owner",
        onLost: "Rotate",
        onTampered: "Rotate",
      },
      restartTargets: [{ kind: "Deployment", name: "order-events" }],
      deletionPolicy: "Retain",
      deletionProtection: true,
    },
  };
  await recordKeyDeclaration(store.db, key.id, { ownerUid: "uid", generation: 1, spec, labels: {} });
  await recordKeyConditions(store.db, key.id, CONDITIONS);
  await recordConditions(store.db, "team", team, [TAKEN, ...CONDITIONS.slice(1)]);
  return key.id;
}

/** A working day, and a month before it. */
async function countUsage(
  { store }: Pages,
  { teamId, gatewayId }: { readonly teamId: string; readonly gatewayId: string },
  keyIds: readonly string[],
): Promise<void> {
  const now = Math.floor(Date.now() / SLOT) * SLOT;
  const slots = [
    ...Array.from({ length: 24 * 12 }, (_, i) => now - i * SLOT),
    ...Array.from({ length: 29 }, (_, i) => now - (i + 1) * 24 * HOUR),
  ];
  const weight = (slot: number, i: number) => Math.max(1, Math.round((60 * (1 + Math.sin(slot / 8e6 + i))) / (i + 1)));
  const scopes = ["gateway:generate", "gateway:embed", "memory:read", "memory:*"];
  const requests = keyIds.flatMap((keyId, i) =>
    slots.flatMap((slot) => scopes.map((scope, j) => ({ keyId, slot, scope, count: weight(slot, i + j) }))),
  );
  await addRequestCounts(store, requests, () => {});
  const tokens = keyIds.flatMap((keyId, i) =>
    slots.flatMap((slot) =>
      MODELS.map((model, j) => {
        const calls = weight(slot, i + j);
        const figures = { calls, input: calls * 900, cached: calls * 400, output: calls * 260, reasoning: calls * 80 };
        const of = { keyId, slot, gatewayId, routeId: "", model, teamId };
        return { ...of, figures: { ...NO_FIGURES, ...figures, cut: i % 2, tool_calls: i } };
      }),
    ),
  );
  await addTokenCounts(store, tokens, () => {});
}

/** What the page of what the installation does now has to say. */
async function breakThings({ store }: Pages, teamId: string, keyId: string): Promise<void> {
  const budget = { budget: `team ${teamId} tokens Total`, period: "total", endsAt: Number.POSITIVE_INFINITY };
  const [most, used] = [40_000_000, 36_500_000];
  await writeLedger(store.db, "one", [{ ...budget, most, spent: used, revision: 1, held: 0, wanted: 0 }]);
  await change(store, null, (tx) => recordBudgetNotice(tx, { ...budget, most, used, percent: 80 }));
  await registerReplica(store, "keyplane-server-7d9c5b6f4-x2x8p");
  await store.db
    .updateTable("replicas")
    .set({ seen_at: new Date(Date.now() - 60_000) })
    .where("id", "=", "keyplane-server-7d9c5b6f4-x2x8p")
    .execute();
  await sql`insert into webhook_deliveries (id, webhook_id, team_id, url, event, key_id, data, state, tries, due_at,
      tried_at, error)
    select 'whd_' || n, 'wh_1', ${teamId}, ${WEBHOOK.url}, 'key.rotated', ${keyId}, '{"name": "checkout-assistant"}',
      'failed', 9, null, now(), 'the connection failed: ECONNREFUSED'
    from generate_series(1, 3) n`.execute(store.db);
}
