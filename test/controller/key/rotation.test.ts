import { expect, it } from "vitest";
import { rfc3339 } from "../../../domain/rfc3339.ts";
import { until } from "../../env/until.ts";
import { describeWorlds } from "../fixtures/setup.ts";
import { HOUR, key, startWorld, type World } from "../fixtures/world.ts";

const fixed = (duration: string, rest: Record<string, unknown> = {}) => ({
  rotation: { overlap: { mode: "Fixed", duration }, ...rest },
});

/** Declares the trigger and waits for the key that it brings about. */
async function trigger(world: World, name: string, spec: Record<string, unknown>): Promise<string> {
  const before = await world.plaintextOf(name);
  await world.declare(key(name, spec));
  const after = await world.plaintextOf(name);
  expect(after).not.toBe(before);
  return after;
}

const states = async (world: World, name: string) =>
  (await world.stored(name)).versions.map(({ number, state }) => `${number} ${state}`);

describeWorlds("a rotated key", (setup) => {
  it("has both versions work for the overlap, and the old one refused at its deadline", async (context) => {
    const world = await startWorld(context, setup(), key("agent", fixed("1h")));
    const first = await world.plaintextOf("agent");
    const second = await trigger(world, "agent", fixed("1h", { trigger: "2026-11" }));
    expect([world.decide(first), world.decide(second)]).toEqual(["allowed", "allowed"]);
    expect(world.condition("Rotating", "agent")).toBe("True/Rotating");
    expect(world.condition("Ready", "agent")).toBe("True/Ready");

    await world.advance(HOUR - 60_000);
    expect(world.decide(first)).toBe("allowed");
    await world.advance(60_001);
    expect([world.decide(first), world.decide(second)]).toEqual(["unauthorized", "allowed"]);
    expect(await states(world, "agent")).toEqual(["2 active", "1 retired"]);
    expect(world.condition("Rotating", "agent")).toBe("False/NotRotating");
  });

  it("has no overlap where none is declared, and one of 24 h where nothing is said", async (context) => {
    const world = await startWorld(context, setup(), key("strict", fixed("0s")), key("default"));
    const strict = await world.plaintextOf("strict");
    const before = await world.plaintextOf("default");
    await trigger(world, "strict", fixed("0s", { trigger: "now" }));
    await trigger(world, "default", { rotation: { trigger: "now" } });
    expect(world.decide(strict)).toBe("unauthorized");
    expect(world.decide(before)).toBe("allowed");
    await world.advance(24 * HOUR + 1);
    expect(world.decide(before)).toBe("unauthorized");
  });

  it("rotates when its interval has passed, and says beforehand when", async (context) => {
    const spec = fixed("1h", { interval: "100h" });
    const world = await startWorld(context, setup(), key("agent", spec));
    const first = await world.plaintextOf("agent");
    const due = Date.parse((await world.status("agent")).nextRotationTime ?? "");
    const passes = (due - world.clock.now()) / HOUR;
    expect(passes).toBeGreaterThan(94.9);
    expect(passes).toBeLessThanOrEqual(100);
    await world.advance(due - world.clock.now() - 60_000);
    expect(await world.plaintextOf("agent")).toBe(first);
    await world.advance(62_000);
    const second = await world.plaintextOf("agent");
    expect(second).not.toBe(first);
    expect([world.decide(first), world.decide(second)]).toEqual(["allowed", "allowed"]);
    expect(Date.parse((await world.status("agent")).nextRotationTime ?? "") - due).toBeGreaterThan(94 * HOUR);
  });

  it("rotates once for an interval that passed several times while no controller ran", async (context) => {
    const world = await startWorld(context, setup(), key("agent", fixed("1h", { interval: "10h" })));
    await world.stop();
    await world.advance(100 * HOUR);
    await world.start();
    await world.rest();
    expect(await states(world, "agent")).toEqual(["2 active", "1 retiring"]);
  });

  it("c51: has four old versions at most: a fifth rotation waits, says until when, and comes then", async (context) => {
    const world = await startWorld(context, setup(), key("agent", fixed("1h")));
    const keys = [await world.plaintextOf("agent")];
    for (const value of ["a", "b", "c", "d"]) {
      // So that no other one retires while the end of the first one is looked at.
      await world.advance(60_000);
      keys.push(await trigger(world, "agent", fixed("1h", { trigger: value })));
    }
    await world.declare(key("agent", fixed("1h", { trigger: "e" })));
    expect(keys.map((each) => world.decide(each))).toEqual(Array(5).fill("allowed"));
    expect(await states(world, "agent")).toEqual(["5 active", "4 retiring", "3 retiring", "2 retiring", "1 retiring"]);
    const { versions, conditions } = await world.status("agent");
    const until = (await world.stored("agent")).versions.at(-1)?.retireAt ?? 0;
    expect(versions?.map(({ number }) => number)).toEqual([5, 4, 3, 2, 1]);
    expect(conditions.find(({ type }) => type === "Rotating")?.message).toContain(
      `The next rotation waits until ${rfc3339(until)}`,
    );

    await world.advance(until - world.clock.now());
    const [first, ...others] = keys;
    expect(world.decide(first ?? "")).toBe("unauthorized");
    expect(await states(world, "agent")).toContain("6 active");
    expect(others.map((each) => world.decide(each))).toEqual(Array(4).fill("allowed"));
  });

  it("is not rotated while it is suspended, and once when it is resumed", async (context) => {
    const world = await startWorld(context, setup(), key("agent"));
    const first = await world.plaintextOf("agent");
    await world.declare(key("agent", { state: "Suspended", rotation: { trigger: "a" } }));
    await world.declare(key("agent", { state: "Suspended", rotation: { trigger: "b" } }));
    expect(await world.plaintextOf("agent")).toBe(first);
    await world.declare(key("agent", { rotation: { trigger: "b" } }));
    expect(await states(world, "agent")).toEqual(["2 active", "1 retiring"]);
    expect(world.decide(await world.plaintextOf("agent"))).toBe("allowed");
  });

  it("lists its last five versions and the current one", async (context) => {
    const world = await startWorld(context, setup(), key("agent", fixed("0s")));
    for (const value of ["a", "b", "c", "d", "e", "f"]) {
      await trigger(world, "agent", fixed("0s", { trigger: value }));
    }
    const { versions, currentVersion } = await world.status("agent");
    expect(versions?.map(({ number }) => number)).toEqual([7, 6, 5, 4, 3]);
    expect(currentVersion).toBe(7);
  });
});

