import { randomBytes } from "node:crypto";
import { expect, it } from "vitest";
import { ClusterError } from "../../../controller/cluster/port.ts";
import { mintKey } from "../../../domain/key/secret/key-format.ts";
import { until } from "../../env/until.ts";
import { withCalls } from "../fixtures/cluster-calls.ts";
import { describeWorlds } from "../fixtures/setup.ts";
import { key, startWorld, team, type World } from "../fixtures/world.ts";

const stranger = () => mintKey(randomBytes);

async function nextKey(world: World, name: string, after: string): Promise<string> {
  const next = await until("another key in the Secret", async () => {
    const value = await world.keyIn(name);
    return value === after ? undefined : value;
  });
  await world.rest();
  return next;
}

/** As a person makes them by hand. */
const withImmutableSecrets = withCalls(({ readSecret }) => ({
  async readSecret(namespace, name) {
    const secret = await readSecret(namespace, name);
    return secret && { ...secret, immutable: true };
  },
}));

describeWorlds("the Secret of a key", (setup) => {
  it("that was deleted comes back with a new key, and the old one works on for the overlap", async (context) => {
    const world = await startWorld(context, setup(), key("agent"));
    const first = await world.plaintextOf("agent");
    await world.loseSecret("agent");
    const second = await nextKey(world, "agent", first);
    expect([world.decide(first), world.decide(second)]).toEqual(["allowed", "allowed"]);
    expect((await world.stored("agent")).versions.map(({ state }) => state)).toEqual(["active", "retiring"]);
  });

  it("that was deleted while no controller ran comes back with a new key", async (context) => {
    const world = await startWorld(context, setup(), key("agent"));
    const first = await world.plaintextOf("agent");
    await world.stop();
    await world.loseSecret("agent");
    await world.start();
    await world.rest();
    const second = await world.plaintextOf("agent");
    expect(second).not.toBe(first);
    expect(world.decide(second)).toBe("allowed");
  });

  it("b69: that was edited gets a new version, and the edited value never becomes a key", async (context) => {
    const world = await startWorld(context, setup(), key("agent"));
    const first = await world.plaintextOf("agent");
    const planted = stranger();
    await world.editSecret("agent", planted);
    const second = await nextKey(world, "agent", planted);
    expect([first, planted, second].map((each) => world.decide(each))).toEqual(["allowed", "unauthorized", "allowed"]);
    expect((await world.stored("agent")).versions).toHaveLength(2);
  });

  it("b69: into which an old version was put back gets a new one", async (context) => {
    const world = await startWorld(context, setup(), key("agent"));
    const first = await world.plaintextOf("agent");
    await world.declare(key("agent", { rotation: { trigger: "next" } }));
    const second = await world.plaintextOf("agent");
    await world.editSecret("agent", first);
    const third = await nextKey(world, "agent", first);
    expect(third).not.toBe(second);
    expect(world.decide(third)).toBe("allowed");
  });

  it("with onLost Report is missed, said so, and not made again until it is rotated", async (context) => {
    const spec = { secret: { onLost: "Report" } };
    const world = await startWorld(context, setup(), key("agent", spec));
    const first = await world.plaintextOf("agent");
    await world.loseSecret("agent");
    await until("the condition", () => world.condition("SecretDelivered", "agent") === "False/SecretLost");
    await world.restart();
    expect(world.condition("Ready", "agent")).toBe("False/SecretLost");
    expect(await world.keyIn("agent")).toBeUndefined();
    expect(world.decide(first)).toBe("allowed");
    await world.declare(key("agent", { ...spec, rotation: { trigger: "again" } }));
    expect(world.decide(await world.plaintextOf("agent"))).toBe("allowed");
    expect(world.condition("Ready", "agent")).toBe("True/Ready");
  });

  it("with onTampered Report is left as it was edited, and never silently Ready", async (context) => {
    const spec = { secret: { onTampered: "Report" } };
    const world = await startWorld(context, setup(), key("agent", spec));
    const first = await world.plaintextOf("agent");
    const planted = stranger();
    await world.editSecret("agent", planted);
    await until("the condition", () => world.condition("Ready", "agent") === "False/SecretTampered");
    await world.restart();
    expect(await world.keyIn("agent")).toBe(planted);
    expect([world.decide(first), world.decide(planted)]).toEqual(["allowed", "unauthorized"]);
    await world.editSecret("agent", first);
    await until("the condition", () => world.condition("Ready", "agent") === "True/Ready");
    expect((await world.stored("agent")).versions).toHaveLength(1);
  });

  it("b68: that another owner made first is never touched, and its value never becomes a key", async (context) => {
    const world = await startWorld(context, setup());
    const planted = stranger();
    await world.editSecret("agent", planted);
    await world.declare(key("agent"));
    expect(world.condition("SecretDelivered", "agent")).toBe("False/SecretConflict");
    expect(world.condition("Ready", "agent")).toBe("False/SecretConflict");
    await world.restart();
    expect(await world.readSecret("agent")).toEqual({ "api-key": planted });
    expect(world.decide(planted)).toBe("unauthorized");

    await world.remove(key("agent"));
    expect(await world.readSecret("agent"), "nor is it deleted with the declaration").toEqual({ "api-key": planted });
  });

  it("b68: in the way of another is made once the way is free", async (context) => {
    const world = await startWorld(context, setup());
    await world.editSecret("agent", stranger());
    await world.declare(key("agent"));
    await world.loseSecret("agent");
    const plaintext = await nextKey(world, "agent", "");
    expect(world.decide(plaintext)).toBe("allowed");
    expect(world.condition("Ready", "agent")).toBe("True/Ready");
  });

  it("b68: that a manifest declares is not ours either", async (context) => {
    const secret = { kind: "Secret", name: "agent", stringData: { "api-key": stranger() } } as const;
    const world = await startWorld(context, setup(), secret, key("agent"));
    expect(world.condition("SecretDelivered", "agent")).toBe("False/SecretConflict");
    expect(await world.readSecret("agent")).toBeUndefined();
  });

  it("b68: of another PlatformKey is not taken over: the second of two that name it has a condition", async (context) => {
    const world = await startWorld(context, setup(), key("first", { secret: { name: "shared" } }));
    const plaintext = await world.plaintextOf("shared");
    await world.declare(key("second", { secret: { name: "shared" } }));
    expect(world.condition("SecretDelivered", "second")).toBe("False/SecretConflict");
    await world.remove(key("second"));
    expect(await world.keyIn("shared")).toBe(plaintext);
    expect(world.decide(plaintext)).toBe("allowed");
    expect(world.condition("Ready", "first")).toBe("True/Ready");
  });

  it("whose data key went gets a new version", async (context) => {
    const world = await startWorld(context, setup(), key("agent", { secret: { template: "Env" } }));
    const first = await world.plaintextOf("agent");
    await world.editSecret("agent", "", "api-key");
    const second = await nextKey(world, "agent", "");
    expect(second).not.toBe(first);
    expect((await world.readSecret("agent"))?.KEYPLANE_API_KEY).toBe(second);
  });

  it("that is edited beside its key is put right without a new secret", async (context) => {
    const world = await startWorld(context, setup(), key("agent", { secret: { template: "Env" } }));
    const plaintext = await world.plaintextOf("agent");
    await world.editSecret("agent", "http://elsewhere.example", "KEYPLANE_BASE_URL");
    await until(
      "the right address",
      async () => (await world.readSecret("agent"))?.KEYPLANE_BASE_URL === "https://keys.example.com",
    );
    await world.rest();
    expect(await world.plaintextOf("agent")).toBe(plaintext);
    expect((await world.stored("agent")).versions).toHaveLength(1);
  });

  it("that is immutable is a condition, and the old version stays", async (context) => {
    const world = await startWorld(context, setup(), key("agent"));
    const first = await world.plaintextOf("agent");
    await world.stop();
    world.wrapWith(withImmutableSecrets);
    await world.start();
    await world.declare(key("agent", { rotation: { trigger: "next" } }));
    expect(world.condition("SecretDelivered", "agent")).toBe("False/SecretImmutable");
    expect(await world.plaintextOf("agent")).toBe(first);
    expect(world.decide(first)).toBe("allowed");
    expect((await world.stored("agent")).versions).toHaveLength(1);
  });

  it("that is immutable and holds a key of another team is a condition too, and nothing is minted", async (context) => {
    const home = team("team-b", ["other"]);
    const world = await startWorld(context, setup(), home, key("agent", {}, "other"));
    const first = await world.plaintextOf("agent", "other");
    await world.stop();
    world.wrapWith(withImmutableSecrets);
    await world.start();
    await world.declare(team("team-b", []));
    await world.declare(team("team-c", ["other"]));
    expect(world.condition("Ready", "agent", "PlatformKey", "other")).toBe("False/SecretImmutable");
    expect(await world.plaintextOf("agent", "other")).toBe(first);
    expect(world.decide(first)).toBe("unauthorized");
    expect((await world.storedKeys()).map(({ state }) => state)).toEqual(["revoked"]);
  });

  it("that may not be read is a condition, and holds up no deletion", async (context) => {
    const world = await startWorld(context, setup(), key("agent"), key("other"));
    const plaintext = await world.plaintextOf("agent");
    await world.stop();
    const forbidden = withCalls(({ readSecret }) => ({
      async readSecret(namespace, name) {
        if (name === "agent") throw new ClusterError("Forbidden", "no Role for Secrets here");
        return readSecret(namespace, name);
      },
    }));
    world.wrapWith(forbidden);
    await world.start();
    await world.rest();
    expect(world.condition("SecretDelivered", "agent")).toBe("False/SecretUnreadable");
    await world.remove(key("agent"));
    expect(world.decide(plaintext)).toBe("unauthorized");
  });
});
