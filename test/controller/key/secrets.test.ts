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

const ENV = { secret: { template: "Env" } };

describeWorlds("the Secret of a key", (setup) => {
  it("b69: that was deleted, edited, or holds an old version gets a new one, and no edited value becomes a key", async (context) => {
    const names = ["deleted", "edited", "put-back", "keyless"] as const;
    const manifests = names.map((name) => key(name, name === "keyless" ? ENV : {}));
    const world = await startWorld(context, setup(), ...manifests, key("beside", ENV));
    const plaintexts = () => Promise.all(names.map((name) => world.plaintextOf(name)));
    const [deleted = "", edited = "", old = "", keyless = ""] = await plaintexts();
    const beside = await world.plaintextOf("beside");
    await world.declare(key("put-back", { rotation: { trigger: "next" } }));
    const replaced = await world.plaintextOf("put-back");
    const planted = stranger();

    await world.loseSecret("deleted");
    await world.editSecret("edited", planted);
    await world.editSecret("put-back", old);
    await world.editSecret("keyless", "", "api-key");
    await world.editSecret("beside", "http://elsewhere.example", "KEYPLANE_BASE_URL");

    const ofDeleted = await nextKey(world, "deleted", deleted);
    expect([world.decide(deleted), world.decide(ofDeleted)]).toEqual(["allowed", "allowed"]);
    expect((await world.stored("deleted")).versions.map(({ state }) => state)).toEqual(["active", "retiring"]);

    const ofEdited = await nextKey(world, "edited", planted);
    expect([edited, planted, ofEdited].map((each) => world.decide(each))).toEqual([
      "allowed",
      "unauthorized",
      "allowed",
    ]);
    expect((await world.stored("edited")).versions).toHaveLength(2);

    const third = await nextKey(world, "put-back", old);
    expect(third).not.toBe(replaced);
    expect(world.decide(third)).toBe("allowed");

    const ofKeyless = await nextKey(world, "keyless", "");
    expect(ofKeyless).not.toBe(keyless);
    expect((await world.readSecret("keyless"))?.KEYPLANE_API_KEY).toBe(ofKeyless);

    const addressBeside = async () => (await world.readSecret("beside"))?.KEYPLANE_BASE_URL;
    await until("the right address", async () => (await addressBeside()) === "https://keys.example.com");
    await world.rest();
    expect(await world.plaintextOf("beside"), "what is edited beside a key needs no new one").toBe(beside);
    expect((await world.stored("beside")).versions).toHaveLength(1);
  });

  it("with Report is left as it was lost or edited, and never silently Ready; without, one lost meanwhile comes back", async (context) => {
    const spec = { secret: { onLost: "Report", onTampered: "Report" } };
    const world = await startWorld(context, setup(), key("lost", spec), key("edited", spec), key("healed"));
    const [lost, edited] = [await world.plaintextOf("lost"), await world.plaintextOf("edited")];
    const healed = await world.plaintextOf("healed");
    const planted = stranger();
    await world.loseSecret("lost");
    await world.editSecret("edited", planted);
    await until("it is missed", () => world.condition("SecretDelivered", "lost") === "False/SecretLost");
    await until("it is noticed", () => world.condition("Ready", "edited") === "False/SecretTampered");
    await world.stop();
    await world.loseSecret("healed");
    await world.start();
    await world.rest();
    expect(world.condition("Ready", "lost")).toBe("False/SecretLost");
    expect(world.condition("Ready", "edited")).toBe("False/SecretTampered");
    expect([await world.keyIn("lost"), await world.keyIn("edited")]).toEqual([undefined, planted]);
    expect([lost, edited, planted].map((each) => world.decide(each))).toEqual(["allowed", "allowed", "unauthorized"]);
    const next = await world.plaintextOf("healed");
    expect(next).not.toBe(healed);
    expect(world.decide(next)).toBe("allowed");

    await world.editSecret("edited", edited);
    await until("the condition", () => world.condition("Ready", "edited") === "True/Ready");
    expect((await world.stored("edited")).versions).toHaveLength(1);
    await world.declare(key("lost", { ...spec, rotation: { trigger: "again" } }));
    expect(world.decide(await world.plaintextOf("lost"))).toBe("allowed");
    expect(world.condition("Ready", "lost")).toBe("True/Ready");
  });

  it("b68: of another owner, of a manifest or of another PlatformKey is never touched, and one's own is made once the way is free", async (context) => {
    const secret = { kind: "Secret", name: "declared", stringData: { "api-key": stranger() } } as const;
    const world = await startWorld(context, setup(), secret, key("first", { secret: { name: "shared" } }));
    const plaintext = await world.plaintextOf("shared");
    const planted = stranger();
    await world.editSecret("planted", planted);
    await world.editSecret("blocked", stranger());
    const [second, ...others] = [
      key("second", { secret: { name: "shared" } }),
      ...["planted", "blocked", "declared"].map((name) => key(name)),
    ] as const;
    await world.declare(second, ...others);
    for (const { name } of [second, ...others]) {
      expect(world.condition("SecretDelivered", name), name).toBe("False/SecretConflict");
      expect(world.condition("Ready", name), name).toBe("False/SecretConflict");
    }
    await world.restart();
    expect(await world.readSecret("planted")).toEqual({ "api-key": planted });
    expect(world.decide(planted)).toBe("unauthorized");
    expect(await world.readSecret("declared")).toBeUndefined();

    await world.remove(key("planted"), second);
    expect(await world.readSecret("planted"), "nor is it deleted with the declaration").toEqual({ "api-key": planted });
    expect(await world.keyIn("shared")).toBe(plaintext);
    expect(world.decide(plaintext)).toBe("allowed");
    expect(world.condition("Ready", "first")).toBe("True/Ready");

    await world.loseSecret("blocked");
    expect(world.decide(await nextKey(world, "blocked", ""))).toBe("allowed");
    expect(world.condition("Ready", "blocked")).toBe("True/Ready");
  });

  it("that is immutable or may not be read is a condition, nothing is minted, and no deletion is held up", async (context) => {
    const world = await startWorld(
      context,
      setup(),
      team("team-b", ["other"]),
      key("agent"),
      key("moved", {}, "other"),
      key("hidden"),
    );
    const first = await world.plaintextOf("agent");
    const moved = await world.plaintextOf("moved", "other");
    const hidden = await world.plaintextOf("hidden");
    await world.stop();
    world.wrapWith(
      withCalls(({ readSecret }) => ({
        async readSecret(namespace, name) {
          if (name === "hidden") throw new ClusterError("Forbidden", "no Role for Secrets here");
          const secret = await readSecret(namespace, name);
          // As a person makes them by hand.
          return secret && { ...secret, immutable: true };
        },
      })),
    );
    await world.start();
    await world.declare(key("agent", { rotation: { trigger: "next" } }));
    expect(world.condition("SecretDelivered", "agent")).toBe("False/SecretImmutable");
    expect(await world.plaintextOf("agent")).toBe(first);
    expect(world.decide(first)).toBe("allowed");
    expect((await world.stored("agent")).versions).toHaveLength(1);

    await world.declare(team("team-b", []));
    await world.declare(team("team-c", ["other"]));
    expect(world.condition("Ready", "moved", "PlatformKey", "other")).toBe("False/SecretImmutable");
    expect(await world.plaintextOf("moved", "other")).toBe(moved);
    expect(world.decide(moved)).toBe("unauthorized");
    const ofMoved = (await world.storedKeys()).filter(({ name }) => name === "moved");
    expect(ofMoved.map(({ state }) => state)).toEqual(["revoked"]);

    expect(world.condition("SecretDelivered", "hidden")).toBe("False/SecretUnreadable");
    await world.remove(key("hidden"));
    expect(world.decide(hidden)).toBe("unauthorized");
  });
});
