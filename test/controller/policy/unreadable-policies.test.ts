import { expect, it } from "vitest";
import type { Cluster } from "../../../controller/cluster/port.ts";
import { describeWorlds } from "../fixtures/setup.ts";
import { HOUR, key, type Manifest, startWorld, type World, type WorldSetup } from "../fixtures/world.ts";

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
});
