import { expect, it } from "vitest";
import type { Cluster } from "../../../controller/cluster/port.ts";
import { until } from "../../env/until.ts";
import { withCalls } from "../fixtures/cluster-calls.ts";
import { describeWorlds } from "../fixtures/setup.ts";
import { key, NAMESPACE, startWorld, team } from "../fixtures/world.ts";

describeWorlds("a declaration that this version cannot read", (setup) => {
  it("c113: ends its key by state Revoked, suspends it by Suspended, and changes nothing else of it", async (context) => {
    let isUnread = false;
    const wrap = withCalls((cluster) => ({
      get: ((kind, namespace, name) => {
        const object = cluster.get(kind, namespace, name);
        return isUnread && kind === "PlatformKey" && object !== undefined ? { ...object, isUnread: true } : object;
      }) satisfies Cluster["get"],
    }));
    const world = await startWorld(context, { ...setup(), wrap }, key("revoked"), key("suspended"), key("active"));
    const [revoked, suspended] = [await world.plaintextOf("revoked"), await world.plaintextOf("suspended")];
    const { policy } = await world.stored("suspended");
    isUnread = true;
    const more = { preset: "MCPReadWrite", deletionPolicy: "Retain" };
    await world.write(key("revoked", { ...more, state: "Revoked" }), key("suspended", { ...more, state: "Suspended" }));
    await until("both are refused", () => {
      return world.decide(revoked) !== "allowed" && world.decide(suspended) !== "allowed";
    });
    expect(await world.stored("revoked")).toMatchObject({ state: "revoked", revocation: { reason: "Declared" } });
    expect((await world.stored("suspended")).policy).toEqual({ ...policy, suspended: true });
    isUnread = false;
    await world.declare(key("suspended"));
    await until("it works again", () => world.decide(suspended) === "allowed");
    expect(world.decide(revoked)).not.toBe("allowed");
  });

  it("c113: holds its key to its team and its policies, as it was issued", async (context) => {
    const unread = new Set<string>();
    const world = await startWorld(
      context,
      { ...setup(), wrap: asUnread(unread) },
      key("narrowed", { scopes: ["memory:read", "memory:write"], rateLimit: { requestsPerMinute: 7 } }),
      key("moved"),
    );
    const [narrowed, moved] = [await world.plaintextOf("narrowed"), await world.plaintextOf("moved")];
    const { policy } = await world.stored("narrowed");
    unread.add("narrowed").add("moved");
    const spec = { teamSelector: {}, allowedScopes: ["memory:read"], gracePeriod: "1s" };
    await world.write({ kind: "PlatformKeyPolicy", namespace: "", name: "readers", spec });
    await until("the policy has ended it", () => world.decide(narrowed, "atoms.create") !== "allowed");
    expect((await world.stored("narrowed")).policy).toEqual({ ...policy, expiresAt: expect.any(Number) });
    expect(world.decide(moved)).toBe("allowed");
    await world.write(team("team-a", ["elsewhere"]), team("team-b", ["dev"]));
    await until("it is revoked", async () => (await world.stored("moved")).state === "revoked");
    expect(await world.stored("moved")).toMatchObject({ revocation: { reason: "Moved" } });
    expect(world.decide(moved)).not.toBe("allowed");
  });

  it("c110: has no Secret collected with it that it declares to outlive it", async (context) => {
    const unread = new Set<string>();
    const world = await startWorld(context, { ...setup(), wrap: asUnread(unread) }, key("retained"), key("protected"));
    const isCollected = async (name: string) => {
      const secret = await world.cluster().readSecret(`${NAMESPACE}${world.tag}`, name);
      return secret?.owner?.byReference;
    };
    expect([await isCollected("retained"), await isCollected("protected")]).toEqual([true, true]);
    unread.add("retained").add("protected");
    await world.write(key("retained", { deletionPolicy: "Retain" }), key("protected", { deletionProtection: true }));
    await until("neither is", async () => !(await isCollected("retained")) && !(await isCollected("protected")));
  });

  it("c113: is not said to be retried once the database was away for one look", async (context) => {
    const unread = new Set<string>();
    let isAway = false;
    let looks = 0;
    const wrap = withCalls((cluster) => ({
      ...unreadCalls(cluster, unread),
      uids: (kind) => {
        if (!isAway || kind !== "PlatformKeyPolicy") return cluster.uids(kind);
        looks++;
        throw new Error("the database is away");
      },
    }));
    const world = await startWorld(context, { ...setup(), wrap }, key("agent"));
    unread.add("agent");
    isAway = true;
    world.poke("agent");
    await until("it was looked at", () => looks > 1);
    isAway = false;
    world.poke("agent");
    await until("nothing is under way", () => world.isIdle());
    expect(world.condition("Reconciling", "agent")).toBeUndefined();
  });
});

/** Wraps a cluster so that of these keys only what says how they end can be read. */
function asUnread(names: ReadonlySet<string>) {
  return withCalls((cluster) => unreadCalls(cluster, names));
}

function unreadCalls(cluster: Cluster, names: ReadonlySet<string>) {
  return {
    get: ((kind, namespace, name) => {
      const object = cluster.get(kind, namespace, name);
      if (kind !== "PlatformKey" || object === undefined || !names.has(object.name)) return object;
      return { ...object, spec: { ...object.spec, ...LEAST }, isUnread: true };
    }) satisfies Cluster["get"],
  };
}

const LEAST = { preset: undefined, scopes: ["memory:read"], rateLimit: undefined } as const;
