import { expect, it } from "vitest";
import type { Cluster } from "../../../controller/cluster/port.ts";
import { until } from "../../env/until.ts";
import { describeWorlds } from "../fixtures/setup.ts";
import { HOUR, key, library, type Manifest, startWorld, type World, type WorldSetup } from "../fixtures/world.ts";

const DAY = 24 * HOUR;

const policy = (name: string, spec: Record<string, unknown>): Manifest => ({
  kind: "PlatformKeyPolicy",
  name,
  namespace: "",
  spec: { teamSelector: { matchNames: ["team-a"] }, ...spec },
});

/** A setup in which policies can be had not to be read, as where a later version of Keyplane has written them. */
function closable(setup: WorldSetup) {
  const closed = new Set<string>();
  const isOpen = ({ kind, name }: { kind: string; name: string }) => kind !== "PlatformKeyPolicy" || !closed.has(name);
  const wrap: NonNullable<WorldSetup["wrap"]> = (cluster, store) => ({
    store,
    cluster: {
      ...cluster,
      get(kind, namespace, name) {
        return isOpen({ kind, name }) ? cluster.get(kind, namespace, name) : undefined;
      },
      list: (kind) => cluster.list(kind).filter(isOpen),
    } satisfies Cluster,
  });
  const look = async (world: World) => {
    world.poke("agent");
    await world.rest();
  };
  return {
    setup: { ...setup, wrap },
    async close(world: World, name: string): Promise<void> {
      closed.add(name);
      await look(world);
    },
    async open(world: World, name: string): Promise<void> {
      closed.delete(name);
      await look(world);
    },
  };
}

