import { sql } from "kysely";
import { afterAll, beforeAll, expect, it, type TestContext } from "vitest";
import { change } from "../../../store/database/change.ts";
import { forgetPolicies, policiesOfCluster } from "../../../store/policies/key-policies.ts";
import { until } from "../../env/until.ts";
import { type Api, startApi } from "../../server/management/api.ts";
import { unique } from "../../store/fixtures.ts";
import { makeByHand, takingOver } from "../fixtures/made-by-hand.ts";
import { describeWorlds } from "../fixtures/setup.ts";
import { HOUR, key, type Manifest, startWorld, type World, type WorldSetup } from "../fixtures/world.ts";

const DAY = 24 * HOUR;
const WRITER = { scopes: ["memory:read", "memory:write"] };

const policy = (spec: Record<string, unknown>, name = "production"): Manifest => ({
  kind: "PlatformKeyPolicy",
  name,
  namespace: "",
  spec: { teamSelector: { matchNames: ["team-a"] }, ...spec },
});

/** A world with a server beside its controller, which looks at keys made by hand all the time. */
async function startBoth(context: TestContext, api: Api, setup: WorldSetup, ...manifests: Manifest[]) {
  const world = await startWorld(
    context,
    { ...setup, intervalsMs: { madeKeys: 200, ...setup.intervalsMs } },
    ...manifests,
  );
  const team = String((await idOfTeam(world)) ?? "");
  return {
    world,
    make: (spec: object) => api.send("POST", "/keys", { name: unique("made"), team, spec }),
    read: async (id: string) => (await api.send("GET", `/keys/${id}`)).body,
    policies: () => policiesOfCluster(world.store.db, world.clusterUid()),
  };
}

async function idOfTeam(world: World): Promise<string | undefined> {
  const { status } = world.get("PlatformTeam", "team-a", "") ?? {};
  return status?.teamID as string | undefined;
}

