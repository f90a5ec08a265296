import { hash, randomBytes } from "node:crypto";
import { expect, it } from "vitest";
import { describeWorlds } from "./fixtures/setup.ts";
import { HOUR, key, type Manifest, startWorld } from "./fixtures/world.ts";

/** A key as another system made it: of another shape than ours. */
const elsewhere = () => `inf_${randomBytes(24).toString("hex")}`;

const legacy = (value: string): Manifest => ({ kind: "Secret", name: "legacy", stringData: { token: value } });
const fromSecret = (more: Record<string, unknown> = {}) =>
  key("agent", {
    source: { type: "ImportSecret", secretRef: { name: "legacy", key: "token" } },
    secret: { name: "agent-key" },
    ...more,
  });

describeWorlds("an imported key", (setup) => {
  it("works with the secret that it had; rotated it is written to secret.name, and the old one works on", async (context) => {
    const value = elsewhere();
    const world = await startWorld(context, setup(), legacy(value), fromSecret());
    expect(world.decide(value)).toBe("allowed");
    expect(world.condition("SecretDelivered", "agent")).toBe("True/Imported");
    expect(await world.keyIn("agent-key")).toBeUndefined();

    await world.declare(fromSecret({ rotation: { trigger: "now", overlap: { mode: "Fixed", duration: "1h" } } }));
    const next = await world.plaintextOf("agent-key");
    expect(next).toHaveLength(61);
    expect([world.decide(value), world.decide(next)]).toEqual(["allowed", "allowed"]);
    expect((await world.cluster().readSecret("dev", "legacy"))?.data.token, "never written to").toBe(value);
    await world.advance(HOUR + 1_000);
    expect([world.decide(value), world.decide(next)]).toEqual(["unauthorized", "allowed"]);
  });

  it("is learned once: what the Secret holds later never becomes a key", async (context) => {
    const [value, later] = [elsewhere(), elsewhere()];
    const world = await startWorld(context, setup(), legacy(value), fromSecret());
    await world.declare(legacy(later), fromSecret({ displayName: "Another name" }));
    await world.restart();
    expect([world.decide(value), world.decide(later)]).toEqual(["allowed", "unauthorized"]);
    expect((await world.stored("agent")).versions).toHaveLength(1);
  });

  it("from a hash works with the secret that nobody here has seen, under its own prefix", async (context) => {
    const value = elsewhere();
    const prefix = value.slice(0, 12);
    const source = { type: "ImportHash", hash: { sha256: hash("sha256", value), prefix } };
    const world = await startWorld(context, setup(), key("agent", { source }));
    expect(world.decide(value)).toBe("allowed");
    expect((await world.status("agent")).keyPrefix).toBe(prefix);
    expect(world.condition("Ready", "agent")).toBe("True/Ready");
  });

  it("that could be guessed, or is another's, is refused, and says so without the secret", async (context) => {
    const short = `inf_${"a".repeat(31)}`;
    const world = await startWorld(context, setup(), legacy(short), fromSecret());
    expect(world.decide(short)).toBe("unauthorized");
    expect(world.condition("Ready", "agent")).toBe("False/ImportUnusable");
    expect(JSON.stringify(await world.status("agent"))).not.toContain(short);

    const value = elsewhere();
    await world.declare(legacy(value), fromSecret({ displayName: "Long enough" }));
    expect(world.decide(value)).toBe("allowed");
    const source = { type: "ImportSecret", secretRef: { name: "legacy", key: "token" } };
    await world.declare(key("second", { source, secret: { name: "second-key" } }));
    expect(world.condition("Ready", "second")).toBe("False/ImportUnusable");
  });
});
