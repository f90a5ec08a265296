import { createHash, randomBytes } from "node:crypto";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { API_CLUSTER } from "../../../../../domain/api-cluster.ts";
import { holdMadeKey } from "../../../../../domain/key/policies/made-key.ts";
import { rulesInForce } from "../../../../../domain/key/policies/rules-in-force.ts";
import { keyPrefix, mintKey } from "../../../../../domain/key/secret/key-format.ts";
import type { PlatformKeyPolicySpec } from "../../../../../domain/kinds/generated/platform-key-policy.ts";
import type { Store } from "../../../../../store/database/store.ts";
import { saveGateway } from "../../../../../store/gateways/gateways.ts";
import { lockKey } from "../../../../../store/keys/rows/api-managed-keys.ts";
import {
  policiesOfTeam,
  removePolicies,
  savePolicy,
  saveUnreadablePolicies,
} from "../../../../../store/policies/key-policies.ts";
import { describeNightlyOnEachEngine } from "../../../../env/database/engines.ts";
import { gatewayDraft, makeTeam, run, unique } from "../../../../store/fixtures.ts";
import { keyring } from "../../../key-index/replica-fixtures.ts";
import { type Api, startApi } from "../../api.ts";

const CLUSTER = "c1";
const SINCE = "2026-11-01T00:00:00Z";

type Rules = Partial<PlatformKeyPolicySpec>;

/** Has a cluster's only policy ask this of its teams, of old. */
async function declare(store: Store, rules: Rules, { cluster = CLUSTER, teams = [] as string[] } = {}): Promise<void> {
  const spec = { teamSelector: {}, gracePeriod: "1h", ...rules };
  await run(store, (tx) =>
    savePolicy(tx, {
      ...{ cluster, uid: "policy-uid", name: "production", spec, rules: rulesInForce(spec, [], SINCE) },
      teams: teams.map((name) => ({ name, since: SINCE })),
    }),
  );
}

const HOUR = 3_600_000;

