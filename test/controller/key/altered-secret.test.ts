/** A Secret that something else changes as it is written. */
import { expect, it } from "vitest";
import type { SecretDraft } from "../../../controller/cluster/port.ts";
import { until } from "../../env/until.ts";
import { withCalls } from "../fixtures/cluster-calls.ts";
import { describeWorlds } from "../fixtures/setup.ts";
import { key, startWorld, type World } from "../fixtures/world.ts";

/** Changes what is written, as a mutating webhook does, while it is at work. */
function mutator(change: (draft: SecretDraft) => SecretDraft) {
  let isAtWork = true;
  let writes = 0;
  const changed = (draft: SecretDraft) => {
    writes++;
    return isAtWork ? change(draft) : draft;
  };
  return {
    wrap: withCalls(({ createSecret, replaceSecret }) => ({
      createSecret: (draft) => createSecret(changed(draft)),
      replaceSecret: (read, draft) => replaceSecret(read, changed(draft)),
    })),
    writes: () => writes,
    begin() {
      isAtWork = true;
    },
    end() {
      isAtWork = false;
    },
  };
}

const stripped = (draft: SecretDraft): SecretDraft => ({ ...draft, owner: null, labels: {}, annotations: {} });
const rewritten = (draft: SecretDraft): SecretDraft => ({ ...draft, data: { ...draft.data, "api-key": "sealed" } });

const ready = async (world: World) => (await world.status("agent")).conditions.find(({ type }) => type === "Ready");
const warnings = (world: World) => world.lines.filter((line) => line.includes("SecretAltered"));

