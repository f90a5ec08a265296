import { expect, it } from "vitest";
import { examples } from "../../env/nightly.ts";
import { until } from "../../env/until.ts";
import { describeWorlds } from "../fixtures/setup.ts";
import { startWorld, team } from "../fixtures/world.ts";
import {
  failing,
  gated,
  holdUp,
  older,
  open,
  untilHeld,
  untilRefused,
  withTwoClaims,
  writeBoth,
  younger,
} from "./namespace-claims.ts";

describeWorlds("a namespace that no team holds and two teams claim", (setup) => {
  withTwoClaims(setup);

  it("is the first team's by name where both are declared at once", async (context) => {
    const world = await startWorld(context, setup());
    for (let round = 0; round < examples(3); round++) {
      const shared = `shared-${round}`;
      const [first, last] = [`ant-${round}`, `zebra-${round}`];
      await world.stop();
      await world.write(team(last, [shared]), team(first, [shared]));
      await world.start();
      await untilHeld(world, first);
      expect(world.get("PlatformTeam", last)?.status?.namespaces ?? []).toEqual([]);
    }
  });

  it("stays with the younger team that holds it", async (context) => {
    const world = await startWorld(context, setup(), younger());
    await world.declare(older());
    await world.declare(younger("other"));
    await world.declare(older("other"));
    await world.restart();
    expect(world.condition("Accepted", "ant", "PlatformTeam")).toBe("True/Claimed");
    expect(world.condition("Accepted", "zebra", "PlatformTeam")).toBe("False/NamespaceTaken");
  });

  it("is the younger team's once the older one claims it no more, though that never held it", async (context) => {
    const { setup: gatedSetup, gate } = gated(setup);
    const world = await startWorld(context, gatedSetup);
    holdUp(context, gate);
    await writeBoth(world);
    await untilRefused(world, "goes to PlatformTeam zebra");
    await world.write(older());
    await untilHeld(world, "ant");
  });

  it("is the younger team's while the older one is being deleted", async (context) => {
    const { setup: gatedSetup, gate } = gated(setup);
    const world = await startWorld(context, gatedSetup);
    holdUp(context, gate);
    await writeBoth(world);
    await untilRefused(world, "goes to PlatformTeam zebra");
    await until("it has a finalizer", () => world.get("PlatformTeam", "zebra")?.finalizers.length === 1);
    await world.undeclare(older());
    expect(world.get("PlatformTeam", "zebra")?.deleting).toBe(true);
    await untilHeld(world, "ant");
  });

  it("is the younger team's where the older one cannot be stored, and stays with it", async (context) => {
    const { setup: gatedSetup, gate } = gated(setup);
    const world = await startWorld(context, gatedSetup);
    gate.pass = failing;
    await writeBoth(world);
    await untilHeld(world, "ant");
    gate.pass = open;
    await until("the older team is stored", () => world.get("PlatformTeam", "zebra")?.status !== undefined);
    await world.restart();
    expect(world.condition("Accepted", "ant", "PlatformTeam")).toBe("True/Claimed");
    expect(world.condition("Accepted", "zebra", "PlatformTeam")).toBe("False/NamespaceTaken");
  });

  it("is the younger team's where a later declaration of the older one than is seen was applied", async (context) => {
    const { store, ...rest } = setup();
    const world = await startWorld(context, { store, ...rest }, older(), team("holder", ["other"]));
    const { uid } = world.get("PlatformTeam", "zebra") ?? expect.fail("the older team is there");
    await store.db.updateTable("teams").set({ generation: 99 }).where("owner_uid", "=", uid).execute();
    await world.declare(older("other"), younger("other"));
    expect(world.condition("Accepted", "zebra", "PlatformTeam")).toBe("False/Outdated");
    await world.declare(team("holder", []));
    await untilHeld(world, "ant");
  });
});
