import { sql } from "kysely";
import { expect, it } from "vitest";
import { ClusterError } from "../../../controller/cluster/port.ts";
import { until } from "../../env/until.ts";
import { withCalls } from "../fixtures/cluster-calls.ts";
import { describeWorlds } from "../fixtures/setup.ts";
import { HOUR, key, type Manifest, startWorld, team, type World } from "../fixtures/world.ts";

const DAY = 24 * HOUR;

const policy = (spec: Record<string, unknown>): Manifest => ({
  kind: "PlatformKeyPolicy",
  name: "production",
  namespace: "",
  spec: { teamSelector: { matchNames: ["team-a"] }, ...spec },
});

const READ_ONLY = policy({ allowedScopes: ["memory:read"] });
const WRITER = { scopes: ["memory:read", "memory:write"] };

async function messageOf(world: World, name: string, type = "PolicyViolated"): Promise<string | undefined> {
  return (await world.status(name)).conditions.find((condition) => condition.type === type)?.message;
}

describeWorlds("b126: a key whose team has a policy", (setup) => {
  it("is not issued where it breaks it, says why, and is issued once it does not", async (context) => {
    const world = await startWorld(context, setup(), READ_ONLY);
    await world.declare(key("agent", WRITER));
    expect(await world.keyIn("agent")).toBeUndefined();
    expect(world.condition("Ready", "agent")).toBe("False/PolicyViolated");
    expect(world.condition("Stalled", "agent")).toBe("True/PolicyViolated");
    expect(await messageOf(world, "agent")).toContain(
      "spec.scopes: memory:write may not be given: write none but memory:read (PlatformKeyPolicy production).",
    );
    await world.declare(key("agent", { scopes: ["memory:read"] }));
    expect(world.condition("Ready", "agent")).toBe("True/Ready");
    expect(world.condition("PolicyViolated", "agent")).toBeUndefined();
  });

  it("works for the grace period of a tighter one, is refused then, and works again once it meets it", async (context) => {
    const world = await startWorld(context, setup(), key("agent", WRITER));
    const plaintext = await world.plaintextOf("agent");
    await world.declare(READ_ONLY);
    expect(world.condition("Ready", "production", "PlatformKeyPolicy", "")).toBe("True/Ready");
    expect(world.condition("Ready", "agent")).toBe("True/Ready");
    expect(world.condition("PolicyViolated", "agent")).toBe("True/PolicyViolated");
    const { expiresAt = "" } = await world.status("agent");
    expect(await messageOf(world, "agent")).toContain(`The key works until ${expiresAt}`);
    expect(Date.parse(expiresAt) - Date.now()).toBeGreaterThan(6 * DAY);
    expect(world.record(plaintext)?.expiresAt).toBe(Date.parse(expiresAt));

    await world.advance(7 * DAY + HOUR);
    expect(world.condition("Ready", "agent")).toBe("False/PolicyViolated");

    await world.declare(key("agent", { scopes: ["memory:read"] }));
    expect(world.condition("Ready", "agent")).toBe("True/Ready");
    expect(world.record(plaintext)).toMatchObject({ expiresAt: Number.POSITIVE_INFINITY });
  });

  it("keeps its deadline where the rule is loosened, and still not kept", async (context) => {
    const world = await startWorld(context, setup(), key("agent", WRITER));
    await world.declare(READ_ONLY);
    const { expiresAt } = await world.status("agent");
    expect(expiresAt).toBeDefined();
    await world.advance(DAY);
    await world.declare(policy({ allowedScopes: ["gateway:embed", "memory:read"] }));
    expect((await world.status("agent")).expiresAt).toBe(expiresAt);
    await world.declare(policy({ allowedScopes: ["gateway:embed"] }));
    expect((await world.status("agent")).expiresAt).not.toBe(expiresAt);
  });

  it("c132: keeps its deadline where the loosened rule's status is written at a later attempt only", async (context) => {
    let failures = 0;
    const wrap = withCalls((cluster) => ({
      async writeStatus(object, status) {
        if (object.kind === "PlatformKeyPolicy" && failures-- > 0) throw new ClusterError("Unclear", "no answer");
        return cluster.writeStatus(object, status);
      },
    }));
    const world = await startWorld(context, { ...setup(), wrap }, key("agent", WRITER));
    await world.declare(READ_ONLY);
    const { expiresAt } = await world.status("agent");
    expect(expiresAt).toBeDefined();
    await world.advance(DAY);
    failures = 1;
    await world.declare(policy({ allowedScopes: ["gateway:embed", "memory:read"] }));
    expect((await world.status("agent")).expiresAt).toBe(expiresAt);
  });

  it("is rotated, and not cut off, where it is older than a new one lets a version become", async (context) => {
    const world = await startWorld(context, setup(), key("agent"));
    const plaintext = await world.plaintextOf("agent");
    await world.advance(365 * DAY);
    await world.declare(policy({ expiry: { max: "2160h" } }));
    const { expiresAt = "" } = await world.status("agent");
    expect(Date.parse(expiresAt) - Date.now()).toBeGreaterThan(365 * DAY + 6 * DAY);
    expect(await messageOf(world, "agent")).toContain("change rotation.trigger for a new one");

    await world.declare(key("agent", { expiresAfter: "2160h" }));
    expect(world.record(plaintext)?.expiresAt).toBe(Date.parse(expiresAt));

    await world.advance(7 * DAY + HOUR);
    expect(world.condition("Ready", "agent")).toBe("True/Ready");
    const next = await world.plaintextOf("agent");
    expect(next).not.toBe(plaintext);
    const [newest, old] = (await world.stored("agent")).versions;
    expect((newest?.expiresAt ?? 0) - (newest?.mintedAt ?? 0)).toBe(90 * DAY);
    expect([newest?.state, old?.state]).toEqual(["active", "retiring"]);
    expect(world.record(plaintext)).toBeDefined();
  });

  it("is not changed by an edit that breaks it", async (context) => {
    const world = await startWorld(context, setup(), READ_ONLY, key("agent", { scopes: ["memory:read"] }));
    const plaintext = await world.plaintextOf("agent");
    await world.declare(key("agent", WRITER));
    expect(world.condition("Ready", "agent")).toBe("False/PolicyViolated");
    expect((await world.stored("agent")).policy.scopes).toEqual(["memory:read"]);
    expect(world.record(plaintext)?.expiresAt).toBe(Number.POSITIVE_INFINITY);
    await world.declare(key("agent", { ...WRITER, state: "Suspended" }));
    expect((await world.stored("agent")).policy).toMatchObject({ scopes: ["memory:read"], suspended: true });
  });

  it("b160: is not freed by an edit that is not applied of what comes to hold later", async (context) => {
    const world = await startWorld(
      context,
      setup(),
      key("agent", { scopes: ["memory:read"], displayName: "as it was" }),
    );
    const plaintext = await world.plaintextOf("agent");
    const budgets = [{ tokens: 100, period: "Month" }];
    const rules = { budgets, rateLimit: { requestsPerMinute: { default: 60 }, tokensPerMinute: { default: 5 } } };
    await world.declare(policy({ allowedScopes: ["memory:read"], ...rules }));
    expect(await messageOf(world, "agent")).toMatch(
      /^From \S+Z on the key may do what its policies allow, and no more, whatever it declares\. spec\.rateLimit: /,
    );
    await world.declare(key("agent", { ...WRITER, displayName: "another", rateLimit: { requestsPerMinute: 6_000 } }));
    expect((await world.stored("agent")).policy).toMatchObject({ rateLimit: null, tokenLimit: null, budgets: null });
    await world.advance(7 * DAY + HOUR);
    expect((await world.stored("agent")).policy).toMatchObject({
      ...{ displayName: "as it was", scopes: ["memory:read"], expiresAt: null },
      rateLimit: { requestsPerMinute: 60, burst: 60 },
      tokenLimit: { tokensPerMinute: 5 },
      budgets: [{ tokens: 100, period: "Month", onExhausted: "Refuse" }],
    });
    await world.declare(policy({ allowedScopes: ["gateway:embed"], ...rules }));
    const { policy: kept, versions } = await world.stored("agent");
    expect(kept).toMatchObject({ displayName: "as it was", scopes: ["memory:read"] });
    expect(kept.expiresAt).not.toBeNull();
    expect(versions).toHaveLength(1);
    await world.advance(7 * DAY + HOUR);
    expect(world.record(plaintext)?.expiresAt).toBe(kept.expiresAt);
    expect(world.condition("Ready", "agent")).toBe("False/PolicyViolated");
  });

  it("b161: has the budget of the first of two policies that ask for as much, and is written to no second time", async (context) => {
    const budgets = (timeZone: string) => ({ budgets: [{ cost: "1.5", currency: "USD", period: "Month", timeZone }] });
    const world = await startWorld(context, setup(), policy(budgets("Europe/Berlin")));
    await world.declare({ ...policy(budgets("UTC")), name: "another" });
    await world.declare(key("agent"));
    const { id, policy: held } = await world.stored("agent");
    expect(held.budgets).toMatchObject([{ cost: "1.50", timeZone: "UTC" }]);
    const written = sql<{ kind: string }>`select kind from audit_events where key_id = ${id}`;
    const kinds = (await written.execute(world.store.db)).rows.map(({ kind }) => kind);
    expect(kinds).toContain("key.reserved");
    expect(kinds).not.toContain("key.policy_updated");
  });

  it("is not freed of it where the team gives up its namespace", async (context) => {
    const world = await startWorld(context, setup(), key("agent", WRITER));
    await world.declare(READ_ONLY);
    const { expiresAt } = (await world.stored("agent")).policy;
    expect(expiresAt).not.toBeNull();
    await world.declare(team("team-a", ["another"]));
    await world.declare(key("agent", { scopes: [...WRITER.scopes, "gateway:generate"] }));
    expect(world.condition("Ready", "agent")).toBe("False/NamespaceUnclaimed");
    expect((await world.stored("agent")).policy).toMatchObject({ expiresAt, scopes: WRITER.scopes });
  });

  it("has its defaults as effective values, and its spec as it was", async (context) => {
    const defaults = policy({
      expiry: { default: "480h" },
      rateLimit: { requestsPerMinute: { default: 60, max: 90 } },
    });
    const world = await startWorld(context, setup(), defaults, key("agent"));
    const { policy: stored, versions } = await world.stored("agent");
    expect(stored.rateLimit).toEqual({ requestsPerMinute: 60, burst: 60, scope: "Replica" });
    expect((versions[0]?.expiresAt ?? 0) - (versions[0]?.mintedAt ?? 0)).toBe(20 * DAY);
    expect(world.get("PlatformKey", "agent")?.spec).not.toHaveProperty("expiresAfter");
    await world.remove(defaults);
    await until("it has none", async () => (await world.stored("agent")).policy.rateLimit === null);
  });

  it("b256: has a place among the keys that a team may have if it is one of the oldest, and of 20 declared at once no more are issued", async (context) => {
    const world = await startWorld(context, setup(), policy({ maxKeys: 5 }), key("first"));
    const names = Array.from({ length: 20 }, (_, i) => `agent-${i}`);
    await world.declare(...names.map((name) => key(name)));
    expect(world.condition("Ready", "first")).toBe("True/Ready");
    const having = (condition: string) => names.filter((name) => world.condition("Ready", name) === condition);
    expect([having("True/Ready").length, having("False/PolicyViolated").length]).toEqual([4, 16]);
    expect(await world.storedKeys()).toHaveLength(5);
  });

  it("is none of a policy that is for no team, which says so", async (context) => {
    const world = await startWorld(context, setup(), key("agent", WRITER), {
      ...READ_ONLY,
      spec: { ...READ_ONLY.spec, teamSelector: { matchNames: ["team-b"] } },
    });
    expect(world.condition("Ready", "production", "PlatformKeyPolicy", "")).toBe("False/NoTeamSelected");
    expect(world.condition("Ready", "agent")).toBe("True/Ready");
  });
});
