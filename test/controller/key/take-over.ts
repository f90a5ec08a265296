import { expect, it } from "vitest";
import { findKey } from "../../../store/keys/rows/find-key.ts";
import { until } from "../../env/until.ts";
import { auditOfKey } from "../../store/questions.ts";
import { makeByHand, takingOver } from "../fixtures/made-by-hand.ts";
import type { WorldTests } from "../fixtures/setup.ts";
import { startWorld } from "../fixtures/world.ts";

/** Keys that were made by hand, and what a declaration makes of them; on files and on Kubernetes. */
export const takeOvers: WorldTests = (setup) => {
  it("is the declaration's from then on: the same row, the same secret, as it declares, and no Secret", async (context) => {
    const world = await startWorld(context, setup());
    const made = await makeByHand(world);
    await world.declare(
      takingOver("agent", made, { scopes: ["memory:read", "memory:write"], rotation: { trigger: "1" } }),
    );
    expect(world.condition("Ready", "agent")).toBe("True/Ready");
    const stored = await world.stored("agent");
    const { namespace, name } = world.get("PlatformKey", "agent") ?? expect.fail("it is declared");
    expect(stored).toMatchObject({ id: made.id, cluster: world.clusterUid(), namespace, name, source: "ImportHash" });
    expect(stored.versions.map(({ number, state }) => [number, state])).toEqual([[1, "active"]]);
    expect(stored.policy.scopes).toEqual(["memory:read", "memory:write"]);
    expect(stored.spec, "its declaration has it").toBeNull();
    expect(world.decide(made.plaintext, "atoms.create")).toBe("allowed");
    expect(await world.readSecret("agent")).toBeUndefined();
    expect((await world.status("agent")).keyID).toBe(made.id);
    const kinds = (await auditOfKey(world.store.db, made.id)).map(({ kind }) => kind);
    expect(kinds).toEqual(["key.reserved", "key.activated", "key.taken_over", "key.policy_updated"]);
  });

  it("happens once: what is left of the annotation does nothing, and a rotation delivers the next version", async (context) => {
    const world = await startWorld(context, setup());
    const [made, other] = [await makeByHand(world), await makeByHand(world)];
    await world.declare(takingOver("agent", made));
    await world.restart();
    const again = takingOver("agent", made, { displayName: "Again" });
    await world.declare({ ...again, annotations: { "keyplane.dev/take-over": other.id } });
    expect((await world.stored("agent")).id).toBe(made.id);
    expect(await findKey(world.store.db, other.id)).toMatchObject({ cluster: "api", ownerUid: null });

    const overlap = { mode: "Fixed", duration: "1h" };
    await world.declare(takingOver("agent", made, { rotation: { trigger: "next", overlap } }));
    const next = await world.plaintextOf("agent");
    expect([world.decide(made.plaintext), world.decide(next)]).toEqual(["allowed", "allowed"]);
    expect((await world.stored("agent")).versions.map(({ number }) => number)).toEqual([2, 1]);
  });

  it("ends as any declared key does, one that is to be revoked at once too, and is not taken over again", async (context) => {
    const world = await startWorld(context, setup());
    const [made, revoked] = [await makeByHand(world), await makeByHand(world)];
    await world.declare(takingOver("agent", made), takingOver("ended", revoked, { state: "Revoked" }));
    expect(world.condition("Ready", "ended"), "nothing says Revoked of one that works").toBe("True/Revoked");
    expect(world.decide(revoked.plaintext)).toBe("unauthorized");
    await world.remove(takingOver("agent", made));
    expect(world.decide(made.plaintext)).toBe("unauthorized");
    await world.declare(
      takingOver("agent", made),
      ...["Revoked", "Suspended"].map((state) => takingOver(state.toLowerCase(), revoked, { state })),
    );
    for (const name of ["agent", "revoked", "suspended"]) {
      expect(world.condition("Ready", name), name).toBe("False/TakeOverRefused");
    }
  });

  it("waits for what it refers to, narrows nothing meanwhile, and is tried again as the annotation changes", async (context) => {
    const world = await startWorld(context, setup());
    const [made, other] = [await makeByHand(world), await makeByHand(world)];
    const libraryAccess = { mode: "Restricted", libraryRefs: [{ name: "handbook" }] };
    const wrong = { ...takingOver("mended", other), annotations: { "keyplane.dev/take-over": "key_bbbb" } };
    await world.declare(takingOver("agent", made, { libraryAccess }), wrong);
    expect(world.condition("Ready", "agent")).toBe("False/ReferenceNotFound");
    expect(await findKey(world.store.db, made.id)).toMatchObject({ cluster: "api", policy: { libraryIds: null } });
    expect(world.condition("Ready", "mended")).toBe("False/TakeOverRefused");
    await world.write(takingOver("mended", other));
    await world.declare({ kind: "MemoryLibrary", name: "handbook", spec: {} });
    expect(world.condition("Ready", "agent")).toBe("True/Ready");
    expect((await world.stored("agent")).policy.libraryIds).toHaveLength(1);
    await until("the key is taken over", () => world.condition("Ready", "mended") === "True/Ready");
    expect((await world.stored("mended")).id).toBe(other.id);
  });
};
