import { expect, it } from "vitest";
import { actOnLeak } from "../../server/leaks/act.ts";
import { revokeByHand, rotateByHand } from "../../server/management/keys/change/changes.ts";
import { change } from "../../store/database/change.ts";
import type { Store } from "../../store/database/store.ts";
import { findSecrets } from "../../store/keys/events/key-leaks.ts";
import { revokeKey } from "../../store/keys/lifecycle/revocation.ts";
import { registerReplica } from "../../store/replicas/replicas.ts";
import { until } from "../env/until.ts";
import { keyring } from "../server/key-index/replica-fixtures.ts";
import { withCalls } from "./fixtures/cluster-calls.ts";
import { describeWorlds, describeWorldsNightlyOnEachEngine } from "./fixtures/setup.ts";
import { key, SOON, startWorld, team, type World, type WorldSetup } from "./fixtures/world.ts";

const MINUTE = 60_000;

/** A person at a server. */
const byHand = (world: World) => ({
  store: world.store,
  keyring,
  author: { actor: "person" },
  principal: { actor: "console", as: "everything" as const },
  rights: "everything" as const,
});

/** Reports the first version of a key as leaked. */
async function reportLeak(world: World, name: string) {
  const { versions } = await world.stored(name);
  const [secret] = await findSecrets(world.store.db, [versions.at(-1)?.digest ?? ""]);
  if (secret === undefined) throw new Error("the key is not found by its digest");
  return actOnLeak(world.store, secret, { reporter: "member", by: { actor: "person" } });
}

const leakEvents = ({ lines }: World) => lines.filter((line) => line.includes("LeakReported: Version 1 (inf_"));
const revoked = (world: World, name: string) =>
  until(`${name} to be revoked by hand`, () => world.condition("Ready", name) === "False/Revoked");
const currentVersion = async (world: World, name: string) => (await world.status(name)).currentVersion;

describeWorldsNightlyOnEachEngine("what is done by hand", (setup) => {
  it("reaches the declaration's status, with the receipt, and nothing is minted until that is deleted and made again", async (context) => {
    const world = await startWorld(context, setup(), key("agent"));
    const plaintext = await world.plaintextOf("agent");
    const seq = await revokeByHand(byHand(world), (await world.stored("agent")).id, "ByHand");
    await revoked(world, "agent");
    expect(world.condition("Stalled", "agent")).toBe("True/Revoked");
    expect((await world.status("agent")).revocation).toEqual({ sequence: seq, confirmedAt: expect.any(String) });
    await world.loseSecret("agent");
    await world.declare(key("agent", { rotation: { trigger: "again" } }));
    expect((await world.stored("agent")).versions.map(({ state }) => state)).toEqual(["revoked"]);
    await world.restart();
    expect([world.decide(plaintext), await world.keyIn("agent")]).toEqual(["unauthorized", undefined]);
    expect(world.condition("Ready", "agent")).toBe("False/Revoked");

    await world.remove(key("agent"));
    await world.declare(key("agent"));
    const fresh = await world.plaintextOf("agent");
    expect(fresh).not.toBe(plaintext);
    expect([world.decide(plaintext), world.decide(fresh)]).toEqual(["unauthorized", "allowed"]);
  });

  it("reports a leak in the declaration's status, and with an event, until no leaked version is left", async (context) => {
    const world = await startWorld(context, setup(), key("agent"));
    const { id } = await world.stored("agent");
    expect((await reportLeak(world, "agent")).outcome).toBe("alerted");
    await until("the condition", () => world.condition("Leaked", "agent") === "True/LeakReported");
    expect(world.condition("Ready", "agent")).toBe("True/Ready");
    await world.advance(MINUTE);
    await until("the event", () => leakEvents(world).length === 1);
    await rotateByHand(byHand(world), id, true);
    await until("it is over", () => world.condition("Leaked", "agent") === undefined);
    expect(leakEvents(world)).toHaveLength(1);
  });

  it.for([
    ["lost", (world: World) => world.loseSecret("agent")],
    ["rotated", (world: World) => world.write(key("agent", { rotation: { trigger: "now" } }))],
  ] as const)(
    "b465: reports a leak with an event while the key's %s Secret cannot be written",
    async ([, change], context) => {
      let fails = false;
      const unlessFailing = <T>(call: () => Promise<T>) =>
        fails ? Promise.reject(new Error("the API server is away")) : call();
      const wrap = withCalls(({ createSecret, replaceSecret }) => ({
        createSecret: (draft) => unlessFailing(() => createSecret(draft)),
        replaceSecret: (read, draft) => unlessFailing(() => replaceSecret(read, draft)),
      }));
      const world = await startWorld(context, { ...setup(), wrap }, key("agent"));
      fails = true;
      await change(world);
      await until("the write has failed", () => world.condition("Reconciling", "agent") === "True/Retrying");
      await reportLeak(world, "agent");
      await until("the condition", () => world.condition("Leaked", "agent") === "True/LeakReported");
      fails = false;
      await until("it is ready", () => world.condition("Ready", "agent") === "True/Ready");
      expect(leakEvents(world)).toHaveLength(1);
    },
  );

  it("ends a declared key that leaked, where its team says so", async (context) => {
    const leaks = { leaks: { action: "Revoke" } };
    const world = await startWorld(context, setup(), team("team-a", ["dev"], leaks), key("agent"));
    await reportLeak(world, "agent");
    await revoked(world, "agent");
    expect(world.condition("Leaked", "agent")).toBeUndefined();
  });

  it("rotates a key once", async (context) => {
    const world = await startWorld(context, setup(), key("agent"));
    const first = await world.plaintextOf("agent");
    await rotateByHand(byHand(world), (await world.stored("agent")).id, false);
    await until("the second version", async () => (await currentVersion(world, "agent")) === 2);
    await world.advance(MINUTE);
    const { versions, rotationRequest } = await world.stored("agent");
    expect([versions.length, rotationRequest]).toEqual([2, null]);
    expect([world.decide(first), world.decide(await world.plaintextOf("agent"))]).toEqual(["allowed", "allowed"]);
  });
});