describeWorlds("a key with an end", (setup) => {
  it("with expiresAfter ends that long after each mint, and a rotation begins a new life", async (context) => {
    const spec = { expiresAfter: "48h" };
    const world = await startWorld(context, setup(), key("agent", spec));
    const first = await world.plaintextOf("agent");
    const end = Date.parse((await world.status("agent")).expiresAt ?? "");
    expect(Math.abs(end - world.clock.now() - 48 * HOUR)).toBeLessThan(60_000);
    await world.advance(24 * HOUR);
    const second = await trigger(world, "agent", { ...spec, rotation: { trigger: "mid-life" } });
    await world.advance(24 * HOUR);
    expect([world.decide(first), world.decide(second)]).toEqual(["unauthorized", "allowed"]);
    await world.advance(24 * HOUR);
    expect(world.decide(second)).toBe("unauthorized");
    expect(world.condition("Ready", "agent")).toBe("False/Expired");
    expect(world.condition("Stalled", "agent")).toBe("True/Expired");
    const third = await trigger(world, "agent", { ...spec, rotation: { trigger: "again" } });
    expect(world.decide(third)).toBe("allowed");
    expect(world.condition("Ready", "agent")).toBe("True/Ready");
  });

  it("with expiresAt ends then; a later end revives it with the same secret", async (context) => {
    const at = (ms: number) => ({ expiresAt: new Date(Math.floor(ms / 1000) * 1000).toISOString() });
    const start = Date.now();
    const world = await startWorld(context, setup(), key("agent", at(start + HOUR)));
    const plaintext = await world.plaintextOf("agent");
    expect(world.decide(plaintext)).toBe("allowed");
    await world.advance(HOUR);
    expect(world.decide(plaintext)).toBe("unauthorized");
    expect(world.condition("Ready", "agent")).toBe("False/Expired");
    await world.loseSecret("agent");
    await world.advance(1_000);
    expect(await world.keyIn("agent"), "an expired key is not given a new life").toBeUndefined();

    await world.declare(key("agent", at(start + 3 * HOUR)));
    expect(world.decide(plaintext)).toBe("allowed");
    expect(world.decide(await world.plaintextOf("agent"))).toBe("allowed");
    expect(world.condition("Ready", "agent")).toBe("True/Ready");
  });

  it("that is over when it is declared is not minted", async (context) => {
    const world = await startWorld(context, setup(), key("agent", { expiresAt: "2020-01-01T00:00:00Z" }));
    expect(await world.keyIn("agent")).toBeUndefined();
    expect(world.condition("Stalled", "agent")).toBe("True/Expired");
  });

  it("says that it has expired without anything else having happened", async (context) => {
    const world = await startWorld(context, setup(), key("agent"));
    const expiresAt = new Date(Date.now() + 5_000).toISOString();
    await world.write(key("agent", { expiresAt }));
    await until("the end in the status", () => world.get("PlatformKey", "agent")?.status?.expiresAt !== undefined);
    expect(world.condition("Ready", "agent")).toBe("True/Ready");
    await until("the condition", () => world.condition("Ready", "agent") === "False/Expired");
  });
});
