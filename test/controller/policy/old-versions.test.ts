import { expect, it } from "vitest";
import { rfc3339 } from "../../../domain/rfc3339.ts";
import { describeWorlds } from "../fixtures/setup.ts";
import { HOUR, key, type Manifest, startWorld } from "../fixtures/world.ts";

const DAY = 24 * HOUR;

const policy = (spec: Record<string, unknown>, name = "production"): Manifest => ({
  kind: "PlatformKeyPolicy",
  name,
  namespace: "",
  spec: { teamSelector: { matchNames: ["team-a"] }, ...spec },
});

describeWorlds("the old versions of a key whose team has a policy", (setup) => {
  it("b438: live no longer than expiry.max from their mint, however often the key's end moves on with a new version", async (context) => {
    const world = await startWorld(context, setup(), policy({ expiry: { max: "720h" } }));
    const overlap = { mode: "Fixed", duration: "90000h" };
    const agent = (trigger: string, expiresAt: number) =>
      key("agent", { expiresAt: rfc3339(expiresAt), rotation: { trigger, overlap } });
    let end = world.clock.now() + 29 * DAY;
    await world.declare(agent("one", end));
    const first = await world.plaintextOf("agent");
    const [{ mintedAt } = { mintedAt: 0 }] = (await world.stored("agent")).versions;
    for (const trigger of ["two", "three", "four"]) {
      await world.advance(28 * DAY);
      await world.declare(agent(trigger, end));
      end = world.clock.now() + 29 * DAY;
      await world.declare(agent(trigger, end));
      expect(world.condition("Ready", "agent")).toBe("True/Ready");
      expect(world.condition("PolicyViolated", "agent")).toBeUndefined();
    }
    expect(await world.plaintextOf("agent")).not.toBe(first);
    expect(world.decide(first), `after ${(world.clock.now() - mintedAt) / DAY} days`).not.toBe("allowed");
    expect((world.record(first)?.expiresAt ?? mintedAt) - mintedAt).toBeLessThanOrEqual(30 * DAY);
  });

  it("b438, b160: live no longer than an expiry.max that is due, while an edit that breaks another policy waits", async (context) => {
    const agent = (trigger: string, scopes: readonly string[]) =>
      key("agent", { scopes, rotation: { trigger, overlap: { mode: "Fixed", duration: "90000h" } } });
    const world = await startWorld(context, setup(), agent("one", ["memory:read"]));
    const first = await world.plaintextOf("agent");
    await world.declare(agent("two", ["memory:read"]));
    await world.declare(policy({ allowedScopes: ["memory:read"] }));
    await world.declare(agent("two", ["memory:read", "memory:write"]));
    expect(world.condition("Ready", "agent")).toBe("False/PolicyViolated");
    await world.declare(policy({ expiry: { max: "720h" } }, "lives"));
    await world.advance(29 * DAY);
    expect(world.decide(first)).toBe("allowed");
    await world.advance(2 * DAY);
    expect(world.decide(first)).not.toBe("allowed");
  });
});
