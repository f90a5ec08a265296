/** Faults between the wish that a key is gone and its end. */
import { expect, it } from "vitest";
import type { Cluster } from "../../controller/cluster/port.ts";
import type { Store } from "../../store/database/store.ts";
import type { WorldTests } from "../controller/fixtures/setup.ts";
import { key, startWorld } from "../controller/fixtures/world.ts";
import { until } from "../env/until.ts";
import { createInjector, intercept } from "./injector.ts";

/** The store of a world, whose database refuses every connection while it is down. */
function breakableDatabase() {
  let isDown = false;
  const refusingWhileDown = (store: Store): Store => {
    const db = new Proxy(store.db, {
      get(target, name) {
        if (isDown) throw Object.assign(new Error("connect ECONNREFUSED 127.0.0.1:5432"), { code: "ECONNREFUSED" });
        return Reflect.get(intercept(target, {}), name);
      },
    });
    return { ...store, db };
  };
  return {
    wrap: (cluster: Cluster, store: Store) => ({ cluster, store: refusingWhileDown(store) }),
    down() {
      isDown = true;
    },
    up() {
      isDown = false;
    },
  };
}

export const deletionFaults: WorldTests = (setup) => {
  it("c11: a kill between revocation and the Secret's removal: the key is refused, and the Secret goes at the restart", async (context) => {
    const injector = createInjector();
    const world = await startWorld(context, { ...setup(), wrap: injector.wrap }, key("other"), key("agent"));
    const plaintext = await world.plaintextOf("agent");
    injector.arm({ effect: "commit key.revoked", how: "killed after" });
    await world.undeclare(key("agent"));
    await until("the kill", injector.hasStruck);
    await world.stop(true);
    await until("refused", () => world.decide(plaintext) === "unauthorized");
    expect(await world.readSecret("agent")).toBeDefined();
    world.wrapWith(undefined);
    await world.start();
    await until("the object is gone", () => world.get("PlatformKey", "agent") === undefined);
    expect(await world.readSecret("agent")).toBeUndefined();
  });

  it("c12: with the database down a deletion waits with its finalizer, says why, and goes on by itself", async (context) => {
    const database = breakableDatabase();
    const world = await startWorld(context, { ...setup(), wrap: database.wrap }, key("other"), key("agent"));
    const plaintext = await world.plaintextOf("agent");
    database.down();
    await world.undeclare(key("agent"));
    const said = await until("a condition that says why", () =>
      world
        .get("PlatformKey", "agent")
        ?.status?.conditions?.find(({ type, status }) => type === "Reconciling" && status === "True"),
    );
    expect(said.message).toContain("ECONNREFUSED");
    expect(world.get("PlatformKey", "agent")).toMatchObject({ deleting: true, finalizers: ["keyplane.dev/finalizer"] });
    expect(world.decide(plaintext)).toBe("allowed");
    database.up();
    await until("the object is gone", () => world.get("PlatformKey", "agent") === undefined);
    expect(world.decide(plaintext)).toBe("unauthorized");
    expect(await world.readSecret("agent")).toBeUndefined();
  });

  it("c14: a deletion that no watch saw, before the same name was made again, revokes the old key and mints another", async (context) => {
    const world = await startWorld(context, setup(), key("other"), key("agent", { deletionProtection: true }));
    const first = await world.plaintextOf("agent");
    await world.undeclare(key("agent"));
    await until("held", () => world.condition("Ready", "agent") === "False/DeletionProtected");
    const old = world.get("PlatformKey", "agent") ?? expect.fail("gone");
    // The finalizer is stripped by hand, and the garbage collector takes what the old object owned.
    await world.cluster().removeFinalizer(old);
    await world.loseSecret("agent");
    await world.declare(key("agent"));
    expect(world.get("PlatformKey", "agent")?.uid).not.toBe(old.uid);
    const second = await world.plaintextOf("agent");
    expect(second).not.toBe(first);
    expect(world.decide(second)).toBe("allowed");
    await world.collectGarbage();
    await until("refused", () => world.decide(first) === "unauthorized");
    expect(world.decide(second)).toBe("allowed");
    expect(world.decide(await world.plaintextOf("other"))).toBe("allowed");
  });
};
