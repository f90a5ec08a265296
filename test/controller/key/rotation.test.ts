import { expect, it } from "vitest";
import { rfc3339 } from "../../../domain/rfc3339.ts";
import { until } from "../../env/until.ts";
import { describeWorlds } from "../fixtures/setup.ts";
import { HOUR, key, startWorld, type World } from "../fixtures/world.ts";

const fixed = (duration: string, rest: Record<string, unknown> = {}) => ({
  rotation: { overlap: { mode: "Fixed", duration }, ...rest },
});

/** Declares triggers, by the names of their keys, and waits for the keys that they bring about. */
async function trigger(world: World, specs: Record<string, Record<string, unknown>>): Promise<string[]> {
  const names = Object.keys(specs);
  const before = await Promise.all(names.map((name) => world.plaintextOf(name)));
  await world.declare(...Object.entries(specs).map(([name, spec]) => key(name, spec)));
  const after = await Promise.all(names.map((name) => world.plaintextOf(name)));
  for (const [i, name] of names.entries()) expect(after[i], name).not.toBe(before[i]);
  return after;
}

const states = async (world: World, name: string) =>
  (await world.stored(name)).versions.map(({ number, state }) => `${number} ${state}`);

describeWorlds("a rotated key", (setup) => {
  it("has both versions work for the overlap, none where none is declared, and 24 h where nothing is said", async (context) => {
    const world = await startWorld(
      context,
      setup(),
      key("agent", fixed("1h")),
      key("strict", fixed("0s")),
      key("default"),
    );
    const names = ["agent", "strict", "default"];
    const before = await Promise.all(names.map((name) => world.plaintextOf(name)));
    const after = await trigger(world, {
      agent: fixed("1h", { trigger: "2026-11" }),
      strict: fixed("0s", { trigger: "now" }),
      default: { rotation: { trigger: "now" } },
    });
    expect(after.map((each) => world.decide(each))).toEqual(["allowed", "allowed", "allowed"]);
    const old = () => before.map((each) => world.decide(each));
    expect(old()).toEqual(["allowed", "unauthorized", "allowed"]);
    expect(world.condition("Rotating", "agent")).toBe("True/Rotating");
    expect(world.condition("Ready", "agent")).toBe("True/Ready");

    await world.advance(HOUR - 60_000);
    expect(old()).toEqual(["allowed", "unauthorized", "allowed"]);
    await world.advance(60_001);
    expect(old()).toEqual(["unauthorized", "unauthorized", "allowed"]);
    expect(world.decide(after[0] ?? "")).toBe("allowed");
    expect(await states(world, "agent")).toEqual(["2 active", "1 retired"]);
    expect(world.condition("Rotating", "agent")).toBe("False/NotRotating");
    await world.advance(23 * HOUR);
    expect(old()).toEqual(["unauthorized", "unauthorized", "unauthorized"]);
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

  it("rotates once for an interval that passed several times while no controller ran, and not while it is suspended", async (context) => {
    const world = await startWorld(context, setup(), key("agent", fixed("1h", { interval: "10h" })), key("paused"));
    const paused = await world.plaintextOf("paused");
    await world.declare(key("paused", { state: "Suspended", rotation: { trigger: "a" } }));
    await world.stop();
    await world.advance(100 * HOUR);
    await world.start();
    await world.rest();
    expect(await states(world, "agent")).toEqual(["2 active", "1 retiring"]);
    await world.declare(key("paused", { state: "Suspended", rotation: { trigger: "b" } }));
    expect(await world.plaintextOf("paused")).toBe(paused);
    await world.declare(key("paused", { rotation: { trigger: "b" } }));
    expect(await states(world, "paused"), "once when it is resumed").toEqual(["2 active", "1 retiring"]);
    expect(world.decide(await world.plaintextOf("paused"))).toBe("allowed");
  });

  it("c51: has four old versions at most, of which it lists five: a fifth rotation waits, says until when, and comes then", async (context) => {
    const world = await startWorld(context, setup(), key("agent", fixed("1h")), key("strict", fixed("0s")));
    const keys = [await world.plaintextOf("agent")];
    for (const value of ["a", "b", "c", "d"]) {
      // So that no other one retires while the end of the first one is looked at.
      await world.advance(60_000);
      const [next = ""] = await trigger(world, {
        agent: fixed("1h", { trigger: value }),
        strict: fixed("0s", { trigger: value }),
      });
      keys.push(next);
    }
    await world.declare(key("agent", fixed("1h", { trigger: "e" })), key("strict", fixed("0s", { trigger: "e" })));
    expect(keys.map((each) => world.decide(each))).toEqual(Array(5).fill("allowed"));
    expect(await states(world, "agent")).toEqual(["5 active", "4 retiring", "3 retiring", "2 retiring", "1 retiring"]);
    const { versions, conditions } = await world.status("agent");
    const until = (await world.stored("agent")).versions.at(-1)?.retireAt ?? 0;
    expect(versions?.map(({ number }) => number)).toEqual([5, 4, 3, 2, 1]);
    expect(conditions.find(({ type }) => type === "Rotating")?.message).toContain(
      `The next rotation waits until ${rfc3339(until)}`,
    );

    await trigger(world, { strict: fixed("0s", { trigger: "f" }) });
    const strict = await world.status("strict");
    expect(strict.versions?.map(({ number }) => number)).toEqual([7, 6, 5, 4, 3]);
    expect(strict.currentVersion).toBe(7);

    await world.advance(until - world.clock.now());
    const [first, ...others] = keys;
    expect(world.decide(first ?? "")).toBe("unauthorized");
    expect(await states(world, "agent")).toContain("6 active");
    expect(others.map((each) => world.decide(each))).toEqual(Array(4).fill("allowed"));
  });
});

describeWorlds("a key with an end", (setup) => {
  it("ends so long after each mint, and a rotation begins a new life; or ends then, and a later end revives it", async (context) => {
    const spec = { expiresAfter: "48h" };
    const at = (hours: number) => ({
      expiresAt: new Date(Math.floor(start / 1000 + hours * 3_600) * 1000).toISOString(),
    });
    const start = Date.now();
    const world = await startWorld(
      context,
      setup(),
      key("agent", spec),
      key("fixed", at(24)),
      key("over", { expiresAt: "2020-01-01T00:00:00Z" }),
    );
    expect(await world.keyIn("over"), "one that is over when it is declared is not minted").toBeUndefined();
    expect(world.condition("Stalled", "over")).toBe("True/Expired");
    const [first, fixed] = [await world.plaintextOf("agent"), await world.plaintextOf("fixed")];
    expect([world.decide(first), world.decide(fixed)]).toEqual(["allowed", "allowed"]);
    const end = Date.parse((await world.status("agent")).expiresAt ?? "");
    expect(Math.abs(end - world.clock.now() - 48 * HOUR)).toBeLessThan(60_000);
    await world.advance(24 * HOUR);
    expect(world.decide(fixed)).toBe("unauthorized");
    expect(world.condition("Ready", "fixed")).toBe("False/Expired");
    await world.loseSecret("fixed");
    const [second = ""] = await trigger(world, { agent: { ...spec, rotation: { trigger: "mid-life" } } });
    await world.advance(24 * HOUR);
    expect([world.decide(first), world.decide(second)]).toEqual(["unauthorized", "allowed"]);
    expect(await world.keyIn("fixed"), "an expired key is not given a new life").toBeUndefined();
    await world.advance(24 * HOUR);
    expect(world.decide(second)).toBe("unauthorized");
    expect(world.condition("Ready", "agent")).toBe("False/Expired");
    expect(world.condition("Stalled", "agent")).toBe("True/Expired");

    await world.declare(key("fixed", at(96)));
    expect(world.decide(fixed)).toBe("allowed");
    expect(world.decide(await world.plaintextOf("fixed"))).toBe("allowed");
    expect(world.condition("Ready", "fixed")).toBe("True/Ready");
    const [third = ""] = await trigger(world, { agent: { ...spec, rotation: { trigger: "again" } } });
    expect(world.decide(third)).toBe("allowed");
    expect(world.condition("Ready", "agent")).toBe("True/Ready");
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
