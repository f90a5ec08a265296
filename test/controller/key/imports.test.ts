import { hash, randomBytes } from "node:crypto";
import { expect, it } from "vitest";
import { describeWorlds } from "../fixtures/setup.ts";
import { HOUR, key, type Manifest, startWorld, team } from "../fixtures/world.ts";

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

  it("b90: from a hash works with the secret that this process has never seen, under its own prefix and no other key's", async (context) => {
    const world = await startWorld(context, setup(), key("victim"));
    const victim = await world.plaintextOf("victim");
    const value = elsewhere();
    const source = (prefix: string) => ({ type: "ImportHash", hash: { sha256: hash("sha256", value), prefix } });
    await world.declare(key("agent", { source: source(victim.slice(0, 12)) }));
    expect(world.condition("Ready", "agent")).toBe("False/ImportUnusable");
    expect(JSON.stringify(await world.status("agent"))).toContain("identifies another key");
    expect(world.decide(value)).toBe("unauthorized");

    await world.declare(key("fleet", { source: source(value.slice(0, 12)) }));
    expect([world.decide(value), world.decide(victim)]).toEqual(["allowed", "allowed"]);
    expect((await world.status("fleet")).keyPrefix).toBe(value.slice(0, 12));
    expect(world.condition("Ready", "fleet")).toBe("True/Ready");
  });

  it("b90: whose text begins as another key does is refused, and several of one foreign system are not", async (context) => {
    const world = await startWorld(context, setup(), key("victim"));
    const victim = await world.plaintextOf("victim");
    await world.declare(legacy(`${victim.slice(0, 12)}${"x".repeat(30)}`), fromSecret());
    expect(world.condition("Ready", "agent")).toBe("False/ImportUnusable");

    const [first, second] = ["a", "b"].map((c) => `inf_live-of-old-${c.repeat(32)}`);
    await world.declare(legacy(first ?? ""), fromSecret({ displayName: "Mended" }));
    const other = { kind: "Secret", name: "other", stringData: { token: second ?? "" } } as const;
    const source = { type: "ImportSecret", secretRef: { name: "other", key: "token" } };
    await world.declare(other, key("second", { source, secret: { name: "second-key" } }));
    expect([world.decide(first ?? ""), world.decide(second ?? "")]).toEqual(["allowed", "allowed"]);
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

  it("that stands where the name of its data key belongs is in no status, event or line", async (context) => {
    const value = elsewhere();
    const source = { type: "ImportSecret", secretRef: { name: "legacy", key: value } };
    const webhook = {
      url: "https://hooks.example",
      events: ["key.rotated"],
      secretRef: { namespace: "dev", name: "legacy", key: value },
    };
    const credentialRef = { name: "legacy", key: value };
    const upstreams = [{ name: "a", dialect: "openai", baseURL: "https://a.example", credentialRef }];
    const world = await startWorld(context, setup(), legacy("sk-1"));
    const main: Manifest = { kind: "ModelGateway", name: "main", spec: { upstreams } };
    await world.declare(fromSecret({ source }), main, team("team-a", ["dev"], { webhooks: [webhook] }));
    const reasons = [
      world.condition("Ready", "agent"),
      world.condition("Ready", "main", "ModelGateway"),
      world.condition("Ready", "team-a", "PlatformTeam", ""),
    ];
    expect(reasons).toEqual(["False/ImportUnusable", "False/CredentialNotFound", "False/WebhookSecretNotFound"]);
    const written = [
      world.get("PlatformKey", "agent")?.status,
      world.get("ModelGateway", "main")?.status,
      world.get("PlatformTeam", "team-a", "")?.status,
      world.lines,
    ];
    expect(JSON.stringify(written)).not.toContain(value);
  });
});
