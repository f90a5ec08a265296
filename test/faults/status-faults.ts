/** Faults where only what a status says is behind: the key itself works. */
import { expect, it } from "vitest";
import { ClusterError } from "../../controller/cluster/port.ts";
import { withCalls } from "../controller/fixtures/cluster-calls.ts";
import type { WorldTests } from "../controller/fixtures/setup.ts";
import { key, startWorld } from "../controller/fixtures/world.ts";
import { until } from "../env/until.ts";
import { createInjector } from "./injector.ts";
import { isReady } from "./scenarios.ts";

export const statusFaults: WorldTests = (setup) => {
  it("c7: a kill between activation and status leaves a key that works, and the status catches up", async (context) => {
    const injector = createInjector();
    const world = await startWorld(context, { ...setup(), wrap: injector.wrap });
    injector.arm({ effect: "commit key.activated", how: "killed after" });
    await world.write(key("agent"));
    await until("the kill", injector.hasStruck);
    const plaintext = await world.plaintextOf("agent");
    await world.stop(true);
    expect(world.decide(plaintext), "usable meanwhile").toBe("allowed");
    world.wrapWith(undefined);
    await world.start();
    await world.rest();
    expect(world.condition("Ready", "agent")).toBe("True/Ready");
    expect(await world.plaintextOf("agent")).toBe(plaintext);
    expect((await world.stored("agent")).lastNumber).toBe(1);
  });

  it("c8: a status that conflicts a hundred times is tried again, and the key is left alone", async (context) => {
    let conflicts = 0;
    const conflicting = withCalls(({ writeStatus }) => ({
      async writeStatus(object, status) {
        if (object.name !== "agent" || conflicts === 100) return writeStatus(object, status);
        conflicts++;
        throw new ClusterError("Conflict", "the object has changed");
      },
    }));
    const world = await startWorld(context, { ...setup(), wrap: conflicting });
    await world.write(key("agent"));
    const plaintext = await until("a Secret", () => world.keyIn("agent"));
    await until("a hundred conflicts", () => {
      world.poke("agent");
      return conflicts === 100;
    });
    world.poke("agent");
    await until("the status", () => isReady(world));
    expect(await world.plaintextOf("agent")).toBe(plaintext);
    expect((await world.stored("agent")).lastNumber).toBe(1);
  });

  it("c23: a declaration that fails every time harms no other, and says that it is tried again", async (context) => {
    let tries = 0;
    const poisoned = withCalls(({ readSecret, createSecret }) => ({
      async readSecret(namespace, name) {
        if (name !== "poison") return readSecret(namespace, name);
        tries++;
        throw new Error("a Secret that cannot be read");
      },
      async createSecret(draft) {
        if (draft.name !== "poison") return createSecret(draft);
        tries++;
        throw new Error("a Secret that cannot be written");
      },
    }));
    const world = await startWorld(context, { ...setup(), wrap: poisoned });
    await world.write(key("poison"), key("agent"));
    await until("the other", () => isReady(world));
    expect(world.decide(await world.plaintextOf("agent"))).toBe("allowed");
    await until("the condition", () => world.condition("Reconciling", "poison")?.startsWith("True/"));
    const after = await until("several tries", () => (tries > 3 ? tries : undefined));
    for (let round = 0; round < 5; round++) {
      await world.write(key("agent", { displayName: `round ${round}` }));
      await until("the change", async () => (await world.stored("agent")).policy.displayName === `round ${round}`);
    }
    expect(tries - after, "a back-off of its own").toBeLessThan(10);
    await until("ready", () => isReady(world));
  });
};
