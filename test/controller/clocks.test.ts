/** Clocks that are wrong: the controller's own decides nothing, and the database's ends nothing for good when it jumps. */
import { expect, it } from "vitest";
import { change } from "../../store/database/change.ts";
import { requestRotation } from "../../store/keys/keys.ts";
import { until } from "../env/until.ts";
import { describeWorlds, describeWorldsOnEachCluster } from "./fixtures/setup.ts";
import { HOUR, key, startWorld, type World } from "./fixtures/world.ts";

const MINUTE = 60_000;
const overlap = { mode: "Fixed", duration: "30m" };

const states = async (world: World) =>
  (await world.stored("agent")).versions.map(({ number, state }) => `${number} ${state}`);

/** Has the key looked at again, and waits until the plan of that moment has been carried out. */
async function lookAgain(world: World): Promise<void> {
  world.poke("agent");
  await world.rest();
}

describeWorldsOnEachCluster("a controller whose own clock is wrong", (setup) => {
  it.for([-HOUR, HOUR])(
    "c50: by %i ms mints keys that live, and overlap, for as long as they should",
    async (off, context) => {
      const world = await startWorld(context, setup());
      world.setClockOff(off);
      const spec = { expiresAfter: "40m", rotation: { overlap } };
      await world.declare(key("agent", spec));
      const first = await world.plaintextOf("agent");
      expect([world.condition("Ready", "agent"), world.decide(first)]).toEqual(["True/Ready", "allowed"]);
      const [version] = (await world.stored("agent")).versions;
      expect(Math.abs((version?.mintedAt ?? 0) - world.clock.now())).toBeLessThan(MINUTE);

      await world.advance(5 * MINUTE);
      await world.declare(key("agent", { ...spec, rotation: { overlap, trigger: "now" } }));
      const second = await world.plaintextOf("agent");
      expect([world.decide(first), world.decide(second)]).toEqual(["allowed", "allowed"]);

      world.setClockOff(-off);
      await lookAgain(world);
      await world.advance(25 * MINUTE);
      expect(await states(world), "the overlap lasts").toEqual(["2 active", "1 retiring"]);
      expect(world.decide(first)).toBe("allowed");
      await world.advance(6 * MINUTE);
      expect(await states(world)).toEqual(["2 active", "1 retired"]);
      expect([world.decide(first), world.decide(second)]).toEqual(["unauthorized", "allowed"]);
      await world.advance(10 * MINUTE);
      expect([world.condition("Ready", "agent"), world.decide(second)]).toEqual(["False/Expired", "unauthorized"]);
    },
  );

  it.for([-HOUR, HOUR])("c50: by %i ms fulfils a rotation by hand once", async (off, context) => {
    const world = await startWorld(context, setup());
    world.setClockOff(off);
    await world.declare(key("agent"));
    const first = await world.plaintextOf("agent");
    const { id } = await world.stored("agent");
    await change(setup().store, null, (tx) => requestRotation(tx, id, true));
    world.poke("agent");
    await until("a new key", async () => (await world.keyIn("agent")) !== first);
    await world.rest();
    await lookAgain(world);
    expect(await states(world)).toEqual(["2 active", "1 retired"]);
    expect([world.decide(first), world.decide(await world.plaintextOf("agent"))]).toEqual(["unauthorized", "allowed"]);
  });

  it("c50: by a day rotates neither before its interval has passed nor after", async (context) => {
    const world = await startWorld(context, setup());
    world.setClockOff(24 * HOUR);
    await world.declare(key("agent", { rotation: { interval: "10h", overlap } }));
    await lookAgain(world);
    expect(await states(world)).toEqual(["1 active"]);
    world.setClockOff(-24 * HOUR);
    await world.advance(10 * HOUR);
    expect(await states(world)).toEqual(["2 active", "1 retiring"]);
  });
});

describeWorlds("a database whose clock jumps", (setup) => {
  it("c50: an hour ahead retires and rotates nothing until it is steady, and says so", async (context) => {
    const world = await startWorld(context, setup(), key("agent", { rotation: { interval: "2h", overlap } }));
    const first = await world.plaintextOf("agent");
    await world.declare(key("agent", { rotation: { interval: "2h", overlap, trigger: "now" } }));

    world.setDatabaseClockOff(3 * HOUR);
    await lookAgain(world);
    expect(world.lines.filter((line) => line.includes("jumped"))).toHaveLength(1);
    expect(await states(world)).toEqual(["2 active", "1 retiring"]);
    world.setDatabaseClockOff(0);
    await lookAgain(world);
    expect(await states(world)).toEqual(["2 active", "1 retiring"]);
    expect(world.decide(first)).toBe("allowed");

    world.setDatabaseClockOff(3 * HOUR);
    await lookAgain(world);
    await world.advance(9 * MINUTE);
    expect(await states(world)).toEqual(["2 active", "1 retiring"]);
    await world.advance(2 * MINUTE);
    expect(await states(world)).toEqual(["3 active", "2 retiring", "1 retired"]);
  });

  it("c50: has a lost Secret healed all the same", async (context) => {
    const world = await startWorld(context, setup(), key("agent"));
    const first = await world.plaintextOf("agent");
    world.setDatabaseClockOff(3 * HOUR);
    await world.loseSecret("agent");
    const second = await until("a new key", () => world.keyIn("agent"));
    await world.rest();
    expect([world.decide(first), world.decide(second)]).toEqual(["allowed", "allowed"]);
  });
});