describeNightlyOnEachEngine("b131: a key that the management API makes for a team with a policy", (store) => {
  let api: Api;
  let team: Awaited<ReturnType<typeof makeTeam>>;
  beforeAll(async () => {
    api = await startApi(store());
  });
  beforeEach(async () => {
    await run(store(), (tx) => removePolicies(tx, CLUSTER, ["policy-uid", "unreadable"]));
    team = await makeTeam(store(), { cluster: CLUSTER });
  });
  afterAll(() => api.close());

  const make = (spec: object, more: object = {}) =>
    api.send("POST", "/keys", { name: unique("made"), team: team.name, spec, ...more });
  const change = async (id: string, spec: object) => {
    const { headers } = await api.send("GET", `/keys/${id}`);
    return api.send("PUT", `/keys/${id}`, { spec }, { "if-match": headers.get("etag") ?? "" });
  };
  const ask = (rules: Rules) => declare(store(), rules, { teams: [team.name] });
  const lifeOf = ({ mintedAt, expiresAt }: { mintedAt: string; expiresAt: string }) =>
    Date.parse(expiresAt) - Date.parse(mintedAt);

  test("is refused where it breaks it, by the policy's name, the rule and what would do", async () => {
    await ask({ allowedScopes: ["memory:read"], expiry: { required: true } });
    const { status, body } = await make({ scopes: ["memory:read", "memory:write"] });
    expect([status, body.code]).toEqual([422, "invalid"]);
    expect(body.errors).toEqual([
      {
        path: "spec.expiresAfter",
        message:
          "a key must have an end: write expiresAfter or expiresAt (PlatformKeyPolicy production, expiry.required)",
        ...{ policy: "production", rule: "expiry.required" },
      },
      {
        path: "spec.scopes",
        message:
          "memory:write may not be given: write none but memory:read (PlatformKeyPolicy production, allowedScopes)",
        ...{ policy: "production", rule: "allowedScopes" },
      },
    ]);
    expect((await make({ preset: "MCPReadOnly", expiresAfter: "1h" })).status).toBe(201);
  });

  test("is refused by every rule, whether its secret is minted or brought along", async () => {
    const plaintext = mintKey(randomBytes);
    const sha256 = createHash("sha256").update(plaintext).digest("hex");
    const source = { hash: { sha256, prefix: keyPrefix(plaintext) } };
    const cases: [Rules, object][] = [
      [{ expiry: { max: "1h" } }, { preset: "MCPReadOnly", expiresAfter: "2h" }],
      [{ expiry: { max: "1h" } }, { preset: "MCPReadOnly", expiresAt: "2999-01-01T00:00:00Z" }],
      [{ rotation: { maxInterval: "1h" } }, { preset: "MCPReadOnly" }],
      [{ allowedPresets: ["MCPReadOnly"] }, { preset: "MCPReadWrite" }],
      [{ allowedModels: ["a"] }, { preset: "GatewayDefault" }],
      [{ allowedGateways: [{ namespace: "a", name: "b" }] }, { preset: "GatewayDefault" }],
      [{ allowedCIDRs: ["192.0.2.0/24"] }, { preset: "MCPReadOnly", allowedCIDRs: ["198.51.100.0/24"] }],
      [
        { rateLimit: { requestsPerMinute: { max: 5 } } },
        { preset: "MCPReadOnly", rateLimit: { requestsPerMinute: 6 } },
      ],
      [{ rateLimit: { concurrent: { max: 5 } } }, { preset: "MCPReadOnly" }],
    ];
    for (const [rules, spec] of cases) {
      await ask(rules);
      expect([rules, (await make(spec)).body.errors?.length]).toEqual([rules, 1]);
      expect([rules, (await make(spec, { source })).body.errors?.length]).toEqual([rules, 1]);
    }
  });

  test("has its defaults as effective values, and its spec as it was asked for", async () => {
    await ask({ expiry: { default: "20h", max: "30h" }, rateLimit: { requestsPerMinute: { default: 1 } } });
    const { body } = await make({ preset: "MCPReadOnly" });
    expect(body.spec).not.toHaveProperty("expiresAfter");
    expect(lifeOf(body.versions[0])).toBe(20 * HOUR);
    expect([await api.tryKey(body.secret), await api.tryKey(body.secret)]).toEqual([200, 429]);
    const next = await api.send("POST", `/keys/${body.id}/versions`, {});
    expect(lifeOf(next.body.versions[0])).toBe(20 * HOUR);
  });

  test("b148: has its policy's budget and tokens a minute, whatever becomes of it, and none that are larger", async () => {
    await ask({
      rateLimit: { tokensPerMinute: { default: 500 } },
      budgets: [{ tokens: 1_000, period: "Month", timeZone: "UTC" }],
    });
    const budgetsOf = async (id: string) =>
      (await api.send("GET", `/keys/${id}/budgets`)).body.items.map(({ limit }: { limit: number }) => limit);
    const { id, spec } = (await make({ scopes: ["gateway:generate"] })).body;
    expect(await budgetsOf(id)).toEqual([1_000]);
    expect(spec).not.toHaveProperty("budgets");
    const budgets = (tokens: number, onExhausted = "Refuse") => [{ tokens, period: "Month", onExhausted }];
    const asked = { ...spec, budgets: budgets(10) };
    expect((await change(id, asked)).status).toBe(200);
    expect(await budgetsOf(id)).toEqual([10]);
    const refusedBy = async (tokens: number) =>
      (await change(id, { ...spec, budgets: budgets(tokens) })).body.errors?.map(({ rule }: { rule: string }) => rule);
    expect(await refusedBy(1_001)).toEqual(["budgets"]);
    expect((await change(id, { ...spec, budgets: budgets(10, "Alert") })).status).toBe(200);
    expect(await budgetsOf(id)).toEqual([1_000]);
    const { policy } = await run(store(), (tx) => lockKey(tx, id)).then((key) => key ?? { policy: null });
    expect(policy?.tokenLimit).toEqual({ tokensPerMinute: 500, scope: "Replica" });
  });

  test("cannot be widened, nor live longer, once it is made", async () => {
    await ask({ allowedScopes: ["memory:read"], expiry: { max: "2h" }, rateLimit: { concurrent: { max: 5 } } });
    const spec = { scopes: ["memory:read"], expiresAfter: "1h", rateLimit: { concurrent: 5 } };
    const { id } = (await make(spec)).body;
    const rulesOf = async (more: object) =>
      (await change(id, { ...spec, ...more })).body.errors?.map(({ rule }: { rule: string }) => rule);
    expect(await rulesOf({ scopes: ["memory:read", "memory:write"] })).toEqual(["allowedScopes"]);
    expect(await rulesOf({ scopes: undefined, preset: "MCPReadWrite" })).toEqual(["allowedScopes"]);
    expect(await rulesOf({ expiresAfter: undefined })).toEqual(["expiry.max"]);
    expect(await rulesOf({ expiresAfter: "3h" })).toEqual(["expiry.max"]);
    expect(await rulesOf({ expiresAfter: undefined, expiresAt: "2999-01-01T00:00:00Z" })).toEqual(["expiry.max"]);
    expect(await rulesOf({ rateLimit: undefined })).toEqual(["rateLimit.concurrent.max"]);
    expect(await rulesOf({ displayName: "Another name" })).toBeUndefined();
  });

  test("goes on for the grace period, may be narrowed and suspended, and has no version that lives longer", async () => {
    const spec = { scopes: ["memory:read", "memory:write"], rateLimit: { requestsPerMinute: 50 } };
    const { id } = (await make(spec)).body;
    const now = new Date().toISOString();
    const rules = {
      allowedScopes: ["memory:read" as const],
      expiry: { max: "3h" },
      rateLimit: { requestsPerMinute: { max: 5 } },
    };
    const asked = { teamSelector: {}, gracePeriod: "2h", ...rules };
    await run(store(), (tx) =>
      savePolicy(tx, {
        ...{ cluster: CLUSTER, uid: "policy-uid", name: "production", spec: asked },
        ...{ rules: rulesInForce(asked, [], now), teams: [{ name: team.name, since: now }] },
      }),
    );
    const named = await change(id, { ...spec, displayName: "As it was" });
    expect(named.status).toBe(200);
    expect(Date.parse(named.body.expiresAt) - Date.parse(now)).toBe(2 * HOUR);
    expect((await change(id, { ...spec, rateLimit: { requestsPerMinute: 60 } })).status).toBe(422);
    expect((await change(id, { ...spec, rateLimit: { requestsPerMinute: 40 } })).status).toBe(200);
    expect((await change(id, { ...spec, state: "Suspended" })).status).toBe(422);
    const { body } = await change(id, { ...spec, rateLimit: { requestsPerMinute: 40 }, state: "Suspended" });
    expect(body.state).toBe("suspended");
    const next = await api.send("POST", `/keys/${id}/versions`, {});
    expect(lifeOf(next.body.versions[0])).toBe(3 * HOUR);
    const kept = await change(id, { scopes: ["memory:read"], rateLimit: { requestsPerMinute: 5 }, expiresAfter: "3h" });
    expect(kept.status).toBe(200);
    expect(Date.parse(kept.body.expiresAt) - Date.parse(kept.body.versions[0].mintedAt)).toBe(3 * HOUR);
  });

  test("has a place among those that the team may have, also of several that are made at once", async () => {
    await ask({ maxKeys: 2 });
    const answers = await Promise.all([1, 2, 3, 4].map(() => make({ preset: "MCPReadOnly" })));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, 422, 422]);
    const refused = answers.find(({ status }) => status === 422);
    expect(refused?.body.errors).toMatchObject([{ path: "name", rule: "maxKeys", policy: "production" }]);
    const { id } = answers.find(({ status }) => status === 201)?.body ?? {};
    await api.send("POST", `/keys/${id}/revoke`, {});
    expect((await make({ preset: "MCPReadOnly" })).status).toBe(201);
  });

  test("is not made, nor changed, while a policy cannot be read, and may be suspended and rotated", async () => {
    const spec = { preset: "MCPReadOnly", expiresAfter: "1h" };
    const { id } = (await make(spec)).body;
    await run(store(), (tx) => saveUnreadablePolicies(tx, CLUSTER, ["unreadable"]));
    const { status, body } = await make(spec);
    expect([status, body.code]).toEqual([409, "conflict"]);
    expect(body.detail).toContain("uid unreadable");
    expect((await change(id, { ...spec, displayName: "Another" })).status).toBe(409);
    expect((await change(id, { ...spec, state: "Suspended" })).status).toBe(200);
    expect((await change(id, spec)).status).toBe(409);
    const next = await api.send("POST", `/keys/${id}/versions`, {});
    expect([next.status, lifeOf(next.body.versions[0])]).toEqual([201, HOUR]);
  });

  test("is none of a policy with a rule that this version does not know", async () => {
    await ask({ maxKeys: 100, newRule: 1 } as Rules);
    expect((await make({ preset: "MCPReadOnly" })).status).toBe(409);
  });

  test("is held by its team's labels, and not by another cluster's policies", async () => {
    const teamSelector = { matchExpressions: [{ key: "tier", operator: "In" as const, values: ["strict"] }] };
    await declare(store(), { teamSelector, allowedScopes: ["memory:read"] });
    expect((await make({ preset: "MCPReadWrite" })).status).toBe(201);
    team = await makeTeam(store(), { cluster: CLUSTER, labels: { tier: "strict" } });
    expect((await make({ preset: "MCPReadWrite" })).status).toBe(422);
    team = await makeTeam(store(), { cluster: "c2", labels: { tier: "strict" } });
    expect((await make({ preset: "MCPReadWrite" })).status).toBe(201);
  });

  test("is held by every cluster's policies where no cluster declares its team", async () => {
    await declare(store(), { allowedScopes: ["memory:read"] });
    const name = unique("made-here");
    await api.send("POST", "/teams", { name, spec: { members: [] } });
    expect((await make({ preset: "MCPReadWrite" }, { team: name })).status).toBe(422);
    expect((await make({ preset: "MCPReadOnly" }, { team: name })).status).toBe(201);
  });

  test("is held no more by the policies of a cluster that is gone once they are forgotten, and the audit log says by whom", async () => {
    team = await makeTeam(store(), { cluster: API_CLUSTER });
    const gone = unique("gone");
    await declare(store(), { allowedScopes: ["memory:read"] }, { cluster: gone });
    const wide = { scopes: ["memory:read", "memory:write"] };
    expect((await make(wide)).status).toBe(422);
    const forget = (cluster: string) => api.send("POST", "/forgotten-policies", { cluster, reason: "deleted" });
    const unknown = await forget(unique("none"));
    expect([unknown.status, unknown.body.detail]).toEqual([404, expect.stringContaining(gone)]);
    const { status, body } = await forget(gone);
    expect([status, body]).toEqual([200, { forgotten: ["production"] }]);
    expect((await make(wide)).status).toBe(201);
    expect((await forget(gone)).status).toBe(404);
    const events = await store()
      .db.selectFrom("audit_events")
      .select(["actor", "detail"])
      .where("kind", "=", "policies.forgotten")
      .execute();
    const detail = { cluster: gone, policies: ["production"], why: "deleted" };
    expect(events).toEqual([{ actor: expect.any(String), detail: expect.objectContaining(detail) }]);
  });

  test("has the deadline of each of two policies of one name, of two clusters, where no cluster declares its team", async () => {
    team = await makeTeam(store(), { cluster: API_CLUSTER });
    const { id } = (await make({ scopes: ["memory:read", "memory:write"] })).body;
    await declare(store(), { maxKeys: 1000 });
    await declare(store(), { allowedScopes: ["memory:read"] }, { cluster: "c2" });
    const ends = await run(store(), async (tx) => {
      const key = await lockKey(tx, id);
      if (!key?.spec) throw new Error("The key has no spec.");
      const held = await policiesOfTeam(tx, key.teamId);
      const facts = { now: Date.now(), keysBefore: 0 };
      return holdMadeKey({ spec: key.spec, gateway: null }, key, held, facts).policy.expiresAt;
    });
    await run(store(), (tx) => removePolicies(tx, "c2", ["policy-uid"]));
    expect(ends).not.toBeNull();
  });

  test("is bound to a gateway that is allowed by that gateway's own namespace, and not by one of its name made by hand", async () => {
    const gateway = gatewayDraft(team, { name: "models" });
    await run(store(), (tx) => saveGateway(tx, gateway, keyring));
    await ask({ allowedGateways: [{ namespace: team.namespace, name: "models" }] });
    const spec = { preset: "GatewayDefault", gatewayRef: { name: "models" } };
    expect((await make(spec)).status).toBe(201);
    const namesake = await makeTeam(store(), { cluster: API_CLUSTER, namespaces: [team.namespace] });
    const place = { ...namesake, namespace: team.namespace };
    await run(store(), (tx) =>
      saveGateway(tx, { ...gatewayDraft(place, { name: "models" }), cluster: API_CLUSTER }, keyring),
    );
    expect((await make(spec, { team: namesake.name })).body.errors).toMatchObject([{ rule: "allowedGateways" }]);
  });
});
