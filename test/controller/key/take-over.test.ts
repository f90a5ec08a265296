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
  it("b90: of a key that is declared, or by a hash that is not the key's, is refused, and makes no key at all", async (context) => {
    const world = await startWorld(context, setup(), key("declared"));
    const [made, hashed] = [await makeByHand(world), await makeByHand(world)];
    await world.declare(takingOver("agent", made));
    const declared = { id: (await world.stored("declared")).id, plaintext: await world.plaintextOf("declared") };
    const other = `inf_${"q".repeat(50)}`;
    const annotations = { "keyplane.dev/take-over": hashed.id };
    await world.declare(
      takingOver("second", made),
      takingOver("guess", { ...hashed, plaintext: other }),
      takingOver("thief", declared),
      { ...key("minted"), annotations },
    );
    for (const name of ["second", "guess", "thief", "minted"]) {
      expect(world.condition("Ready", name), name).toBe("False/TakeOverRefused");
    }
    expect(world.condition("Stalled", "guess")).toBe("True/TakeOverRefused");
    expect([world.decide(other), world.decide(hashed.plaintext)]).toEqual(["unauthorized", "allowed"]);
    expect(await world.readSecret("minted")).toBeUndefined();

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
});
