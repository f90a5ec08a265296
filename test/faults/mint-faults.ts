/** Faults between the wish for a key and its Secret. */
import { expect, it } from "vitest";
import { ClusterError } from "../../controller/cluster/port.ts";
import { withCalls } from "../controller/fixtures/cluster-calls.ts";
import type { WorldTests } from "../controller/fixtures/setup.ts";
import { HOUR, key, startWorld } from "../controller/fixtures/world.ts";
import { until } from "../env/until.ts";
import { createInjector } from "./injector.ts";
import { endsAsUsual, isReady } from "./scenarios.ts";

export const mintFaults: WorldTests = (setup) => {
  it("c1: a kill before the reservation commits leaves nothing, and the retry mints", async (context) => {
    const { world } = await endsAsUsual(context, setup(), "a first mint", {
      effect: "commit key.reserved",
      how: "killed before",
    });
    expect((await world.stored("agent")).lastNumber).toBe(1);
  });

  it("c2: a kill between reservation and publishing has a new version minted, and voids the lost one", async (context) => {
    const { world } = await endsAsUsual(context, setup(), "a first mint", {
      effect: "commit key.reserved",
      how: "killed after",
    });
    const { versions, lastNumber, id } = await world.stored("agent");
    expect([lastNumber, versions.map(({ number }) => number)]).toEqual([2, [2]]);
    const lost = await setup()
      .store.db.selectFrom("key_versions")
      .select("state")
      .where("key_id", "=", id)
      .where("number", "=", 1)
      .executeTakeFirst();
    expect(lost?.state).toBe("voided");
  });

  it("c3: a reservation whose answer was lost is found again: there is no second version", async (context) => {
    const { world } = await endsAsUsual(context, setup(), "a first mint", {
      effect: "commit key.reserved",
      how: "answer lost",
    });
    expect((await world.stored("agent")).lastNumber).toBe(1);
  });

  it("c4: a kill between publishing and activation ends with the same value active", async (context) => {
    const { world, injector } = await endsAsUsual(context, setup(), "a first mint", {
      effect: "createSecret",
      how: "killed after",
    });
    expect(await world.readSecret("agent")).toEqual(injector.drafts.at(-1));
    expect((await world.stored("agent")).lastNumber).toBe(1);
  });

  for (const what of ["a first mint", "a rotation"] as const) {
    for (const lost of ["deleted", "edited"] as const) {
      it(`c66: what a workload has read before a kill ended ${what} works for the overlap, its Secret ${lost} before the restart`, async (context) => {
        const rotation = { overlap: { mode: "Fixed", duration: "1h" } };
        const given = what === "a rotation" ? [key("agent", { rotation })] : [];
        const injector = createInjector();
        const world = await startWorld(context, { ...setup(), wrap: injector.wrap }, ...given);
        injector.arm({ effect: what === "a rotation" ? "replaceSecret" : "createSecret", how: "killed after" });
        await world.write(key("agent", { rotation: { ...rotation, trigger: "next" } }));
        await until("the kill", injector.hasStruck);
        const read = await world.plaintextOf("agent");
        await world.stop(true);
        if (lost === "deleted") await world.loseSecret("agent");
        else await world.editSecret("agent", "edited");
        world.wrapWith(undefined);
        await world.start();
        await until("another version is delivered", () => isReady(world));
        await world.rest();
        const next = await world.plaintextOf("agent");
        expect(next).not.toBe(read);
        expect([world.decide(read), world.decide(next)]).toEqual(["allowed", "allowed"]);
        await world.advance(HOUR / 2);
        expect([world.decide(read), world.decide(next)]).toEqual(["allowed", "allowed"]);
        await world.advance(HOUR / 2);
        expect([world.decide(read), world.decide(next)]).toEqual(["unauthorized", "allowed"]);
      });
    }
  }

  it("c5: AlreadyExists for our own earlier write goes on with it", async (context) => {
    const injector = createInjector();
    const existsOnceWritten = withCalls(({ createSecret }) => ({
      async createSecret(draft) {
        await createSecret(draft);
        throw new ClusterError("AlreadyExists", "there is one already");
      },
    }));
    const world = await startWorld(context, {
      ...setup(),
      wrap(cluster, store) {
        const injected = injector.wrap(cluster, store);
        return existsOnceWritten(injected.cluster, injected.store);
      },
    });
    await world.declare(key("agent"));
    expect(world.decide(await world.plaintextOf("agent"))).toBe("allowed");
    expect((await world.stored("agent")).versions.map(({ number, state }) => [number, state])).toEqual([[1, "active"]]);
    expect(injector.drafts).toHaveLength(1);
  });

  it("c5: AlreadyExists for an unmanaged Secret is a conflict: nothing is written, nothing activated", async (context) => {
    let plant = async () => {};
    // Between the last look and the write another client was faster.
    const plantedBefore = withCalls(({ createSecret }) => ({
      async createSecret(draft) {
        await plant();
        return createSecret(draft);
      },
    }));
    const world = await startWorld(context, { ...setup(), wrap: plantedBefore });
    plant = () => world.editSecret("agent", "planted");
    await world.declare(key("agent"));
    plant = async () => {};
    expect(world.condition("SecretDelivered", "agent")).toBe("False/SecretConflict");
    expect(await world.readSecret("agent")).toEqual({ "api-key": "planted" });
    expect((await world.stored("agent")).versions.map(({ state }) => state)).toEqual(["reserved"]);
    await world.loseSecret("agent");
    // It came and went between two looks of the watch, which may have seen neither.
    world.poke("agent");
    await until("a Secret of ours", async () => (await world.keyIn("agent"))?.startsWith("inf_"));
    await world.rest();
    expect(world.decide(await world.plaintextOf("agent"))).toBe("allowed");
    expect(world.condition("Ready", "agent")).toBe("True/Ready");
  });

  for (const how of ["answer lost", "failed"] as const) {
    it(`c6: a publication that timed out (${how}) is read back, and no other secret is minted`, async (context) => {
      const { world, injector } = await endsAsUsual(context, setup(), "a first mint", { effect: "createSecret", how });
      expect((await world.stored("agent")).lastNumber).toBe(1);
      expect(new Set(injector.drafts.map((draft) => draft["api-key"])).size).toBe(2);
      expect(await world.readSecret("agent")).toEqual(injector.drafts.at(-1));
    });
  }
};