describeWorlds("b131: a key that was made by hand, beside a controller", (setup) => {
  let api: Api;
  beforeAll(async () => {
    api = await startApi(setup().store);
  });
  afterAll(() => api.close());

  it("is refused as soon as a policy is in force, and made once that is gone", async (context) => {
    const { world, make, policies } = await startBoth(
      context,
      api,
      setup(),
      policy({ allowedScopes: ["memory:read"] }),
    );
    const { status, body } = await make(WRITER);
    expect([status, body.errors[0].policy]).toEqual([422, "production"]);
    await world.remove(policy({}));
    await until("the policy is gone", async () => (await policies()).length === 0);
    expect((await make(WRITER)).status).toBe(201);
  });

  it("ends by a policy that came later as a declared key does, and by none once that is gone", async (context) => {
    const { world, make, read } = await startBoth(context, api, setup(), key("agent", WRITER));
    const { id } = (await make(WRITER)).body;
    await world.declare(policy({ allowedScopes: ["memory:read"] }));
    const { expiresAt } = await until("it has its end", async () => {
      const shown = await read(id);
      return shown.expiresAt === null ? undefined : shown;
    });
    expect(expiresAt.slice(0, 19)).toBe((await world.status("agent")).expiresAt?.slice(0, 19));
    await world.remove(policy({}));
    await until("it has none", async () => (await read(id)).expiresAt === null);
  });

  it("has the highest numbers once they are due, and a life within the longest interval of rotations", async (context) => {
    const { world, make, read } = await startBoth(context, api, setup());
    const { id } = (await make({ preset: "MCPReadOnly" })).body;
    const rules = { rotation: { maxInterval: "720h" }, rateLimit: { requestsPerMinute: { default: 30 } } };
    await world.declare(policy({ gracePeriod: "240h", ...rules }));
    const shown = await until("it has its end", async () => {
      const now = await read(id);
      return now.expiresAt === null ? undefined : now;
    });
    expect(Date.parse(shown.expiresAt) - Date.parse(shown.versions[0].mintedAt)).toBe(30 * DAY);
    const rateOf = async () =>
      (await world.store.db.selectFrom("keys").select("requests_per_minute as rate").where("id", "=", id).execute())[0];
    expect(await rateOf()).toEqual({ rate: null });
    await world.advance(11 * DAY);
    await until("the rate holds", async () => (await rateOf())?.rate === 30);
    expect((await read(id)).spec).not.toHaveProperty("rateLimit");
  });

  it("counts among the keys that a team may have, with those that are declared", async (context) => {
    const { world, make } = await startBoth(context, api, setup(), policy({ maxKeys: 2 }), key("declared"));
    expect((await make({ preset: "MCPReadOnly" })).status).toBe(201);
    expect((await make({ preset: "MCPReadOnly" })).status).toBe(422);
    await world.declare(key("another"));
    expect(world.condition("Ready", "another")).toBe("False/PolicyViolated");
  });

  it("b183: keeps its place among them where a declaration takes it over", async (context) => {
    const world = await startWorld(context, setup(), policy({ maxKeys: 1 }));
    const made = await makeByHand(world);
    await world.declare(takingOver("agent", made), key("another"));
    expect((await world.stored("agent")).id).toBe(made.id);
    expect(world.condition("Ready", "agent")).toBe("True/Ready");
    expect(world.condition("Ready", "another")).toBe("False/PolicyViolated");
  });

  it("b215: is named by no annotation that is no id of a key, and its declaration's status says so", async (context) => {
    const world = await startWorld(context, setup(), policy({ maxKeys: 2 }));
    const made = await makeByHand(world);
    await world.declare({ ...takingOver("agent", made), annotations: { "keyplane.dev/take-over": "key_a\u0001" } });
    expect(world.condition("Ready", "agent")).toBe("False/TakeOverRefused");
    await world.declare(key("another"));
    expect(world.condition("Ready", "another")).toBe("True/Ready");
  });

  it("b184: is held to them again at once where policies were forgotten whose controller leads", async (context) => {
    const { world, make, read, policies } = await startBoth(context, api, {
      ...setup(),
      intervalsMs: { resync: HOUR },
    });
    const { id } = (await make(WRITER)).body;
    await world.declare(policy({ allowedScopes: ["memory:read"] }));
    const { expiresAt } = await until("it has its end", async () => {
      const shown = await read(id);
      return shown.expiresAt === null ? undefined : shown;
    });
    await change(world.store, null, (tx) => forgetPolicies(tx, world.clusterUid()));
    await until("the policy is stored again", async () => (await policies()).length > 0);
    expect((await make(WRITER)).status).toBe(422);
    await until("it has the same end", async () => (await read(id)).expiresAt === expiresAt);
  });

  it("is written to by no look where all is as policies ask", async (context) => {
    const rules = {
      ...{ expiry: { default: "720h" }, rateLimit: { requestsPerMinute: { default: 30 } } },
      budgets: [
        { cost: "1.5", currency: "USD", period: "Month" },
        { tokens: 100, period: "Total" },
      ],
    };
    const { world, make } = await startBoth(context, api, setup(), policy(rules));
    const { db } = world.store;
    const limits = { requestsPerMinute: 5, burst: 3, tokensPerMinute: 100, scope: "Installation", concurrent: 3 };
    const ids: string[] = [];
    for (const more of [
      { rateLimit: limits },
      { expiresAt: "2999-01-01T00:00:00.5Z" },
      { expiresAfter: "1h" },
      { budgets: [{ cost: "1.0", currency: "USD", period: "Month" }] },
      {},
    ]) {
      ids.push((await make({ preset: "MCPReadOnly", ...more })).body.id);
    }
    // What is put right shows that the others were looked at too.
    await db
      .updateTable("keys")
      .set({ concurrent: 7 })
      .where("id", "=", ids.at(-1) ?? "")
      .execute();
    const changed = async () => {
      const kinds = sql<{ id: string }>`select key_id as id from audit_events where kind = 'key.policy_updated'`;
      return (await kinds.execute(db)).rows.map(({ id }) => id).filter((id) => ids.includes(id));
    };
    await until("one is put right", async () => (await changed()).length > 0);
    expect(await changed()).toEqual([ids.at(-1)]);
  });
});
