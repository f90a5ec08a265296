import { expect, it } from "vitest";
import type { Cluster } from "../../../controller/cluster/port.ts";
import { until } from "../../env/until.ts";
import { withCalls } from "../fixtures/cluster-calls.ts";
import { describeWorlds } from "../fixtures/setup.ts";
import { key, startWorld } from "../fixtures/world.ts";

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
});
