/** Statuses that said what was not so. */
import { expect, it } from "vitest";
import type { DeclaredObject, ObjectStatus } from "../../../controller/cluster/port.ts";
import { retryingStatus } from "../../../controller/context/object-status.ts";
import { REASONS } from "../../../domain/conditions.ts";
import { rfc3339 } from "../../../domain/rfc3339.ts";
import { kstatusOf } from "../../env/kubernetes/kstatus.ts";
import { until } from "../../env/until.ts";
import { withCalls } from "../fixtures/cluster-calls.ts";
import { describeWorlds } from "../fixtures/setup.ts";
import { HOUR, key, library, startWorld, team, type World } from "../fixtures/world.ts";

/** Admission refuses a change of these. */
const FIXED = /spec\.(secret\.name|secret\.dataKey|publicID|source)/;

it("no advice is to change what admission never lets change", () => {
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

const messageOf = (world: World, type: string, name: string) =>
  world.get("PlatformKey", name)?.status?.conditions?.find((one) => one.type === type)?.message;

describeWorlds("the status of a key", (setup) => {
  it("that is revoked does not promise a version", async (context) => {
    const world = await startWorld(context, setup(), key("never", { state: "Revoked" }), key("agent"));
    await world.declare(key("agent", { state: "Revoked" }));
    for (const name of ["never", "agent"]) {
      expect(world.condition("SecretDelivered", name), name).toBe("False/Revoked");
      expect(world.condition("Ready", name), name).toBe("True/Revoked");
    }
  });

  it("of which a step fails says what was found before it: no key is Ready whose Secret is lost", async (context) => {
    let isAway = false;
    const wrap = withCalls(({ createSecret }) => ({
      createSecret: (draft) => (isAway ? Promise.reject(new Error("the API server is away")) : createSecret(draft)),
    }));
    const world = await startWorld(context, { ...setup(), wrap }, key("agent"));
    expect(world.condition("Ready", "agent")).toBe("True/Ready");
    isAway = true;
    await world.loseSecret("agent");
    const failed = () => messageOf(world, "Reconciling", "agent")?.includes("the API server is away") === true;
    await until("the step has failed", failed);
    expect(world.condition("Ready", "agent")).not.toMatch(/^True/);
    isAway = false;
    await world.rest();
    expect(world.condition("Ready", "agent")).toBe("True/Ready");
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

  it("names no time of a rotation that does not come: the key ends before it, or is suspended", async (context) => {
    const rotation = { interval: "10h", overlap: { duration: "1h" } };
    const expiresAt = new Date(Date.now() + 5 * HOUR).toISOString();
    const world = await startWorld(
      context,
      setup(),
      key("ends", { rotation, expiresAt }),
      key("rests", { rotation, state: "Suspended" }),
      key("agent", { rotation }),
    );
    await world.declare(key("agent", { rotation, state: "Suspended" }));
    for (const name of ["ends", "rests", "agent"]) {
      expect((await world.status(name)).nextRotationTime, name).toBeUndefined();
    }
    await world.declare(key("agent", { rotation }));
    expect((await world.status("agent")).nextRotationTime).toBeDefined();
  });

  it("names the time at which there is room for a rotation, and reconciles until then", async (context) => {
    const spec = (trigger: string) => key("agent", { rotation: { trigger, overlap: { duration: "1h" } } });
    const world = await startWorld(context, setup(), spec("a"));
    for (const trigger of ["b", "c", "d", "e", "f"]) await world.declare(spec(trigger));
    const slotAt = (await world.stored("agent")).versions.at(-1)?.retireAt ?? expect.fail("no old version");
    const { conditions, nextRotationTime } = await world.status("agent");
    expect(nextRotationTime).toBe(rfc3339(slotAt));
    expect(world.condition("Ready", "agent")).toBe("True/Ready");
    expect(world.condition("Reconciling", "agent")).toBe("True/RotationDelayed");
    const { message } = conditions.find(({ type }) => type === "Reconciling") ?? {};
    expect(message).toContain("spec.rotation.trigger has changed");
    expect(message).toContain(rfc3339(slotAt));
    const metadata = { generation: world.get("PlatformKey", "agent")?.generation ?? 0 };
    expect(kstatusOf({ metadata, status: await world.status("agent") })).toBe("InProgress");

    await world.advance(HOUR);
    expect(world.condition("Reconciling", "agent")).toBeUndefined();
    expect((await world.status("agent")).nextRotationTime).toBeUndefined();
  });

  it("whose Secret is lost says why nothing is minted", async (context) => {
    const world = await startWorld(
      context,
      setup(),
      library("notes"),
      ...["suspended", "expired", "unlinked", "unclaimed"].map((name) => key(name)),
      key("old", { expiresAfter: "2h" }),
    );
    const missing = { libraryAccess: { mode: "Restricted", libraryRefs: [{ name: "missing" }] } };
    await world.declare(
      key("suspended", { state: "Suspended" }),
      key("expired", { expiresAt: new Date(Date.now() - HOUR).toISOString() }),
      key("unlinked", missing),
    );
    for (const name of ["suspended", "expired", "unlinked"]) await world.loseSecret(name);
    await world.advance(3 * HOUR);
    await world.loseSecret("old");
    await world.advance(1_000);
    for (const [name, reason] of [
      ["suspended", "Suspended"],
      ["expired", "Expired"],
      ["unlinked", "ReferenceNotFound"],
      ["old", "Expired"],
    ] as const) {
      await until(name, () => world.condition("SecretDelivered", name) === `False/${reason}`);
      expect(messageOf(world, "SecretDelivered", name)).toMatch(/^Secret \w+ is gone\. .*[Nn]othing is minted/);
    }
    await world.declare(team("team-a", []));
    await world.loseSecret("unclaimed");
    await world.advance(1_000);
    await until(
      "the loss is reported",
      () => world.condition("SecretDelivered", "unclaimed") === "False/NamespaceUnclaimed",
    );
  });

  it("that is suspended does not say that an old version is accepted", async (context) => {
    const rotation = { trigger: "now" };
    const world = await startWorld(context, setup(), key("agent"));
    const first = await world.plaintextOf("agent");
    await world.declare(key("agent", { rotation }));
    expect(messageOf(world, "Rotating", "agent")).toMatch(/^Still accepted beside the active version: version 1 until/);
    await world.declare(key("agent", { rotation, state: "Suspended" }));
    expect(world.decide(first)).not.toBe("allowed");
    expect(messageOf(world, "Rotating", "agent")).toMatch(/^Refused with the key, which is suspended.*version 1 until/);
  });
});