describeWorlds("what is done by hand", (setup) => {
  it("c56: a rotation with no room left is refused with the time of the next, unless it ends the old ones", async (context) => {
    const world = await startWorld(context, setup(), key("agent"));
    const first = await world.plaintextOf("agent");
    const { id } = await world.stored("agent");
    for (let version = 2; version <= 5; version++) {
      await rotateByHand(byHand(world), id, false);
      await until("the next version", async () => (await currentVersion(world, "agent")) === version);
    }
    const { versions } = await world.stored("agent");
    const retiresAt = new Date(versions.at(-1)?.retireAt ?? 0).toISOString();
    await expect(rotateByHand(byHand(world), id, false)).rejects.toMatchObject({
      code: "too_many_versions",
      members: { retiresAt },
      detail: expect.stringContaining("--revoke-old"),
    });
    expect((await world.stored("agent")).versions).toEqual(versions);
    await rotateByHand(byHand(world), id, true);
    await until("the next version", async () => (await currentVersion(world, "agent")) === 6);
    world.poke("agent");
    await world.rest();
    const after = await world.stored("agent");
    expect(after.versions.map(({ state }) => state)).toEqual(["active", ...Array(4).fill("retired")]);
    expect(after.rotationRequest).toBeNull();
    expect([world.decide(first), world.decide(await world.plaintextOf("agent"))]).toEqual(["unauthorized", "allowed"]);
  });

  it("c51: a rotation that was asked for when there was room waits where there is none any more", async (context) => {
    const world = await startWorld(context, setup(), key("agent"));
    const declare = (trigger: string) => world.declare(key("agent", { rotation: { trigger } }));
    for (const trigger of ["a", "b", "c"]) await declare(trigger);
    const { id } = await world.stored("agent");
    await world.stop();
    await rotateByHand(byHand(world), id, false);
    // Of the two that are wanted each is fulfilled by the one that comes.
    await world.write(key("agent", { rotation: { trigger: "d" } }));
    await world.start();
    await world.rest();
    expect(await currentVersion(world, "agent")).toBe(5);
    expect((await world.stored("agent")).rotationRequest).toBeNull();
  });

  it("is not forgotten while no controller runs", async (context) => {
    const world = await startWorld(context, setup(), key("gone"), key("turned"));
    const [gone, turned] = [await world.stored("gone"), await world.stored("turned")];
    await world.stop();
    await revokeByHand(byHand(world), gone.id, "ByHand");
    await rotateByHand(byHand(world), turned.id, false);
    await world.start();
    await revoked(world, "gone");
    await until("the second version", async () => (await currentVersion(world, "turned")) === 2);
  });

  it("is found without a notification, and its number recorded where the server crashed before it", async (context) => {
    const deaf = (store: Store): Store => ({
      ...store,
      listen: async () => ({ ping: async () => {}, close: async () => {} }),
    });
    const wrap: WorldSetup["wrap"] = (cluster, store) => ({ cluster, store: deaf(store) });
    const world = await startWorld(context, { ...setup(), ...SOON, wrap }, key("agent"));
    const { id } = await world.stored("agent");
    const { seq } = await change(world.store, null, (tx) => revokeKey(tx, id, "ByHand", { actor: "person" }));
    await revoked(world, "agent");
    expect((await world.status("agent")).revocation?.sequence).toBe(seq);
    expect((await world.stored("agent")).revocation?.seq).toBe(seq);
  });

  it("is called confirmed by the status once a replica that is slow has it, or can no longer serve", async (context) => {
    const world = await startWorld(context, setup(), key("agent"));
    const { id } = await world.stored("agent");
    await registerReplica(world.store, `slow-${id}`);
    const at = Date.now();
    await revokeByHand(byHand(world), id, "ByHand");
    await revoked(world, "agent");
    const { confirmedAt = "" } = (await world.status("agent")).revocation ?? {};
    // A lease and a second; the status has whole seconds.
    expect(Date.parse(confirmedAt)).toBeGreaterThanOrEqual(at + 5_000);
  });
});
