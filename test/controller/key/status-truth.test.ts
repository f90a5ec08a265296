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
  expect(advised).toHaveLength(4);
  const another = /declare another (PlatformKey|ModelGateway),? with another|delete the declaration and make it again/i;
  for (const advice of advised) expect(advice).toMatch(another);
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
  it("promises no version of a revoked one, names no Secret of an imported one, and no accepted version of a suspended one", async (context) => {
    const source = { type: "ImportHash", hash: { sha256: "ab".repeat(32), prefix: "inf_brought1" } };
    const rotation = { trigger: "now" };
    const world = await startWorld(
      context,
      setup(),
      key("never", { state: "Revoked" }),
      key("brought", { source }),
      ...["agent", "turned"].map((name) => key(name)),
    );
    expect((await world.status("brought")).secretRef).toBeUndefined();
    expect((await world.status("turned")).secretRef).toEqual({ name: "turned", dataKey: "api-key" });
    const first = await world.plaintextOf("turned");
    await world.declare(
      key("agent", { state: "Revoked" }),
      key("brought", { source, rotation }),
      key("turned", { rotation }),
    );
    for (const name of ["never", "agent"]) {
      expect(world.condition("SecretDelivered", name), name).toBe("False/Revoked");
      expect(world.condition("Ready", name), name).toBe("True/Revoked");
    }
    expect((await world.status("brought")).secretRef).toEqual({ name: "brought", dataKey: "api-key" });
    const rotating = () => messageOf(world, "Rotating", "turned");
    expect(rotating()).toMatch(/^Still accepted beside the active version: version 1 until/);
    await world.declare(key("turned", { rotation, state: "Suspended" }));
    expect(world.decide(first)).not.toBe("allowed");
    expect(rotating()).toMatch(/^Refused with the key, which is suspended.*version 1 until/);
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

  it("names no time of a rotation that has passed or does not come: the key ends before it, or is suspended", async (context) => {
    const rotation = { interval: "10h", overlap: { duration: "1h" } };
    const expiresAt = new Date(Date.now() + 5 * HOUR).toISOString();
    const world = await startWorld(
      context,
      setup(),
      key("ends", { rotation, expiresAt }),
      key("rests", { rotation, state: "Suspended" }),
      ...["agent", "passed"].map((name) => key(name, { rotation })),
    );
    const timeOf = async (name: string) => (await world.status(name)).nextRotationTime;
    for (const name of ["agent", "passed"]) expect(await timeOf(name), name).toBeDefined();
    const suspended = (name: string) => key(name, { rotation, state: "Suspended" });
    await world.declare(suspended("agent"), suspended("passed"));
    for (const name of ["ends", "rests", "agent"]) expect(await timeOf(name), name).toBeUndefined();
    await world.declare(key("agent", { rotation }));
    expect(await timeOf("agent")).toBeDefined();
    await world.advance(20 * HOUR);
    expect(await timeOf("passed")).toBeUndefined();
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
});
