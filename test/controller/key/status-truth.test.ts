/** Statuses that said what was not so. */
import { expect, it } from "vitest";
import type { DeclaredObject, ObjectStatus } from "../../../controller/cluster/port.ts";
import { retryingStatus } from "../../../controller/object-status.ts";
import { REASONS } from "../../../domain/conditions.ts";
import { describeWorlds } from "../fixtures/setup.ts";
import { HOUR, key, startWorld } from "../fixtures/world.ts";

/** Admission refuses a change of these. */
const FIXED = /spec\.(secret\.name|secret\.dataKey|publicID|source)/;

it("no advice is to change what admission lets nobody change", () => {
  const advised = Object.values(REASONS).filter((advice) => FIXED.test(advice));
  expect(advised).toHaveLength(3);
  for (const advice of advised) expect(advice).toMatch(/[Dd]eclare another (PlatformKey|ModelGateway) with another/);
});

it("what could not be looked at is unknown, and what could not be applied is not ready", () => {
  const object = { kind: "PlatformKey", generation: 2 } as DeclaredObject;
  const readyAfter = (reason: string, status: "True" | "False" | "Unknown", observedGeneration: number) => {
    const before = { type: "Ready", status, reason, message: "m", observedGeneration, lastTransitionTime: "t" };
    const old: ObjectStatus = { conditions: [before] };
    const next = retryingStatus({ ...object, status: old }, new Error("the database is away"), 0);
    const ready = next.conditions?.filter(({ type }) => type === "Ready") ?? [];
    expect(next.conditions?.some(({ type, status }) => type === "Reconciling" && status === "True")).toBe(true);
    return ready.map((one) => `${one.status}/${one.reason}`);
  };
  expect(readyAfter("Pending", "Unknown", 0)).toEqual(["Unknown/Retrying"]);
  expect(readyAfter("Ready", "True", 1)).toEqual(["False/Retrying"]);
  expect(readyAfter("Ready", "True", 2), "what was applied stays so").toEqual(["True/Ready"]);
  const none = retryingStatus(object, new Error("the database is away"), 0);
  expect(none.conditions?.[0]).toMatchObject({ type: "Ready", status: "Unknown", reason: "Retrying" });
  expect(none.conditions?.[0]?.message).toContain("the database is away");
});

describeWorlds("the status of a key", (setup) => {
  it("that is revoked does not promise a version", async (context) => {
    const world = await startWorld(context, setup(), key("never", { state: "Revoked" }), key("agent"));
    await world.declare(key("agent", { state: "Revoked" }));
    for (const name of ["never", "agent"]) {
      expect(world.condition("SecretDelivered", name), name).toBe("False/Revoked");
      expect(world.condition("Ready", name), name).toBe("True/Revoked");
    }
  });

  it("that was imported names no Secret before it has one", async (context) => {
    const source = { type: "ImportHash", hash: { sha256: "ab".repeat(32), prefix: "inf_brought1" } };
    const world = await startWorld(context, setup(), key("brought", { source }), key("minted"));
    expect((await world.status("brought")).secretRef).toBeUndefined();
    expect((await world.status("minted")).secretRef).toEqual({ name: "minted", dataKey: "api-key" });
    await world.declare(key("brought", { source, rotation: { trigger: "now" } }));
    expect((await world.status("brought")).secretRef).toEqual({ name: "brought", dataKey: "api-key" });
  });

  it("names no time of a rotation that has passed", async (context) => {
    const rotation = { interval: "10h", overlap: { duration: "1h" } };
    const world = await startWorld(context, setup(), key("agent", { rotation }));
    expect((await world.status("agent")).nextRotationTime).toBeDefined();
    await world.declare(key("agent", { rotation, state: "Suspended" }));
    await world.advance(20 * HOUR);
    expect((await world.status("agent")).nextRotationTime).toBeUndefined();
  });
});