describeWorlds("a key that was issued, while a policy of its team cannot be read", (setup) => {
  it("b180: is not rotated by an edit that this policy has kept off", async (context) => {
    const { setup: closableSetup, close, open } = closable(setup());
    const world = await startWorld(
      context,
      closableSetup,
      key("agent", { scopes: ["memory:read"], expiresAfter: "720h" }),
    );
    await world.declare(
      policy("scopes", { allowedScopes: ["memory:read"] }),
      policy("rates", { gracePeriod: "1h", rateLimit: { requestsPerMinute: { default: 60 } } }),
    );
    const edited = { scopes: ["memory:read", "memory:write"], rotation: { trigger: "next" } };
    await world.declare(key("agent", edited));
    await world.advance(2 * HOUR);
    expect((await world.stored("agent")).policy.rateLimit).toMatchObject({ requestsPerMinute: 60 });

    await close(world, "scopes");
    expect(world.condition("Ready", "agent")).toBe("False/PolicyUnreadable");
    expect((await world.stored("agent")).versions).toMatchObject([{ number: 1, state: "active" }]);
    await open(world, "scopes");
    expect(world.condition("Ready", "agent")).toBe("False/PolicyViolated");
    await world.declare(key("agent", { ...edited, scopes: ["memory:read"] }));
    expect((await world.stored("agent")).versions).toMatchObject([{ number: 2, state: "active" }, { number: 1 }]);
  });

  it("c82: stays Ready where nothing of it has been edited, and says so of the policy in a condition of its own", async (context) => {
    const { setup: closableSetup, close, open } = closable(setup());
    const reading = {
      scopes: ["memory:read"],
      libraryAccess: { mode: "Restricted", libraryRefs: [{ name: "notes" }] },
    };
    const rates = { rateLimit: { requestsPerMinute: { default: 60 } } };
    const world = await startWorld(
      context,
      closableSetup,
      library("notes"),
      policy("any", rates),
      key("agent", reading),
    );
    const conditions = () =>
      ["Ready", "PolicyViolated", "Reconciling", "Stalled"].map((type) => world.condition(type, "agent"));
    await close(world, "any");
    expect(conditions()).toEqual(["True/Ready", "True/PolicyUnreadable", undefined, undefined]);

    await world.declare(key("agent", { ...reading, displayName: "Edited" }));
    expect(conditions().slice(0, 2)).toEqual(["False/PolicyUnreadable", "True/PolicyUnreadable"]);
    await world.declare(key("agent", reading));
    await open(world, "any");
    expect(conditions()).toEqual(["True/Ready", undefined, undefined, undefined]);

    await close(world, "any");
    await world.remove(library("notes"));
    await until("it is seen", () => world.condition("Ready", "agent") === "False/PolicyUnreadable");
  });

  it("c86: is not Ready where an edit of it waits, of which the suspension alone is applied", async (context) => {
    const { setup: closableSetup, close, open } = closable(setup());
    const world = await startWorld(context, closableSetup, key("agent", { scopes: ["memory:read"] }));
    await world.declare(policy("any", { rateLimit: { requestsPerMinute: { default: 60 } } }));
    await close(world, "any");
    await world.declare(key("agent", { scopes: ["memory:read", "memory:write"], state: "Suspended" }));
    expect((await world.stored("agent")).policy).toMatchObject({ scopes: ["memory:read"], suspended: true });
    expect(world.condition("Ready", "agent")).toBe("False/PolicyUnreadable");
    await open(world, "any");
    expect(world.condition("Ready", "agent")).toBe("True/Suspended");
    expect((await world.stored("agent")).policy.scopes).toEqual(["memory:read", "memory:write"]);

    await close(world, "any");
    expect(world.condition("Ready", "agent")).toBe("True/Suspended");
  });

  it("b451: keeps in its Secret what leads to its gateway where an edit waits, of which the suspension alone is applied", async (context) => {
    const { setup: closableSetup, close } = closable(setup());
    const bound = (name: string) => ({ preset: "GatewayDefault", gatewayRef: { name }, secret: { template: "Env" } });
    const world = await startWorld(
      context,
      closableSetup,
      { kind: "Secret", name: "provider", stringData: { "api-key": "sk-one" } },
      ...["kept", "wished"].map(
        (name): Manifest => ({
          kind: "ModelGateway",
          name,
          spec: {
            publicID: `unreadable-${name}`,
            upstreams: [
              {
                ...{ name: "openai", dialect: "openai", baseURL: "https://api.example.com" },
                credentialRef: { name: "provider", key: "api-key" },
              },
            ],
          },
        }),
      ),
      policy("any", { rateLimit: { requestsPerMinute: { default: 60 } } }),
      key("agent", bound("kept")),
    );
    const before = await world.readSecret("agent");
    expect(before?.OPENAI_BASE_URL).toContain("/g/unreadable-kept");
    await close(world, "any");
    await world.declare(key("agent", { ...bound("wished"), state: "Suspended" }));
    expect((await world.stored("agent")).policy.suspended).toBe(true);
    expect(world.condition("Ready", "agent")).toBe("False/PolicyUnreadable");
    expect(await world.readSecret("agent")).toEqual(before);
  });

  it("b181: is held to what the others ask as soon as that is due, and to what it was held to", async (context) => {
    const { setup: closableSetup, close, open } = closable(setup());
    const world = await startWorld(context, closableSetup, key("agent"));
    await world.declare(
      policy("calls", { gracePeriod: "1h", rateLimit: { concurrent: { max: 3 } } }),
      policy("numbers", {
        rateLimit: { requestsPerMinute: { default: 60 } },
        budgets: [{ tokens: 100, period: "Month" }],
        rotation: { maxInterval: "720h" },
      }),
    );
    await world.advance(2 * HOUR);
    expect((await world.stored("agent")).policy.concurrent).toBe(3);
    await close(world, "calls");
    await world.advance(7 * DAY + HOUR);
    expect((await world.stored("agent")).policy).toMatchObject({
      ...{ concurrent: 3, rateLimit: { requestsPerMinute: 60 } },
      budgets: [{ tokens: 100, period: "Month", onExhausted: "Refuse" }],
    });
    expect(world.condition("PolicyViolated", "agent")).toBe("True/PolicyUnreadable");
    await world.advance(30 * DAY);
    expect((await world.stored("agent")).versions).toMatchObject([{ number: 2 }, { number: 1 }]);
    await open(world, "calls");
    expect(world.condition("Ready", "agent")).toBe("True/Ready");
    expect((await world.stored("agent")).policy.concurrent).toBe(3);
  });

  it("b181: is rotated as its declaration has it that was applied, by which a new version lives", async (context) => {
    const { setup: closableSetup, close } = closable(setup());
    const spec = { expiresAfter: "480h", rotation: { interval: "240h" } };
    const world = await startWorld(context, closableSetup, policy("any", { maxKeys: 5 }), key("agent", spec));
    await close(world, "any");
    await world.advance(10 * DAY);
    const [newest] = (await world.stored("agent")).versions;
    expect(newest).toMatchObject({ number: 2, state: "active" });
    expect((newest?.expiresAt ?? 0) - (newest?.mintedAt ?? 0)).toBe(20 * DAY);
  });

  it("b438, b181: has no old version that lives longer than an expiry.max of another policy that is due", async (context) => {
    const { setup: closableSetup, close } = closable(setup());
    const agent = (trigger: string) =>
      key("agent", { rotation: { trigger, overlap: { mode: "Fixed", duration: "90000h" } } });
    const world = await startWorld(context, closableSetup, policy("any", { maxKeys: 5 }), agent("one"));
    const first = await world.plaintextOf("agent");
    await world.declare(agent("two"));
    await close(world, "any");
    await world.declare(policy("lives", { expiry: { max: "720h" } }));
    await world.advance(29 * DAY);
    expect(world.decide(first)).toBe("allowed");
    await world.advance(2 * DAY);
    expect(world.decide(first)).not.toBe("allowed");
  });
});
