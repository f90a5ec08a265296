import { expect, it } from "vitest";
import { change } from "../../../store/database/change.ts";
import { revokeKey } from "../../../store/keys/lifecycle/revocation.ts";
import { findKey } from "../../../store/keys/rows/find-key.ts";
import { auditOfKey } from "../../store/questions.ts";
import { makeByHand, takingOver } from "../fixtures/made-by-hand.ts";
import { describeWorlds, describeWorldsNightlyOnEachEngine } from "../fixtures/setup.ts";
import { key, startWorld, team, type World } from "../fixtures/world.ts";
import { takeOvers } from "./take-over.ts";

describeWorldsNightlyOnEachEngine("a key that a declaration takes over", takeOvers);

const readyOf = async (world: World, name: string) =>
  (await world.status(name)).conditions.find(({ type }) => type === "Ready")?.message;

describeWorlds("a take-over", (setup) => {
  it("b90: of one key by two declarations is the first one's", async (context) => {
    const world = await startWorld(context, setup());
    const made = await makeByHand(world);
    await world.declare(takingOver("agent", made));
    await world.declare(takingOver("second", made));
    expect(await readyOf(world, "second")).toMatch(/is declared already, as PlatformKey dev.*\/agent\. .*Delete this/);
    expect((await world.stored("agent")).id).toBe(made.id);
    expect(world.decide(made.plaintext)).toBe("allowed");
    await world.remove(takingOver("second", made));
    expect(world.decide(made.plaintext), "it was never the second one's").toBe("allowed");
  });

  it("b90: of another team's key is refused in the words for a key that there is not, whatever is known of it", async (context) => {
    const world = await startWorld(context, setup(), team("team-b", ["theirs"]));
    const victim = await makeByHand(world, { team: "team-b" });
    const revoked = await makeByHand(world, { team: "team-b" });
    await change(world.store, null, (tx) => revokeKey(tx, revoked.id, "ByHand"));
    const nowhere = { id: "key_aaaaaaaaaaaaaaaaaaaa", plaintext: victim.plaintext };
    const said = new Set<string | undefined>();
    for (const [i, one] of [victim, revoked, nowhere].entries()) {
      await world.declare(takingOver(`probe-${i}`, one));
      said.add((await readyOf(world, `probe-${i}`))?.replace(one.id, "(id)"));
    }
    expect([...said]).toEqual([expect.stringMatching(/^The team of this namespace has no key \(id\)\./)]);
    expect(world.decide(victim.plaintext)).toBe("allowed");
    expect(await findKey(world.store.db, victim.id)).toMatchObject({ cluster: "api", ownerUid: null });
    expect(await auditOfKey(world.store.db, victim.id)).toHaveLength(2);
  });

  it("b90: in another cluster of the same name and team name is of no team that has the key", async (context) => {
    const [world, other] = [await startWorld(context, setup()), await startWorld(context, setup())];
    const made = await makeByHand(world);
    await other.declare(takingOver("agent", made));
    expect(await readyOf(other, "agent")).toMatch(/^The team of this namespace has no key key_/);
    await world.declare(takingOver("agent", made));
    expect((await world.stored("agent")).id).toBe(made.id);
    await other.restart();
    expect(other.condition("Ready", "agent")).toBe("False/TakeOverRefused");
  });

  it("b90: by a hash that is not the key's, or of a key that is declared, makes no key at all", async (context) => {
    const world = await startWorld(context, setup(), key("declared"));
    const made = await makeByHand(world);
    const other = `inf_${"q".repeat(50)}`;
    await world.declare(takingOver("agent", { ...made, plaintext: other }));
    expect(world.condition("Ready", "agent")).toBe("False/TakeOverRefused");
    expect(world.condition("Stalled", "agent")).toBe("True/TakeOverRefused");
    expect([world.decide(other), world.decide(made.plaintext)]).toEqual(["unauthorized", "allowed"]);

    const declared = { id: (await world.stored("declared")).id, plaintext: await world.plaintextOf("declared") };
    await world.declare(takingOver("thief", declared));
    expect(world.condition("Ready", "thief")).toBe("False/TakeOverRefused");
    const annotations = { "keyplane.dev/take-over": made.id };
    await world.declare({ ...key("minted"), annotations });
    expect(world.condition("Ready", "minted")).toBe("False/TakeOverRefused");
    expect(await world.readSecret("minted")).toBeUndefined();
  });
});
