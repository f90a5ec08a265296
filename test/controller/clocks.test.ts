/** Clocks that are wrong: the controller's own decides nothing, and the database's ends nothing for good when it jumps. */
import { expect, it } from "vitest";
import { until } from "../env/until.ts";
import { describeWorlds } from "./fixtures/setup.ts";
import { HOUR, key, startWorld } from "./fixtures/world.ts";
import { lookAgain, MINUTE, overlap, states, withWrongClock } from "./own-clock.ts";

describeWorlds("a controller whose own clock is wrong", withWrongClock);

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
