import { expect, it } from "vitest";
import { ClusterError } from "../../controller/cluster/port.ts";
import type { WorldTests } from "../controller/fixtures/setup.ts";
import { HOUR, key, startWorld } from "../controller/fixtures/world.ts";
import { until } from "../env/until.ts";
import { endState } from "./end-state.ts";
import { createInjector, intercept } from "./injector.ts";
import { endsAsUsual, isReady, play } from "./scenarios.ts";

/** Each fault at its point in the life of a key; on files with PGlite, and on Kubernetes with PostgreSQL. */
export const keyFaults: WorldTests = (setup) => {
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

  it("c5: AlreadyExists for our own earlier write goes on with it", async (context) => {
    const injector = createInjector();
    const world = await startWorld(context, {
      ...setup(),
      wrap(cluster, store) {
        const inner = injector.wrap(cluster, store);
        const createSecret: typeof cluster.createSecret = async (draft) => {
          await inner.cluster.createSecret(draft);
          throw new ClusterError("AlreadyExists", "there is one already");
        };
        return { ...inner, cluster: { ...inner.cluster, createSecret } };
      },
    });
    await world.declare(key("agent"));
    expect(world.decide(await world.plaintextOf("agent"))).toBe("allowed");
    expect((await world.stored("agent")).versions.map(({ number, state }) => [number, state])).toEqual([[1, "active"]]);
    expect(injector.drafts).toHaveLength(1);
  });

  it("c5: AlreadyExists for an unmanaged Secret is a conflict: nothing is written, nothing activated", async (context) => {
    let plant = async () => {};
    const world = await startWorld(context, {
      ...setup(),
      wrap: (cluster, store) => ({
        store,
        cluster: {
          ...cluster,
          // Between the last look and the write somebody else was faster.
          async createSecret(draft) {
            await plant();
            return cluster.createSecret(draft);
          },
        },
      }),
    });
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
    const world = await startWorld(context, {
      ...setup(),
      wrap: (cluster, store) => ({
        store,
        cluster: {
          ...cluster,
          async writeStatus(object, status) {
            if (object.name === "agent" && conflicts < 100) {
              conflicts++;
              throw new ClusterError("Conflict", "the object has changed");
            }
            await cluster.writeStatus(object, status);
          },
        },
      }),
    });
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

  it("c9: a kill in a rotation leaves both versions for the overlap, and ends it by the stored deadline", async (context) => {
    const { world, before = "" } = await endsAsUsual(context, setup(), "a rotation", {
      effect: "commit key.activated",
      how: "killed after",
    });
    const next = await world.plaintextOf("agent");
    expect([world.decide(before), world.decide(next)]).toEqual(["allowed", "allowed"]);
    await world.stop();
    await world.advance(HOUR);
    expect([world.decide(before), world.decide(next)]).toEqual(["unauthorized", "allowed"]);
  });

  it("c10: an overlap's deadline that passes while no controller runs refuses the old version", async (context) => {
    const { world, before = "" } = await play(context, setup(), "a rotation");
    const next = await world.plaintextOf("agent");
    await world.stop();
    await world.advance(HOUR + 1);
    expect([world.decide(before), world.decide(next)]).toEqual(["unauthorized", "allowed"]);
    await world.start();
    await world.rest();
    expect((await world.stored("agent")).versions.map(({ state }) => state)).toEqual(["active", "retired"]);
    expect(await world.plaintextOf("agent")).toBe(next);
  });

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
    let down = false;
    const world = await startWorld(
      context,
      {
        ...setup(),
        wrap(cluster, store) {
          const db = new Proxy(store.db, {
            get(target, name) {
              if (down) throw Object.assign(new Error("connect ECONNREFUSED 127.0.0.1:5432"), { code: "ECONNREFUSED" });
              return Reflect.get(intercept(target, {}), name);
            },
          });
          return { cluster, store: { ...store, db } };
        },
      },
      key("other"),
      key("agent"),
    );
    const plaintext = await world.plaintextOf("agent");
    down = true;
    await world.undeclare(key("agent"));
    const said = await until("a condition that says why", () =>
      world
        .get("PlatformKey", "agent")
        ?.status?.conditions?.find(({ type, status }) => type === "Reconciling" && status === "True"),
    );
    expect(said.message).toContain("ECONNREFUSED");
    expect(world.get("PlatformKey", "agent")).toMatchObject({ deleting: true, finalizers: ["keyplane.dev/finalizer"] });
    expect(world.decide(plaintext)).toBe("allowed");
    down = false;
    await until("the object is gone", () => world.get("PlatformKey", "agent") === undefined);
    expect(world.decide(plaintext)).toBe("unauthorized");
    expect(await world.readSecret("agent")).toBeUndefined();
  });

  it("c14: a deletion that nobody saw, before the same name was made again, revokes the old key and mints another", async (context) => {
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

  it("c15: a declaration that changes and changes back before it is looked at ends as it was, with no stray version", async (context) => {
    const a = key("agent", { rotation: { trigger: "a" } });
    const b = key("agent", { rotation: { trigger: "b" }, preset: "MCPReadWrite" });
    const world = await startWorld(context, setup(), key("other"), a);
    const plaintext = await world.plaintextOf("agent");
    const before = await endState(world, ["agent", "other"], [plaintext]);
    await world.stop();
    await world.write(b);
    await world.write(a);
    await world.start();
    await world.rest();
    expect(await endState(world, ["agent", "other"], [plaintext])).toEqual(before);
    expect((await world.stored("agent")).lastNumber).toBe(1);
  });

  it("c51: a key whose lost Secret cannot be made again says that it is not delivered, and is not ready", async (context) => {
    let isClosed = false;
    const world = await startWorld(context, {
      ...setup(),
      wrap: (cluster, store) => ({
        store,
        cluster: {
          ...cluster,
          async createSecret(draft) {
            if (!isClosed) return cluster.createSecret(draft);
            throw new ClusterError("Forbidden", "no Secret is admitted");
          },
        },
      }),
    });
    const said = async (wanted: string) =>
      (await world.status("agent")).conditions.find(({ type }) => type === wanted) ?? { status: "", message: "" };
    await world.write(key("agent"));
    await world.rest();
    expect((await said("Ready")).status).toBe("True");
    isClosed = true;
    await world.loseSecret("agent");
    await until("it is not ready", async () => (await said("Ready")).status === "False");
    expect((await said("SecretDelivered")).status).toBe("False");
    expect((await said("Reconciling")).message).toContain("no Secret is admitted");
    isClosed = false;
    await until("it is ready again", async () => (await said("Ready")).status === "True");
  });

  it("c60: restarts while no Secret can be made pile up no versions, and none is voided before its Secret can come no more", async (context) => {
    let refused = 0;
    let isClosed = true;
    const world = await startWorld(context, {
      ...setup(),
      wrap: (cluster, store) => ({
        store,
        cluster: {
          ...cluster,
          async createSecret(draft) {
            if (!isClosed) return cluster.createSecret(draft);
            refused++;
            throw new ClusterError("Forbidden", "exceeded quota: secrets, requested: secrets=1, limited: secrets=0");
          },
        },
      }),
    });
    const states = async () => {
      const rows = await setup()
        .store.db.selectFrom("key_versions")
        .innerJoin("keys", "keys.id", "key_versions.key_id")
        .select(["number", "key_versions.state"])
        .where("cluster", "=", world.clusterUid())
        .orderBy("number")
        .execute();
      return rows.map(({ number, state }) => `${number} ${state}`);
    };
    await world.write(key("agent"));
    for (const versions of [1, 2, 3, 4]) {
      await until("the Secret is refused", () => refused > 0);
      expect(await states()).toHaveLength(versions);
      await world.stop();
      refused = 0;
      await world.start();
    }
    const four = ["1 reserved", "2 reserved", "3 reserved", "4 reserved"];
    await world.rest();
    expect([await states(), refused]).toEqual([four, 0]);
    const ready = (await world.status("agent")).conditions.find(({ type }) => type === "Ready");
    expect(ready).toMatchObject({ status: "False", reason: "Minting" });
    expect(ready?.message).toMatch(/4 attempts have ended with their controller .* the next one begins at 20/);
    await world.restart();
    expect([await states(), refused]).toEqual([four, 0]);

    await world.stop();
    await world.advance(60_000);
    await world.start();
    await until("the Secret is refused", () => refused > 0);
    expect(await states()).toEqual(["1 voided", "2 reserved", "3 reserved", "4 reserved", "5 reserved"]);

    isClosed = false;
    await until("ready", () => isReady(world));
    expect(await states()).toEqual(["1 voided", "2 voided", "3 voided", "4 voided", "5 active"]);
    expect(world.decide(await world.plaintextOf("agent"))).toBe("allowed");
  });

  it("c23: a declaration that fails every time harms no other, and says that it is tried again", async (context) => {
    let tries = 0;
    const world = await startWorld(context, {
      ...setup(),
      wrap: (cluster, store) => ({
        store,
        cluster: {
          ...cluster,
          async readSecret(namespace, name) {
            if (name !== "poison") return cluster.readSecret(namespace, name);
            tries++;
            throw new Error("a Secret that nobody can read");
          },
          async createSecret(draft) {
            if (draft.name !== "poison") return cluster.createSecret(draft);
            tries++;
            throw new Error("a Secret that nobody can write");
          },
        },
      }),
    });
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