describeWorlds("a Secret that something else changes as it is written", (setup) => {
  it("c69: without its owner and marks: the key is used, Ready names the fields, and it is written once a minute", async (context) => {
    const mutating = mutator(stripped);
    const world = await startWorld(context, { ...setup(), wrap: mutating.wrap }, key("agent"));
    const plaintext = await world.plaintextOf("agent");
    expect(world.decide(plaintext)).toBe("allowed");
    const said = await ready(world);
    expect(said).toMatchObject({ status: "True", reason: "SecretAltered" });
    expect(said?.message).toContain(
      "as it is written: metadata.labels[keyplane.dev/key], metadata.annotations[keyplane.dev/key-id], metadata.annotations[keyplane.dev/key-version], metadata.ownerReferences. It is written again once a minute.",
    );
    expect([mutating.writes(), warnings(world).length]).toEqual([1, 1]);
    for (const look of [1, 2, 3]) {
      world.poke("agent");
      await world.rest();
      expect(mutating.writes(), `at look ${look}`).toBe(1);
    }
    await world.advance(60_000);
    expect([mutating.writes(), warnings(world).length]).toEqual([2, 1]);
    expect(await ready(world)).toEqual(said);

    mutating.end();
    await world.advance(60_000);
    expect(mutating.writes()).toBe(3);
    expect(world.condition("Ready", "agent")).toBe("True/Ready");
    expect(await world.plaintextOf("agent")).toBe(plaintext);
    expect((await world.stored("agent")).versions).toHaveLength(1);
  });

  it("c69: without its owner and marks: another template is written at once, and it goes with the key, also by a process that did not write it", async (context) => {
    const mutating = mutator(stripped);
    const world = await startWorld(context, { ...setup(), wrap: mutating.wrap }, key("agent"), key("other"));
    await world.declare(key("agent", { secret: { template: "Env" } }));
    expect(mutating.writes()).toBe(3);
    expect((await world.readSecret("agent"))?.KEYPLANE_API_KEY).toBe(await world.plaintextOf("agent"));
    await world.remove(key("other"));
    expect(await world.readSecret("other")).toBeUndefined();
    await world.restart();
    await world.remove(key("agent"));
    expect(await world.readSecret("agent")).toBeUndefined();
  });

  it("c69: with another value of its key: the same version is written once a minute, until it arrives", async (context) => {
    const mutating = mutator(rewritten);
    const world = await startWorld(context, { ...setup(), wrap: mutating.wrap }, key("agent"));
    const said = await ready(world);
    expect(said).toMatchObject({ status: "False", reason: "SecretAltered" });
    expect(said?.message).toContain("Version 1 is not in the Secret.");
    expect(said?.message).toContain("as it is written: data[api-key]. It is written again once a minute.");
    expect(JSON.stringify([await world.status("agent"), world.lines])).not.toContain("sealed");
    expect(world.condition("SecretDelivered", "agent")).toBe("False/SecretAltered");
    await world.advance(60_000);
    world.poke("agent");
    await world.rest();
    expect([mutating.writes(), warnings(world).length]).toEqual([2, 1]);

    mutating.end();
    await world.advance(60_000);
    expect(world.condition("Ready", "agent")).toBe("True/Ready");
    expect(world.decide(await world.plaintextOf("agent"))).toBe("allowed");
    expect((await world.stored("agent")).versions).toHaveLength(1);
  });

  it("c69: with another value, under one controller after the other: what never stood in it takes no old version's place", async (context) => {
    const mutating = mutator(rewritten);
    const rotation = { overlap: { mode: "Fixed", duration: "24h" } };
    mutating.end();
    const world = await startWorld(context, { ...setup(), wrap: mutating.wrap }, key("agent", { rotation }));
    const first = await world.plaintextOf("agent");
    mutating.begin();
    await world.declare(key("agent", { rotation: { ...rotation, trigger: "next" } }));
    for (let controllers = 0; controllers < 6; controllers++) {
      expect(world.condition("Ready", "agent")).toBe("False/SecretAltered");
      await world.stop();
      await world.advance(60_000);
      await world.start();
      await world.rest();
    }
    mutating.end();
    await world.advance(60_000);
    expect(world.condition("Ready", "agent")).toBe("True/Ready");
    expect([world.decide(first), world.decide(await world.plaintextOf("agent"))]).toEqual(["allowed", "allowed"]);
    const living = (await world.stored("agent")).versions.map(({ state }) => state);
    expect(living.filter((state) => state === "active" || state === "retiring")).toEqual(["active", "retiring"]);
  });

  it("c69: in another data key: what may be read there ends by its overlap", async (context) => {
    const moved = (draft: SecretDraft): SecretDraft => ({
      ...draft,
      data: { password: `key: ${draft.data["api-key"]}` },
    });
    const mutating = mutator(moved);
    const world = await startWorld(context, { ...setup(), wrap: mutating.wrap }, key("agent"));
    const password = (await world.readSecret("agent"))?.password?.slice("key: ".length) ?? "";
    expect(world.decide(password)).toBe("allowed");
    mutating.end();
    await world.restart();
    expect(world.condition("Ready", "agent")).toBe("True/Ready");
    const next = await world.plaintextOf("agent");
    expect([next === password, world.decide(password), world.decide(next)]).toEqual([false, "allowed", "allowed"]);
  });

  it("c69: with another value and without its owner: the Secret that was written a moment ago is written again, and goes with the key", async (context) => {
    const mutating = mutator((draft) => stripped(rewritten(draft)));
    const world = await startWorld(context, { ...setup(), wrap: mutating.wrap }, key("agent"));
    expect(world.condition("Ready", "agent")).toBe("False/SecretAltered");
    await world.advance(60_000);
    expect(mutating.writes()).toBe(2);
    await world.remove(key("agent"));
    expect(await world.readSecret("agent")).toBeUndefined();
  });

  it("c69: in a data key beside its key: the key is used, and Ready is False, since workloads may read that", async (context) => {
    const mutating = mutator(({ data: { KEYPLANE_BASE_URL: _, ...data }, ...draft }) => ({
      ...draft,
      data: { ...data, "added.crt": "theirs" },
    }));
    const spec = { secret: { template: "Env" } };
    const world = await startWorld(context, { ...setup(), wrap: mutating.wrap }, key("agent", spec));
    expect(world.decide(await world.plaintextOf("agent"))).toBe("allowed");
    const said = await ready(world);
    expect(said).toMatchObject({ status: "False", reason: "SecretAltered" });
    expect(said?.message).toContain("as it is written: data[KEYPLANE_BASE_URL], data.");
    expect(said?.message).not.toContain("added.crt");
    expect(mutating.writes()).toBe(1);
  });

  it("c69: and that is changed once more later: what is said is of the Secret as it is", async (context) => {
    const mutating = mutator((draft) => ({ ...draft, labels: {} }));
    const world = await startWorld(context, { ...setup(), wrap: mutating.wrap });
    await world.declare(key("agent", { secret: { template: "Env" } }));
    expect(world.condition("Ready", "agent")).toBe("True/SecretAltered");
    await world.editSecret("agent", "http://elsewhere.example", "KEYPLANE_BASE_URL");
    world.poke("agent");
    await until("it is said", () => world.condition("Ready", "agent") === "False/SecretAltered");
    expect((await ready(world))?.message).toContain(
      "written: data[KEYPLANE_BASE_URL], metadata.labels[keyplane.dev/key].",
    );
    await world.advance(60_000);
    expect(world.condition("Ready", "agent")).toBe("True/SecretAltered");
    expect((await world.readSecret("agent"))?.KEYPLANE_BASE_URL).toBe("https://keys.example.com");
  });
});
